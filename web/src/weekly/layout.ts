/** Where the values of a picture lie. */

import type { WeeklyPicture } from "../api/types";

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
}

export interface Drawing {
  dots: Dot[];
  low: number;
  high: number;
  /** Where 0 lies; null where it does not belong in. */
  zero: number | null;
  /** Where the level changed. */
  change: number | null;
}

/** The picture's values as places; nothing is drawn of none. */
export function drawing(picture: WeeklyPicture): Drawing {
  const points = picture.points.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const [low, high] = range(picture);
  const first = Date.parse(points[0]?.at ?? "");
  const whole = Date.parse(points.at(-1)?.at ?? "") - first || 1;
  const x = (at: string) => LEFT + ((WIDTH - LEFT - RIGHT) * (Date.parse(at) - first)) / whole;
  const y = (value: number) =>
    HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * ((clamp(value, low, high) - low) / (high - low));
  const dots = points.map((point): Dot => {
    const [from, to] = [point.low ?? null, point.high ?? null];
    return {
      x: x(point.at),
      y: y(point.value),
      range: from === null || to === null ? null : [y(to), y(from)],
      at: point.at,
      value: point.value,
    };
  });
  const changed = picture.changed_at ?? null;
  return {
    dots,
    low,
    high,
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

/** From the lowest to the highest value; a long interval is cut, so that values still show. */
function range(picture: WeeklyPicture): [number, number] {
  const values = [...picture.points.map((point) => point.value), ...(picture.zero ? [0] : [])];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const span = most - least || Math.abs(most) || 1;
  const lows = picture.points.map((point) => Math.max(point.low ?? least, least - span));
  const highs = picture.points.map((point) => Math.min(point.high ?? most, most + span));
  const [low, high] = [Math.min(least, ...lows), Math.max(most, ...highs)];
  const margin = 0.05 * (high - low || Math.abs(high) || 1);
  return [low - margin, high + margin];
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
