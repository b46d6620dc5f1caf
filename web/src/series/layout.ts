/** Where the points of a row of the line stand. Pure. */

import type { LinePoint, LineRow } from "../api/types";

export const STEP = 54;
export const HEIGHT = 44;
const PAD = 5;

/** A point of a row in pixels; `far` where its interval goes on beyond the drawing. */
export interface Dot {
  x: number;
  y: number;
  top: number;
  bottom: number;
  point: LinePoint;
}

export interface Drawing {
  width: number;
  zero: number;
  dots: Dot[];
}

function ends(point: LinePoint): number[] {
  return [point.effect_percent, point.ci_low_percent, point.ci_high_percent].filter(
    (value): value is number => value !== null,
  );
}

/** The row's own scale: zero and everything that was measured fits in. */
export function drawing(points: readonly (LinePoint | null)[]): Drawing {
  const values = points.flatMap((point) => (point === null ? [] : ends(point)));
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const reach = high - low || 1;
  const y = (percent: number) => PAD + ((high - percent) / reach) * (HEIGHT - 2 * PAD);
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
      },
    ];
  });
  return { width: points.length * STEP, zero: y(0), dots };
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
