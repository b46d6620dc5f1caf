import { expect, test } from "vitest";
import type { Trend } from "../api/types";
import { median } from "../picture/bulk";
import { laidOver, overIn } from "./overlay";

const trend = (values: [string, number][]) =>
  ({ values: values.map(([at, value]) => ({ at, value })) }) as unknown as Trend;
const over = (text: string) => overIn(new URLSearchParams(`over=${text}`), 3);

test("an address names other trends, each once, and not the one below", () => {
  expect(over("5,7,5,3,x,-1,0")).toEqual([5, 7]);
  expect(over("")).toEqual([]);
  expect(over("1,2,4,5,6,7,8")).toHaveLength(5);
});

test("the middle of an even number of values lies between two", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(median([])).toBeNaN();
});

test("values are laid on the other's scale by their own middle, within its time", () => {
  const below = trend([
    ["2026-11-01", 10],
    ["2026-11-03", 20],
  ]);
  const other = trend([
    ["2026-10-01", 100],
    ["2026-11-02", 200],
    ["2026-11-03", 300],
  ]);
  expect(laidOver(below, other)).toEqual([
    { at: "2026-11-02", value: 15, percent: 100 },
    { at: "2026-11-03", value: 22.5, percent: 150 },
  ]);
  expect(laidOver(below, trend([["2026-11-02", 0]]))).toEqual([]);
});
