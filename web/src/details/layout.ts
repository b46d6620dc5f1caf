/** Where a curve over a load lies: pure geometry, lengths in CSS pixels. */

import type { DetailArm, DetailCurve, DetailPoint } from "../api/types";
import type { Frame } from "../case/layout";
import { clamped, robustScale, type Scale } from "../picture/bulk";
import { type Table, withUnit } from "../picture/csv";

/** A threshold far above all curves would press them onto the axis: it is then left out. */
const MOST_ABOVE = 1.4;

export interface Range extends Scale {
  /** Whether the threshold lies within it. */
  holdsThreshold: boolean;
}

/**
 * Values from 0, or the lowest below it, to the highest end of an interval, with some air. A spike
 * is off the scale. The ends of a curve never are: a rise at full load is what it is drawn for.
 */
export function valueRange(curve: DetailCurve, threshold: number | null): Range {
  const lines = curve.lines.map((line) => line.points);
  const inside = [0, ...lines.flatMap((points) => [points[0], points.at(-1)].map(valueOf))];
  const { low: least, high: most } = robustScale(lines, { inOrder: true, inside });
  const reach = most > 0 ? most : 1;
  const holdsThreshold =
    threshold !== null && threshold >= least && threshold <= reach * MOST_ABOVE;
  const high = holdsThreshold ? Math.max(reach, threshold) : reach;
  return { low: least, high: high + (high - least) * 0.06, holdsThreshold };
}

/** The first load and the last, never the same. */
export function loadRange(curve: DetailCurve): [number, number] {
  const loads = curve.lines.flatMap((line) => line.points.map((point) => point.load));
  if (loads.length === 0) return [0, 1];
  const first = loads.reduce((a, b) => Math.min(a, b));
  const last = loads.reduce((a, b) => Math.max(a, b));
  return first < last ? [first, last] : [first - 1, last + 1];
}

function valueOf(point: DetailPoint | undefined): number {
  return point?.value ?? 0;
}

/** A row a point. */
export function curveTable(curve: DetailCurve, arms: readonly DetailArm[]): Table {
  const { name, unit } = curve.value;
  return {
    columns: [
      ...["arm", "mode", curve.load],
      ...[name, "95 % low", "95 % high"].map((column) => withUnit(column, unit)),
      "boots",
    ],
    rows: curve.lines.flatMap((line) => {
      const arm = arms.find((one) => one.arm_id === line.arm_id);
      return line.points.map((point) => [
        ...[arm?.name ?? "", arm?.mode ?? "", point.load, point.value, point.low, point.high],
        point.boots,
      ]);
    }),
  };
}

export function placement(frame: Frame, [first, last]: [number, number], range: Range) {
  return {
    x: (load: number) =>
      frame.left + ((load - first) / (last - first)) * (frame.right - frame.left),
    y: (value: number) =>
      frame.bottom -
      ((clamped(value, range) - range.low) / (range.high - range.low)) * (frame.bottom - frame.top),
  };
}

type Place = ReturnType<typeof placement>;

/** The line through all points. */
export function linePath(points: readonly DetailPoint[], { x, y }: Place): string {
  return points
    .map((point, at) => `${at === 0 ? "M" : "L"}${x(point.load)} ${y(point.value)}`)
    .join("");
}

/** The area between the ends of the intervals; where a point has none it is as thin as the line. */
export function bandPath(points: readonly DetailPoint[], { x, y }: Place): string {
  if (points.length < 2) return "";
  const upper = points.map((point) => `${x(point.load)} ${y(point.high ?? point.value)}`);
  const lower = points
    .toReversed()
    .map((point) => `${x(point.load)} ${y(point.low ?? point.value)}`);
  return `M${[...upper, ...lower].join("L")}Z`;
}
