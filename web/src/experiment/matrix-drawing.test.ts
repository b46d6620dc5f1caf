import { expect, test } from "vitest";
import type { Arm, Cell, Row } from "../api/types";
import { itemsOf } from "./items";
import { matrixTable } from "./matrix-drawing";

const arms = [
  { id: 1, name: "off", title: "nothing", is_baseline: true },
  { id: 2, name: "loop", title: "a loop", is_baseline: false },
  { id: 3, name: "gone", title: "", is_baseline: false },
] as Arm[];

const blank = {
  ...{ n: 4, blocks: 4, mean: null, effect_percent: null, ci_low_percent: null },
  ...{ ci_high_percent: null, verdict: null, bound: "exact", note: "" },
} as unknown as Cell;
const cells: Cell[] = [
  { ...blank, arm_id: 1, state: "baseline", mean: 500 },
  {
    ...{ ...blank, arm_id: 2, state: "measured", mean: 600, effect_percent: 20 },
    ...{ ci_low_percent: 10, ci_high_percent: 300, verdict: "worse" },
  },
  { ...blank, arm_id: 3, state: "not_effective" },
];
const row = (case_id: number) =>
  ({
    ...{ case_id, case: `case ${case_id}`, host: "h", workload: "w", metric: "t" },
    ...{ metric_title: "Time", unit: "ns", direction: "lower", primary: true, cells },
  }) as Row;

test("a matrix is drawn whole, under its headings, with the words of its cells", () => {
  const rows = Array.from({ length: 200 }, (_, at) => row(at + 1));
  const drawn = matrixTable({ arms }, itemsOf(rows, true), 100, false);
  expect(drawn.columns.map((each) => each.lines[0]?.text)).toEqual([
    ...["Case", "off (baseline)", "loop", "gone"],
  ]);
  expect(drawn.rows).toHaveLength(201);
  expect(drawn.rows[0]).toEqual({ heading: "h · w" });
  const [first] = drawn.rows.flatMap((each) => ("cells" in each ? [each.cells] : []));
  expect(first?.map((cell) => cell.lines[0]?.text)).toEqual([
    ...["case 1", "500.0\u202fns  n 4", "+20.0% worse", "not effective"],
  ]);
});

test("an interval that goes on beyond the scale has a tip at its end", () => {
  const drawn = matrixTable({ arms }, itemsOf([row(1)], false), 100, true);
  const [first] = drawn.rows.flatMap((each) => ("cells" in each ? [each.cells] : []));
  const marks = first?.[2]?.graphic?.marks ?? [];
  expect(marks.filter((mark) => mark.kind === "tip")).toMatchObject([{ towards: "right" }]);
  expect(first?.[0]?.lines.map(({ text }) => text)).toContain("h · w");
});
