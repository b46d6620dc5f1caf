/** The common horizontal scale of a matrix's interval glyphs. */

import type { Cell, Row } from "../api/types";
import { endless } from "../format/quantity";

/** A glyph's size, its zero and the air at its ends, in pixels. */
export const GLYPH = { width: 140, height: 16, middle: 70, pad: 6 };

/** Where a percentage lies in a glyph; one beyond its scale lies at its end. */
export function placeInGlyph(percent: number, reach: number): number {
  const inside = Math.max(-reach, Math.min(reach, percent));
  return GLYPH.middle + (inside / reach) * (GLYPH.middle - GLYPH.pad);
}

const STEPS = [1, 2, 3, 5, 10];

/** The next round number at or above `value`: one of `steps` times a power of ten. */
export function roundUp(value: number, steps: readonly number[] = STEPS): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = steps.find((s) => s * power >= value * (1 - 1e-9)) ?? 10;
  return step * power;
}

export function isMeasured(cell: Cell): cell is Cell & {
  effect_percent: number;
  ci_low_percent: number;
  ci_high_percent: number;
} {
  return (
    cell.state === "measured" &&
    typeof cell.effect_percent === "number" &&
    typeof cell.ci_low_percent === "number" &&
    typeof cell.ci_high_percent === "number"
  );
}

/**
 * Percent at the right end of the glyphs; the left end is its negative. Holds every effect
 * and nine of ten intervals of the primary metrics that say anything, so that one wild interval,
 * or a metric like retransmits, does not flatten the rest.
 */
export function reach(rows: readonly Row[]): number {
  const primary = rows.filter((row) => row.primary);
  const cells = (primary.length > 0 ? primary : rows)
    .flatMap((row) => row.cells)
    .filter(isMeasured);
  if (cells.length === 0) return 1;
  const effects = cells.map((cell) => Math.abs(cell.effect_percent));
  const ends = cells
    .filter((cell) => !endless(cell.ci_low_percent, cell.ci_high_percent))
    .map((cell) => Math.max(Math.abs(cell.ci_low_percent), Math.abs(cell.ci_high_percent)))
    .sort((a, b) => a - b);
  const usual = ends[Math.ceil(ends.length * 0.9) - 1] ?? 1;
  // Not spread into Math.max: a large matrix has more effects than a call takes arguments.
  return roundUp(effects.reduce((most, effect) => Math.max(most, effect), Math.max(1, usual)));
}
