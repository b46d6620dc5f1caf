/** The rows of a pair of experiments as a drawing without the page, and as a table. Pure. */

import type { PairCell, PairRow } from "../api/types";
import { glyphMarks, toneOf } from "../experiment/glyph-marks";
import { effectOf, effectParts } from "../format/effect";
import { BOUND } from "../format/quantity";
import type { Table } from "../picture/csv";
import type { DrawnCell, DrawnTable } from "../picture/table-drawing";
import { differenceParts, JUDGEMENT, verdictOf } from "./words";

function sideOf(cell: PairCell): DrawnCell {
  const effect = effectOf(cell);
  if (effect === null) {
    const text = cell.state === "not_effective" ? "not effective" : "no data";
    return { lines: [{ text, tone: "soft" }] };
  }
  const written = effectParts(effect);
  const verdict = cell.verdict ?? "undecided";
  return {
    lines: [
      { text: `${BOUND[cell.bound].sign}${written.change} ${verdict}`, tone: toneOf(cell.verdict) },
      { text: `${written.interval}  n ${cell.n}`, tone: "soft" },
    ],
  };
}

function differenceOf(row: PairRow, reach: number): DrawnCell {
  const written = differenceParts(row);
  const verdict = verdictOf(row);
  const judgement = JUDGEMENT[row.judgement];
  if (!written) return { lines: [{ text: judgement, tone: "soft" }] };
  return {
    lines: [
      { text: `${written.change} ${judgement}`, bold: true },
      { text: written.interval, tone: "soft" },
    ],
    graphic: glyphMarks({
      ...{ effect: row.difference_percent ?? 0, low: row.low_percent ?? 0 },
      ...{ high: row.high_percent ?? 0, reach, verdict },
    }),
  };
}

export function drawnPair(rows: readonly PairRow[], reach: number): DrawnTable {
  const head = (text: string) => ({ lines: [{ text, bold: true }] });
  return {
    columns: ["Case and arm", "Difference, B over A", "A", "B"].map(head),
    rows: rows.map((row) => ({
      cells: [
        {
          lines: [
            { text: row.case, bold: true },
            { text: `${row.arm}; ${row.metric_title}, ${row.direction} is better`, tone: "soft" },
            { text: row.host, tone: "soft" },
          ],
        },
        differenceOf(row, reach),
        sideOf(row.a),
        sideOf(row.b),
      ],
    })),
  };
}

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
