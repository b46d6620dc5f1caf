/** The values of a trend's picture as a table. */

import type { Trend } from "../api/types";
import { type Table, withUnit } from "../picture/csv";

export function trendTable(trend: Trend): Table {
  return {
    columns: [
      ...["trend", "case", "mode", "host class", "run", "arm", "at"],
      ...["value", "95 % low", "95 % high"].map((name) => withUnit(name, trend.unit)),
      ...["boots", "host", "kernel", "outlier", "experiment", "case id"],
    ],
    rows: trend.values.map((of) => [
      ...[trend.id, trend.case, trend.mode, trend.host_class, of.run_id, of.arm, of.at],
      ...[of.value, of.low, of.high],
      ...[of.boots, of.host, of.kernel, of.outlier, of.experiment_id, of.case_id],
    ]),
  };
}
