/** Where the values of a picture lie. */

import type { WeeklyPicture } from "../api/types";
import { clamped, edgeOf, robustScale, type Scale } from "../picture/bulk";

export const WIDTH = 320;
export const HEIGHT = 92;
const LEFT = 6;
const RIGHT = 6;
const TOP = 8;
const BOTTOM = 8;

export interface Dot {
  x: number;
  y: number;
  /** Ends of the interval; null where there is none. */
  range: [top: number, bottom: number] | null;
  at: string;
  value: number;
  edge: ReturnType<typeof edgeOf>;
}

export interface Drawing {
  dots: Dot[];
  scale: Scale;
  y: (value: number) => number;
  /** Where 0 lies; null where it does not belong in. */
  zero: number | null;
  /** Where the level changed. */
  change: number | null;
}

/** The picture's values as places; nothing is drawn of none. */
export function drawing(picture: WeeklyPicture): Drawing {
  const points = picture.points.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const scale = range(picture);
  const first = Date.parse(points[0]?.at ?? "");
  const whole = Date.parse(points.at(-1)?.at ?? "") - first || 1;
  const x = (at: string) => LEFT + ((WIDTH - LEFT - RIGHT) * (Date.parse(at) - first)) / whole;
  const y = (value: number) =>
    HEIGHT -
    BOTTOM -
    (HEIGHT - TOP - BOTTOM) * ((clamped(value, scale) - scale.low) / (scale.high - scale.low));
  const dots = points.map((point): Dot => {
    const [from, to] = [point.low ?? null, point.high ?? null];
    return {
      x: x(point.at),
      y: y(point.value),
      range: from === null || to === null ? null : [y(to), y(from)],
      at: point.at,
      value: point.value,
      edge: edgeOf(point.value, scale),
    };
  });
  const changed = picture.changed_at ?? null;
  return {
    dots,
    scale,
    y,
    zero: picture.zero ? y(0) : null,
    change: changed === null ? null : between(dots, Date.parse(changed)),
  };
}

/** Half way between the last value before a moment and the first one after it. */
function between(dots: readonly Dot[], moment: number): number | null {
  const after = dots.findIndex((dot) => Date.parse(dot.at) >= moment);
  const [before, next] = [dots[after - 1], dots[after]];
  return before === undefined || next === undefined ? null : (before.x + next.x) / 2;
}

/** From the lowest to the highest value, less what would flatten the others; with some air. */
function range(picture: WeeklyPicture): Scale {
  const points = picture.points.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const inside = picture.zero ? [0] : [];
  const { low, high } = robustScale([points], { inOrder: true, inside });
  const margin = 0.05 * (high - low || Math.abs(high) || 1);
  return { low: low - margin, high: high + margin };
}
