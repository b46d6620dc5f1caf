import { expect, test } from "vitest";
import type { Cell, Row } from "../api/types";
import { endTexts, GLYPH, isInside, placeInGlyph, reach, roundUp } from "./scale";

function rowOf(...intervals: [number, number, number][]): Row {
  const cells = intervals.map(([effect_percent, ci_low_percent, ci_high_percent]): Cell => ({
    arm_id: 2,
    state: "measured",
    n: 4,
    bound: "exact",
    blocks: 4,
    mean: 1,
    effect_percent,
    ci_low_percent,
    ci_high_percent,
    note: "",
    version: 1,
    reason: "",
  }));
  return {
    case_id: 1,
    case: "syscall basic",
    workload: "syscall",
    metric: "time",
    metric_title: "Time",
    unit: "s",
    direction: "lower",
    primary: true,
    delta_percent: 1,
    host: "lab-intel",
    counter: false,
    profiled: false,
    disturbed: 0,
    unsteady: 0,
    cells,
  };
}

test.each([
  [1, 1],
  [1.2, 2],
  [21.8, 30],
  [47, 50],
  [100, 100],
  [0.03, 0.03],
])("%f is rounded up to %f", (value, round) => {
  expect(roundUp(value)).toBeCloseTo(round, 12);
});

test("the scale holds every effect", () => {
  expect(reach([rowOf([18.8, 17, 21.8], [-3, -5, -1])])).toBe(30);
});

test("one wild interval among ten does not flatten the others", () => {
  const tame = Array.from({ length: 9 }, (): [number, number, number] => [1, 0.5, 1.8]);
  expect(reach([rowOf(...tame, [1.5, -400, 400])])).toBe(2);
});

test("intervals that say nothing do not set the scale, their effects do", () => {
  const endless: [number, number, number][] = [
    [-25, -98, 2800],
    [9, -99, 16000],
  ];
  // A fall of 43.3 % is as far from 0 as a rise of 76.4 %, one of 25 % as one of 33.3 %.
  expect(reach([rowOf([-37.3, -43.3, -30.6], ...endless)])).toBe(100);
  expect(reach([rowOf(...endless)])).toBe(50);
});

test("exploratory metrics do not set the scale where there are primary ones", () => {
  const wild = { ...rowOf([200, 100, 300]), primary: false };
  expect(reach([rowOf([18.8, 17, 21.8]), wild])).toBe(30);
  expect(reach([wild])).toBe(300);
});

test("twice as much and half as much are as far from the middle, and a fall has no end", () => {
  const { middle, pad, width } = GLYPH;
  expect(placeInGlyph(100, 100)).toBe(width - pad);
  expect(placeInGlyph(-50, 100)).toBe(pad);
  expect(placeInGlyph(0, 100)).toBe(middle);
  expect(placeInGlyph(-100, 100)).toBe(pad);
  expect([isInside(-50, 100), isInside(-51, 100), isInside(101, 100)]).toEqual([
    true,
    false,
    false,
  ]);
  expect(endTexts(30)).toEqual(["\u221223", "+30"]);
});

test("without a measured cell there still is a scale", () => {
  expect(reach([])).toBe(1);
});
