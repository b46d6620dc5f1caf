/** The values of a trend's picture as a table: its own, then those laid over it. */

import type { Trend } from "../api/types";
import { type Table, withUnit } from "../picture/csv";

export function trendTable(trends: readonly Trend[]): Table {
  const units = new Set(trends.map(({ unit }) => unit));
  const [only = ""] = units;
  // Values of several units have theirs beside them.
  const unit = units.size === 1 ? only : "";
  return {
    columns: [
      ...["trend", "case", "mode", "host class", "run", "arm", "at"],
      ...["value", "95 % low", "95 % high"].map((name) => withUnit(name, unit)),
      ...(units.size === 1 ? [] : ["unit"]),
      ...["boots", "host", "kernel", "outlier", "experiment", "case id"],
    ],
    rows: trends.flatMap((trend) =>
      trend.values.map((of) => [
        ...[trend.id, trend.case, trend.mode, trend.host_class, of.run_id, of.arm, of.at],
        ...[of.value, of.low, of.high],
        ...(units.size === 1 ? [] : [trend.unit]),
        ...[of.boots, of.host, of.kernel, of.outlier, of.experiment_id, of.case_id],
      ]),
    ),
  };
}
