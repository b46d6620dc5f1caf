/** The rows of a pair of experiments as a table of figures. Pure. */

import type { PairCell, PairRow } from "../api/types";
import type { Table } from "../picture/csv";

const SIDE = ["case id", "host", "arm", "baseline", "boots", "mean", "effect (%)", "95 % low (%)"];

function sideValues(cell: PairCell) {
  return [
    ...[cell.case_id, cell.host, cell.arm, cell.baseline, cell.n, cell.mean],
    ...[cell.effect_percent, cell.ci_low_percent, cell.ci_high_percent, cell.verdict],
  ];
}

/** A row a pair; means are in the row's own unit. */
export function pairTable(rows: readonly PairRow[]): Table {
  return {
    columns: [
      ...["workload", "case", "arm", "metric", "unit", "direction", "primary", "judgement"],
      // Of what has no ratio the difference is in percentage points.
      ...["difference (%)", "95 % low (%)", "95 % high (%)", "in percentage points", "p", "q"],
      ...["A", "B"].flatMap((letter) =>
        [...SIDE, "95 % high (%)", "verdict"].map((name) => `${letter} ${name}`),
      ),
    ],
    rows: rows.map((row) => [
      ...[row.workload, row.case, row.arm, row.metric, row.unit, row.direction, row.primary],
      ...[row.judgement, row.difference_percent, row.low_percent, row.high_percent],
      ...[row.is_points, row.p, row.q, ...sideValues(row.a), ...sideValues(row.b)],
    ]),
  };
}
