import { expect, test } from "vitest";
import type { BootPoint, Row } from "../api/types";
import { bootScale, bootTable } from "./boots";

function boot(id: number, arm: number, mean: number | null, iterations: number[] = []): BootPoint {
  return {
    ...{ boot_id: id, block: 1, order: id, arm_id: arm, arm: `arm ${arm}`, state: "effective" },
    ...{ counts: true, mean, iterations, warmup: [], disturbed: [], at: null },
  };
}

const off = [500, 502, 499, 501].map((mean, at) => boot(at + 1, 1, mean));

test("a boot a hundred times the others does not flatten them", () => {
  const { low, high } = bootScale([...off, boot(9, 1, 50_000)], false);
  expect(low).toBeGreaterThan(490);
  expect(high).toBeLessThan(510);
});

test("an arm that is far from its baseline stays in the picture", () => {
  const loop = [5000, 5020, 4990].map((mean, at) => boot(at + 5, 2, mean));
  expect(bootScale([...off, ...loop], false).high).toBeGreaterThan(5020);
});

test("iterations count where they are shown", () => {
  const spread = [...off, boot(9, 1, 500, [480, 520])];
  expect(bootScale(spread, false).high).toBeLessThan(510);
  expect(bootScale(spread, true).high).toBeGreaterThan(520);
});

test("the table has each boot's mean and its iterations, and boots without a value", () => {
  const { columns, rows } = bootTable({ metric: "t", unit: "ns" } as Row, [
    boot(1, 1, 2.5, [2, 3]),
    boot(2, 1, null),
  ]);
  expect(columns.slice(-2)).toEqual(["iteration", "t (ns)"]);
  expect(rows.map((row) => [row[0], ...row.slice(-2)])).toEqual([
    [1, null, 2.5],
    [1, 1, 2],
    [1, 2, 3],
    [2, null, null],
  ]);
});
