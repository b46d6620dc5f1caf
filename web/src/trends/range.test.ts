import { expect, test } from "vitest";
import type { Trend } from "../api/types";
import { isWhole, rangeOf, within } from "./range";

const days = ["01", "02", "03", "04", "05"].map((day) => `2026-11-${day}T00:00:00Z`);
const trend = {
  values: days.map((at) => ({ at })),
  levels: [
    { first: 0, end: 3, mean: 1 },
    { first: 3, end: 5, mean: 2 },
  ],
  changes: [{ at: days[3] }],
} as unknown as Trend;

test("an address without times, or with words that are none, asks for all", () => {
  expect(isWhole(rangeOf(new URLSearchParams("")))).toBe(true);
  expect(isWhole(rangeOf(new URLSearchParams("from=soon&to=")))).toBe(true);
  expect(rangeOf(new URLSearchParams("from=2026-11-02"))).toEqual({ from: "2026-11-02", to: null });
});

test("levels keep their values, whatever is left out before them", () => {
  const part = within(trend, { from: days[1] ?? null, to: days[3] ?? null });
  expect(part.values.map(({ at }) => at)).toEqual(days.slice(1, 4));
  expect(part.levels).toEqual([
    { first: 0, end: 2, mean: 1 },
    { first: 2, end: 3, mean: 2 },
  ]);
  expect(part.changes).toHaveLength(1);
});

test("a time without values has nothing in it", () => {
  const none = within(trend, { from: "2027-01-01", to: null });
  expect([none.values, none.levels, none.changes]).toEqual([[], [], []]);
});
