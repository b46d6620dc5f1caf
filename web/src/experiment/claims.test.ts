import { expect, test } from "vitest";
import type { Claim, ClaimOutcome } from "../api/types";
import { sorted } from "./claims";

const claims = (...outcomes: ClaimOutcome[]) =>
  outcomes.map((outcome, i) => ({ outcome, title: String(i) }) as Claim);

test("claims that an emulated host can say nothing of are put aside, the rest stay in order", () => {
  const all = claims("emulated", "reproduced", "emulated", "not_measured");
  const { telling, folded } = sorted(all);
  expect(telling.map((claim) => claim.title)).toEqual(["1", "3"]);
  expect(folded.map((claim) => claim.title)).toEqual(["0", "2"]);
});

test("a single one is no shorter when it is folded", () => {
  const all = claims("emulated", "undecided");
  expect(sorted(all)).toEqual({ telling: all, folded: [] });
});
