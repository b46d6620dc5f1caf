import { expect, test } from "vitest";
import type { InstructionRow } from "../api/types";
import { differs, runsOf } from "./folded-rows";

function row(
  mark: InstructionRow["mark"] = "",
  q: number | null = null,
  text = "nop",
): InstructionRow {
  const figures = { a: 1, b: 1, difference: 0, low: null, high: null, q };
  const places = { place_a: 0, text_a: text, place_b: 0, text_b: text };
  return { ...figures, ...places, samples_a: 1, samples_b: 1, mark };
}

function rows(count: number, changes: Record<number, InstructionRow> = {}): InstructionRow[] {
  return Array.from({ length: count }, (_, index) => changes[index] ?? row());
}

function words(of: readonly InstructionRow[], all = false): string[] {
  return runsOf(of, differs, all).map(
    ({ first, end, folded }) => `${first}-${end}${folded ? " folded" : ""}`,
  );
}

test("what is far from a change is folded, and every row is in one run", () => {
  expect(words(rows(40, { 20: row("new") }))).toEqual(["0-16 folded", "16-25", "25-40 folded"]);
});

test("a significant difference is a change, one by chance is none", () => {
  expect(words(rows(20, { 2: row("", 0.01) }))).toEqual(["0-7", "7-20 folded"]);
  expect(words(rows(20, { 2: row("", 0.2) }))).toEqual(["0-20"]);
});

test("changes near each other share a run, and short gaps are shown", () => {
  expect(words(rows(40, { 10: row("new"), 12: row("gone"), 22: row("new") }))).toEqual([
    "0-6 folded",
    "6-27",
    "27-40 folded",
  ]);
  expect(words(rows(12, { 6: row("new") }))).toEqual(["0-12"]);
});

test("padding that only one side has is no change", () => {
  const padding = Object.fromEntries([20, 21, 22].map((at) => [at, row("new", null, "int3")]));
  expect(words(rows(40, padding))).toEqual(["0-40"]);
});

test("all rows are shown where they are asked for, and none where there are none", () => {
  expect(words(rows(40, { 20: row("new") }), true)).toEqual(["0-40"]);
  expect(words([])).toEqual([]);
});
