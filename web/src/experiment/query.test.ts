import { expect, test } from "vitest";
import { largeExperiment } from "../../tests/large-experiment";
import type { Cell, Comparison, Row } from "../api/types";
import { chosen, choices, isFiltered, matrixQuery, NO_FILTER, outcomeCounts } from "./query";

const [comparison] = largeExperiment(300).comparisons as [Comparison];

function asked(address: string) {
  return chosen(comparison, matrixQuery(new URLSearchParams(address)));
}

function cell(row: Row, arm: string): Cell {
  const id = comparison.arms.find((a) => a.name === arm)?.id;
  const found = row.cells.find((c) => c.arm_id === id);
  if (found === undefined) throw new Error(`${row.case} has no ${arm}`);
  return found;
}

/** Of the arms that were measured, how much worse each is, in percent. */
function badness(row: Row): number[] {
  const effects = row.cells.flatMap((c) =>
    c.state === "measured" && typeof c.effect_percent === "number" ? [c.effect_percent] : [],
  );
  return effects.map((effect) => (row.direction === "lower" ? effect : -effect));
}

test("without a filter every row stands as planned", () => {
  expect(asked("")).toEqual(comparison.rows);
});

test("each word of the text must be in the case, workload, host or metric", () => {
  const rows = asked("case=UDP+granite+fio");
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) {
    expect(row.case).toContain("udp");
    expect([row.workload, row.host]).toEqual(["fio", "granite-rapids-1"]);
  }
  expect(asked("case=udp").length).toBeGreaterThan(rows.length);
  expect(asked("case=no+such+case")).toEqual([]);
});

test("a workload and a host are exact, a wrong one shows nothing", () => {
  const rows = asked("workload=iperf&host=cascade-lake-1");
  expect(new Set(rows.map((row) => `${row.workload} ${row.host}`))).toEqual(
    new Set(["iperf cascade-lake-1"]),
  );
  expect(asked("host=cascade")).toEqual([]);
});

test("verdicts are those of any arm, or of the chosen one", () => {
  const either = asked("verdict=worse,better");
  const differs = (row: Row) =>
    row.cells.some((c) => c.verdict === "worse" || c.verdict === "better");
  expect(either).toEqual(comparison.rows.filter(differs));
  const ibpb = asked("verdict=worse&arm=ibpb");
  expect(ibpb).toEqual(comparison.rows.filter((row) => cell(row, "ibpb").verdict === "worse"));
  expect(ibpb.length).toBeLessThan(either.length);
  expect(asked("verdict=worse&arm=elsewhere")).toEqual([]);
});

test("an arm without a verdict is found by what it says instead", () => {
  expect(asked("verdict=not_effective")).toEqual(comparison.rows);
  expect(asked("verdict=not_effective&arm=ibpb")).toEqual([]);
  for (const row of asked("verdict=no_data"))
    expect(row.cells.map((c) => c.state)).toContain("no_data");
});

test("worst and best first go by the direction of each metric", () => {
  const worst = asked("sort=worst").map((row) => Math.max(...badness(row)));
  expect(worst).toEqual(worst.toSorted((x, y) => y - x));
  const best = asked("sort=best").map((row) => Math.min(...badness(row)));
  expect(best).toEqual(best.toSorted((x, y) => x - y));
  expect(
    new Set(
      asked("sort=worst")
        .slice(0, 30)
        .map((row) => row.direction),
    ).size,
  ).toBe(2);
});

test("the largest effect first, in any direction, of the chosen arm alone", () => {
  const sizes = asked("sort=effect&arm=force").map((row) => {
    const { effect_percent: effect } = cell(row, "force");
    return typeof effect === "number" ? Math.abs(effect) : -1;
  });
  expect(sizes).toEqual(sizes.toSorted((x, y) => y - x));
});

test("rows without an effect come last and as planned", () => {
  const rows = asked("sort=best&arm=bhb-clear");
  expect(rows).toEqual(comparison.rows);
});

test("verdicts are counted among the rows that fit everything else", () => {
  const query = matrixQuery(new URLSearchParams("host=cascade-lake-1&verdict=worse"));
  const counts = outcomeCounts([comparison], query);
  expect(counts.get("worse")).toBe(chosen(comparison, query).length);
  expect(counts.get("not_effective")).toBe(
    comparison.rows.filter((row) => row.host === "cascade-lake-1").length,
  );
});

test("what an address holds wrongly is ignored", () => {
  const query = matrixQuery(new URLSearchParams("verdict=worst,same&sort=upwards&metrics=some"));
  expect(query).toMatchObject({ outcomes: ["same"], sort: "plan", all: false });
});

test("the way out of a filter leaves nothing filtered", () => {
  const address = new URLSearchParams("case=x&verdict=same&workload=a&host=b&arm=c&sort=best");
  expect(isFiltered(matrixQuery(address))).toBe(true);
  for (const name of Object.keys(NO_FILTER)) address.delete(name);
  expect(isFiltered(matrixQuery(address))).toBe(false);
  expect(address.toString()).toBe("sort=best");
});

test("there is a choice of what the rows have, and of arms beside the baseline", () => {
  expect(choices([comparison])).toEqual({
    workloads: ["iperf", "fio", "syscall", "hackbench", "exits"],
    hosts: ["cascade-lake-1", "granite-rapids-1"],
    arms: ["ibpb", "force", "bhb-clear"],
    secondary: false,
  });
});
