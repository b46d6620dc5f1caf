import { expect, test } from "vitest";
import type { LinePoint, LineRow } from "../api/types";
import { drawing, grouped, HEIGHT, STEP } from "./layout";

function point(effect: number | null, reach = 0.5, more: Partial<LinePoint> = {}): LinePoint {
  return {
    revision: "v1",
    experiment_id: 1,
    case_id: 2,
    state: "measured",
    n: 4,
    bound: "exact",
    effect_percent: effect,
    ci_low_percent: effect === null ? null : effect - reach,
    ci_high_percent: effect === null ? null : effect + reach,
    verdict: null,
    baseline: "off",
    across: false,
    ...more,
  };
}

test("everything measured and zero lie within the drawing, higher values above", () => {
  const { dots, zero, width } = drawing([point(1), point(-3), point(8)]);
  expect(width).toBe(3 * STEP);
  expect(dots.map((dot) => dot.x)).toEqual([0.5 * STEP, 1.5 * STEP, 2.5 * STEP]);
  for (const { y, top, bottom } of dots) {
    expect(top).toBeGreaterThanOrEqual(0);
    expect(top).toBeLessThanOrEqual(y);
    expect(y).toBeLessThanOrEqual(bottom);
    expect(bottom).toBeLessThanOrEqual(HEIGHT);
  }
  expect(dots[2]?.y).toBeLessThan(zero);
  expect(dots[1]?.y).toBeGreaterThan(zero);
});

test("a revision that has no such row, or no figure, has no dot and keeps its column", () => {
  const { dots } = drawing([null, point(null), point(2)]);
  expect(dots.map((dot) => dot.x)).toEqual([2.5 * STEP]);
});

test("a row of zeros, and one without points, can be drawn", () => {
  expect(Number.isFinite(drawing([point(0, 0)]).dots[0]?.y)).toBe(true);
  expect(drawing([]).dots).toEqual([]);
});

test("rows stand under what they are compared with", () => {
  const row = (comparison: string, across: boolean): LineRow => ({
    comparison,
    host: "h",
    emulated: false,
    counted: false,
    case: "c",
    metric: "m",
    metric_title: "M",
    unit: "ns",
    direction: "lower",
    arm: "a",
    points: [null, point(1, 0.5, { across, baseline: across ? "before" : "off" }), null],
    first_worse: "",
  });
  const groups = grouped([row("modes", false), row("since", true), row("modes", false)]);
  expect(groups.map(([title, rows]) => [title, rows.length])).toEqual([
    ["modes: against off", 2],
    ["since: against another kernel, before", 1],
  ]);
});

test("one wild revision stands at the edge, and the others keep their heights", () => {
  const { dots } = drawing([point(1), point(-1), point(2), point(400), point(1), point(-2)]);
  expect(dots.map((dot) => dot.edge)).toEqual([null, null, null, "above", null, null]);
  const heights = dots.filter((dot) => dot.edge === null).map((dot) => dot.y);
  expect(Math.max(...heights) - Math.min(...heights)).toBeGreaterThan(HEIGHT / 2);
  for (const { y } of dots) expect(y).toBeGreaterThanOrEqual(0);
});
