import { describe, expect, it } from "vitest";
import type { PredictedCell } from "../api/types";
import { agreementText, publishedText, signWord } from "./published-words";

const cell = (more: Partial<PredictedCell>): PredictedCell => ({
  case: "user udp",
  mode: "ibpb",
  published_low: -12.5,
  published_high: -12.5,
  percent: -0.6,
  low: -1.1,
  high: -0.3,
  missing: [],
  needed: 71343,
  implied: null,
  ...more,
});

describe("a published figure", () => {
  it("is one, or a range", () => {
    expect(publishedText(cell({}))).toBe("\u221212.5");
    expect(publishedText(cell({ published_low: 18, published_high: 37 }))).toBe("+18.0 to +37.0");
  });
  it("has the sign that was predicted, or not", () => {
    expect(signWord(cell({}), 1)).toBe("right");
    expect(signWord(cell({ percent: 0.6 }), 1)).toBe("wrong");
  });
  it("tells no sign where no difference was published, or nothing is predicted", () => {
    expect(signWord(cell({ published_low: -1, published_high: -1 }), 1)).toBeNull();
    expect(signWord(cell({ percent: null }), 1)).toBeNull();
  });
});

describe("agreement", () => {
  const of = { mode: "ibpb", cells: 21, told: 12, right: 11, rival: 11, holds: 0, rank: 0.66 };
  it("stands beside its trivial rival", () => {
    expect(agreementText({ ...of, rival: 7 })).toBe(
      "ibpb: sign right in 11 of 12, in 7 if all were said to be slower; 0 of 21 within the interval; rank correlation +0.66",
    );
  });
  it("says nothing of signs where its rival is as good", () => {
    expect(agreementText(of)).toBe("ibpb: 0 of 21 within the interval; rank correlation +0.66");
  });
  it("says what there was none of", () => {
    expect(agreementText({ ...of, told: 0, right: 0, rival: 0, rank: null })).toBe(
      "ibpb: no difference published; 0 of 21 within the interval",
    );
  });
});
