/** Where lines over seconds lie. Pure, lengths in CSS pixels. */

import type { Frame } from "./layout";
import { clamped, robustScale, type Scale } from "../picture/bulk";

export interface PlotLine {
  /** Place of the arm's colour. */
  arm: number;
  values: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
}

interface Second {
  at: number;
  second: number;
  value: number;
  low: number | null;
  high: number | null;
}

/** The seconds of a line that have a value. */
export function secondsOf(seconds: readonly number[], line: PlotLine): Second[] {
  return seconds.flatMap((second, at) => {
    const value = line.values[at] ?? null;
    if (value === null) return [];
    return [{ at, second, value, low: line.low[at] ?? null, high: line.high[at] ?? null }];
  });
}

/** From 0 to the bulk of all lines, with some air above. */
export function plotScale(seconds: readonly number[], lines: readonly PlotLine[]): Scale {
  const points = lines.map((line) => secondsOf(seconds, line));
  const { low, high } = robustScale(points, { inOrder: true, inside: [0] });
  return { low, high: high <= low ? low + 1 : low + (high - low) * 1.08 };
}

export function plotPlace(frame: Frame, seconds: readonly number[], scale: Scale) {
  const [first, last] = [seconds[0] ?? 0, seconds.at(-1) ?? 1];
  const width = frame.right - frame.left;
  const height = frame.bottom - frame.top;
  return {
    x: (second: number) => frame.left + ((second - first) / (last - first || 1)) * width,
    y: (value: number) =>
      frame.bottom - ((clamped(value, scale) - scale.low) / (scale.high - scale.low)) * height,
  };
}

export type PlotPlace = ReturnType<typeof plotPlace>;

/** Seconds one after the other: where one has no value, the line ends and another begins. */
function runsOf(points: readonly Second[]): Second[][] {
  const runs: Second[][] = [];
  for (const point of points) {
    const before = runs.at(-1)?.at(-1);
    if (before === undefined || point.at !== before.at + 1) runs.push([]);
    runs.at(-1)?.push(point);
  }
  return runs;
}

const path = (places: readonly string[]) => (places.length === 0 ? "" : `M${places.join("L")}`);

/** The line through the values. */
export function valuePath(points: readonly Second[], { x, y }: PlotPlace): string {
  return runsOf(points)
    .map((run) => path(run.map((point) => `${x(point.second)} ${y(point.value)}`)))
    .join("");
}

/** The area from the lowest to the highest value of the arm's boots. */
export function rangePath(points: readonly Second[], { x, y }: PlotPlace): string {
  return runsOf(points)
    .filter((run) => run.length > 1)
    .map((run) => {
      const upper = run.map((point) => `${x(point.second)} ${y(point.high ?? point.value)}`);
      const lower = run
        .toReversed()
        .map((point) => `${x(point.second)} ${y(point.low ?? point.value)}`);
      return `${path([...upper, ...lower])}Z`;
    })
    .join("");
}
