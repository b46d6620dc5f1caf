import { describe, expect, test } from "vitest";
import type { ExactFunction, ExactLine, ExactSide } from "../api/types";
import {
  answerText,
  apartText,
  countText,
  functionDiffers,
  isSure,
  lineDiffers,
} from "./exact-words";

const FUNCTION: ExactFunction = {
  ...{ function: "f", module: "kernel", was: "", mark: "" },
  ...{ a: 1, b: 1, difference: 0, exact: null, low: null, high: null },
};
const LINE: ExactLine = {
  ...{ place_a: 0, place_b: 0, text_a: "nop", text_b: "nop", a: 1, b: 1, mark: "" },
  ...{ repeats_a: 0, repeats_b: 0 },
};

test.each([
  [0, 0.03, "the same number of instructions in each operation"],
  [1, 1.03, "+1 instruction in each operation"],
  [-12, -11.5, "−12 instructions in each operation"],
  [0, 9.8, "+9.80 instructions on average, none in each operation"],
  [null, 9.8, "+9.80 instructions on average"],
])("the answer for %s and %s of all", (exact, difference, words) => {
  expect(answerText({ exact, difference })).toBe(words);
});

test("a count is whole, or has hundredths", () => {
  expect([42, 41.997, 0.125, 12345].map(countText)).toEqual(["42", "42", "0.13", "12\u202f345"]);
});

test.each([
  [344.404, 344.404, "< 0.0001\u202f%"],
  [15_581.05, 15_580.46, "0.0038\u202f%"],
  [110, 100, "10.00\u202f%"],
  [110, 0, "unknown"],
])("%s ns counted and %s measured are %s apart", (counted_ns, measured_ns, words) => {
  expect(apartText({ counted_ns, measured_ns } as ExactSide)).toBe(words);
});

describe("a function", () => {
  test("differs by a whole number, or by a hundredth", () => {
    const differs = (more: Partial<ExactFunction>) => functionDiffers({ ...FUNCTION, ...more });
    expect(differs({ exact: 0, difference: 0.4 })).toBe(false);
    expect(differs({ exact: -1 })).toBe(true);
    expect([0.009, -0.01].map((difference) => differs({ difference }))).toEqual([false, true]);
  });

  test("is sure of a difference that its boots agree on", () => {
    const sure = (more: Partial<ExactFunction>, boots = 4) =>
      isSure({ ...FUNCTION, ...more }, boots);
    expect(sure({ exact: 3 }, 1)).toBe(true);
    expect([sure({ low: 0.1, high: 0.2 }), sure({ low: -0.1, high: 0.2 })]).toEqual([true, false]);
    expect([sure({}), sure({}, 1), sure({ mark: "new" })]).toEqual([true, false, false]);
  });
});

test("a line differs by its mark or its runs; what only fills room by its runs alone", () => {
  const differs = (more: Partial<ExactLine>) => lineDiffers({ ...LINE, ...more });
  expect(differs({})).toBe(false);
  expect(differs({ b: 1.02 })).toBe(true);
  expect(differs({ mark: "new", text_a: "", text_b: "lfence" })).toBe(true);
  for (const text_b of ["int3", "nopl (%rax)", "data16 nopw (%rax)"])
    expect(differs({ mark: "new", text_a: "", text_b })).toBe(false);
});
