import { expect, test } from "vitest";
import type { Trend, TrendPoint } from "../api/types";
import { trendTable } from "./table";

const point = {
  ...{ at: "2026-11-10T06:00:00Z", value: 1.5, low: 1, high: null, boots: 4, host: "h" },
  ...{ kernel: "7.2.1", outlier: true, experiment_id: 3, case_id: 9, run_id: 5, arm: "off" },
} as TrendPoint;
const trend = (id: number, unit: string) =>
  ({ id, unit, case: "c", mode: "m", host_class: "k", values: [point] }) as Trend;

test("a trend's values have its unit in their names, and all their digits", () => {
  const { columns, rows } = trendTable(trend(1, "ns"));
  expect(columns.slice(7, 10)).toEqual(["value (ns)", "95 % low (ns)", "95 % high (ns)"]);
  expect(rows).toEqual([
    [1, "c", "m", "k", 5, "off", point.at, 1.5, 1, null, 4, "h", "7.2.1", true, 3, 9],
  ]);
});
