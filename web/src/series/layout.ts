/** Where the points of a row of the line stand. Pure. */

import type { LinePoint, LineRow } from "../api/types";
import { clamped, edgeOf, robustScale, type Scale } from "../picture/bulk";

export const STEP = 54;
export const HEIGHT = 44;
const PAD = 5;

/** A point of a row in pixels; `edge`: where the row's scale does not reach it. */
export interface Dot {
  x: number;
  y: number;
  top: number;
  bottom: number;
  point: LinePoint;
  edge: ReturnType<typeof edgeOf>;
}

export interface Drawing {
  scale: Scale;
  y: (percent: number) => number;
  width: number;
  zero: number;
  dots: Dot[];
}

/** The row's own scale: zero and what was measured fit in, less a wild value or interval. */
export function drawing(points: readonly (LinePoint | null)[]): Drawing {
  const measured = points.flatMap((point) =>
    point?.effect_percent == null
      ? []
      : [{ value: point.effect_percent, low: point.ci_low_percent, high: point.ci_high_percent }],
  );
  const scale = robustScale([measured], { inOrder: true, inside: [0] });
  const reach = scale.high - scale.low || 1;
  const y = (percent: number) =>
    PAD + ((scale.high - clamped(percent, scale)) / reach) * (HEIGHT - 2 * PAD);
  const dots = points.flatMap((point, place): Dot[] => {
    if (point?.effect_percent == null) return [];
    const [top, bottom] = [
      point.ci_high_percent ?? point.effect_percent,
      point.ci_low_percent ?? point.effect_percent,
    ];
    return [
      {
        x: (place + 0.5) * STEP,
        y: y(point.effect_percent),
        top: y(top),
        bottom: y(bottom),
        point,
        edge: edgeOf(point.effect_percent, scale),
      },
    ];
  });
  return { width: points.length * STEP, zero: y(0), dots, scale, y };
}

/** Rows under what they are compared with, in the order in which the first row of each comes. */
export function grouped(rows: readonly LineRow[]): [string, LineRow[]][] {
  const groups = new Map<string, LineRow[]>();
  for (const row of rows) {
    const newest = row.points.findLast((point) => point !== null);
    const against = newest?.across
      ? `${row.comparison}: against another kernel, ${newest.baseline}`
      : `${row.comparison}: against ${newest?.baseline ?? "its baseline"}`;
    const group = groups.get(against);
    if (group) group.push(row);
    else groups.set(against, [row]);
  }
  return [...groups];
}
