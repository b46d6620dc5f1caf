import { describe, expect, it } from "vitest";
import type { PairRow } from "../api/types";
import { reachOf } from "./rows";
import { differenceParts, unmatchedText, verdictOf } from "./words";

const ROW = {
  judgement: "differs",
  direction: "lower",
  is_points: false,
  difference_percent: 3,
  low_percent: 1,
  high_percent: 5,
} as PairRow;

describe("a row of two experiments", () => {
  it("is worse in B where B costs more, whichever way is better", () => {
    expect(verdictOf(ROW)).toBe("worse");
    expect(verdictOf({ ...ROW, direction: "higher" })).toBe("better");
    expect(verdictOf({ ...ROW, difference_percent: -3 })).toBe("better");
    expect(verdictOf({ ...ROW, judgement: "no-difference-seen" })).toBe("undecided");
  });

  it("says points where they are no percent", () => {
    expect(differenceParts(ROW)).toEqual({ change: "+3.0%", interval: "[+1.0, +5.0]" });
    expect(differenceParts({ ...ROW, is_points: true })?.change).toBe("+3.0 points");
    expect(differenceParts({ ...ROW, low_percent: null })).toBeNull();
  });

  it("is drawn on a scale that one wild interval does not flatten", () => {
    const many = Array.from({ length: 19 }, () => ROW);
    expect(reachOf([...many, { ...ROW, high_percent: 900 }])).toBe(5);
    expect(reachOf([])).toBe(1);
  });

  it("has its reasons counted", () => {
    expect(
      unmatchedText([
        { reason: "only-in-a", rows: 12 },
        { reason: "other-clock", rows: 4 },
      ]),
    ).toBe("12 only in A, 4 of another clock");
  });
});
