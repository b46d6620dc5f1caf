/** The line of a series as a table of figures. Pure. */

import type { SeriesLine } from "../api/types";
import type { Table } from "../picture/csv";

/** A row a point: a case, mode and revision. */
export function lineTable(line: SeriesLine): Table {
  return {
    columns: [
      ...["comparison", "host", "case", "metric", "arm", "revision", "baseline", "change (%)"],
      ...["95 % low (%)", "95 % high (%)", "verdict", "boots", "emulated", "counted time"],
      ...["experiment", "case id"],
    ],
    rows: line.rows.flatMap((row) =>
      row.points
        .filter((point) => point !== null)
        .map((point) => [
          ...[row.comparison, row.host, row.case, row.metric, row.arm, point.revision],
          ...[point.baseline, point.effect_percent, point.ci_low_percent, point.ci_high_percent],
          ...[point.verdict, point.n, row.emulated, row.counted],
          ...[point.experiment_id, point.case_id],
        ]),
    ),
  };
}
