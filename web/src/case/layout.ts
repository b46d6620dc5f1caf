/** Where things lie in the chart of boots: pure geometry, lengths in CSS pixels. */

import type { BootPoint } from "../api/types";
import { roundUp } from "../experiment/scale";
import { aired, clamped, type Scale } from "../picture/bulk";

/** At most `wanted` + 2 round numbers inside [low, high], evenly apart. */
export function ticks(low: number, high: number, wanted: number): number[] {
  const span = high - low;
  if (!(span > 0)) return [low];
  const step = roundUp(span / wanted, [1, 2, 5, 10]);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

/** The range that holds all values with some air, never empty. */
export function domain(values: readonly number[]): [number, number] {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return [0, 1];
  const { low, high } = aired({
    low: finite.reduce((a, b) => Math.min(a, b)),
    high: finite.reduce((a, b) => Math.max(a, b)),
  });
  return [low, high];
}

export interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Places boots: blocks side by side, within a block by the order they ran in. */
export function placement(points: readonly BootPoint[], frame: Frame, scale: Scale) {
  const { low, high } = scale;
  const blocks = [...new Set(points.map((point) => point.block))].sort((a, b) => a - b);
  const most = points.reduce((orders, point) => Math.max(orders, point.order), 1);
  const width = (frame.right - frame.left) / Math.max(1, blocks.length);
  const blockLeft = (block: number) => frame.left + blocks.indexOf(block) * width;
  return {
    blocks,
    width,
    blockLeft,
    x: (point: BootPoint) => blockLeft(point.block) + ((point.order - 0.5) / most) * width,
    y: (value: number) =>
      frame.bottom - ((clamped(value, scale) - low) / (high - low)) * (frame.bottom - frame.top),
  };
}

/** Moves labels apart so that none covers another; keeps their order. Heights in, heights out. */
export function spread(heights: readonly number[], gap: number, lowest: number): number[] {
  const order = heights.map((_, i) => i).sort((a, b) => (heights[a] ?? 0) - (heights[b] ?? 0));
  const placed = [...heights];
  let at = -Infinity;
  for (const i of order) {
    at = Math.max(heights[i] ?? 0, at + gap);
    placed[i] = at;
  }
  let floor = lowest;
  for (const i of order.toReversed()) {
    placed[i] = Math.min(placed[i] ?? 0, floor);
    floor = (placed[i] ?? 0) - gap;
  }
  return placed;
}
