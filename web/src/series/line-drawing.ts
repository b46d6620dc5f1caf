/** The line of a series as a drawing without the page, and as a table. Pure. */

import type { LinePoint, LineRow, SeriesLine } from "../api/types";
import { toneOf } from "../experiment/glyph-marks";
import type { Table } from "../picture/csv";
import type { DrawnRow, DrawnTable, Graphic, Mark } from "../picture/table-drawing";
import { drawing, grouped, HEIGHT } from "./layout";
import { change } from "./words";

function graphicOf(points: readonly (LinePoint | null)[]): Graphic {
  const { width, zero, dots } = drawing(points);
  const marks: Mark[] = [
    { kind: "line", x1: 0, x2: width, y1: zero, y2: zero, tone: "line" },
    ...dots.slice(1).map((dot, at): Mark => {
      const before = dots[at] ?? dot;
      return { kind: "line", x1: before.x, x2: dot.x, y1: before.y, y2: dot.y, tone: "line" };
    }),
    ...dots.flatMap(({ x, y, top, bottom, edge, point }): Mark[] => {
      const tone = toneOf(point.verdict);
      const range: Mark = { kind: "line", x1: x, x2: x, y1: top, y2: bottom, tone, width: 2 };
      if (edge === null) return [range, { kind: "dot", x, y, tone }];
      return [range, { kind: "tip", x, y, towards: edge === "above" ? "up" : "down", tone }];
    }),
  ];
  return { width, height: HEIGHT, marks };
}

function rowOf(row: LineRow): DrawnRow {
  const newest = row.points.findLast((point) => point !== null);
  return {
    cells: [
      {
        lines: [
          { text: row.case, bold: true },
          { text: `${row.arm} on ${row.host}; ${row.direction} is better`, tone: "soft" },
        ],
      },
      { lines: [], graphic: graphicOf(row.points) },
      {
        lines: newest
          ? [{ text: change(newest) }, { text: newest.verdict ?? "no verdict", tone: "soft" }]
          : [],
      },
      { lines: [{ text: row.first_worse || "none" }] },
    ],
  };
}

export function drawnLine(line: SeriesLine): DrawnTable {
  const head = (text: string) => ({ lines: [{ text, bold: true }] });
  const revisions = line.revisions.join(", ");
  return {
    columns: [head("Case and mode"), head(revisions), head("Newest"), head("First worse")],
    rows: grouped(line.rows).flatMap(([heading, rows]) => [{ heading }, ...rows.map(rowOf)]),
  };
}

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
