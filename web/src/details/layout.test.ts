import { expect, test } from "vitest";
import type { DetailCurve, DetailPoint } from "../api/types";
import { bandPath, curveTable, linePath, loadRange, placement, valueRange } from "./layout";

function point(load: number, value: number, reach: number | null = null): DetailPoint {
  return {
    load,
    value,
    boots: 4,
    low: reach === null ? null : value - reach,
    high: reach === null ? null : value + reach,
  };
}

function curve(...lines: DetailPoint[][]): DetailCurve {
  const figure = { name: "x", title: "X", unit: "percent", direction: "lower" as const, help: "" };
  return {
    title: "Curve",
    load: "sessions",
    count: "actions",
    value: figure,
    reached: figure,
    lines: lines.map((points, at) => ({ arm_id: at, boots: 4, points })),
    thresholds: [],
  };
}

test("the range holds all intervals, from 0 on or from below it", () => {
  const range = valueRange(curve([point(1, 0, 5), point(2, 100, 20)]), null);
  expect(range.low).toBe(-5);
  expect(range.high).toBeGreaterThan(120);
  expect(range.holdsThreshold).toBe(false);
});

test("a threshold somewhat above all curves is drawn, one far above is not", () => {
  const one = curve([point(1, 0), point(2, 100)]);
  expect(valueRange(one, 130)).toMatchObject({ holdsThreshold: true });
  expect(valueRange(one, 130).high).toBeGreaterThan(130);
  expect(valueRange(one, 400)).toMatchObject({ holdsThreshold: false });
  expect(valueRange(one, 400).high).toBeLessThan(110);
});

test("one load, or none at all, has a place too", () => {
  expect(loadRange(curve([point(4, 1)]))).toEqual([3, 5]);
  expect(loadRange(curve())).toEqual([0, 1]);
  expect(valueRange(curve(), null).high).toBeGreaterThan(0);
});

test("lines and bands lie where loads and values say", () => {
  const frame = { left: 0, right: 100, top: 0, bottom: 50 };
  const place = placement(frame, [1, 3], { low: 0, high: 10, holdsThreshold: false });
  expect(linePath([point(1, 0), point(3, 10)], place)).toBe("M0 50L100 0");
  expect(bandPath([point(1, 5, 1), point(3, 5)], place)).toBe("M0 20L100 25L100 25L0 30Z");
  expect(bandPath([point(1, 5, 1)], place)).toBe("");
});

test("a spike within a curve is off the scale, a rise at its end is not", () => {
  const calm = [1, 2, 3, 4, 5, 6, 7].map((load) => point(load, 100 + load));
  const spike = [...calm.slice(0, 3), point(4, 90_000), ...calm.slice(4)];
  expect(valueRange(curve(spike), null).high).toBeLessThan(130);
  expect(valueRange(curve([...calm, point(8, 90_000)]), null).high).toBeGreaterThan(90_000);
});

test("the table has a row a point, with the unit in the names", () => {
  const { columns, rows } = curveTable(curve([point(1, 0.5, 0.25)], [point(2, 3)]), []);
  expect(columns).toEqual([
    ...["arm", "mode", "sessions", "x (percent)", "95 % low (percent)", "95 % high (percent)"],
    "boots",
  ]);
  expect(rows).toEqual([
    ["", "", 1, 0.5, 0.25, 0.75, 4],
    ["", "", 2, 3, null, null, 4],
  ]);
});
