/** The common horizontal scale of a matrix's interval glyphs. */

import type { Cell, Row } from "../api/types";
import { endless } from "../format/quantity";

/** A glyph's size, its zero and the air at its ends, in pixels. */
export const GLYPH = { width: 140, height: 16, middle: 70, pad: 6 };

/** What is a hundredth or less of the baseline lies at one place: the scale has no end there. */
const LEAST = -99;

/** The logarithm of a change in percent: twice as much and half as much are as far from 0. */
function logOf(percent: number): number {
  return Math.log1p(Math.max(LEAST, percent) / 100);
}

/** Percent at the left end of a glyph whose right end is `reach`: −50 where that is +100. */
export function leftEnd(reach: number): number {
  return 100 * Math.expm1(-Math.log1p(reach / 100));
}

/** The ends of a scale as they are written: `["−23", "+30"]`. */
export function endTexts(reach: number): [string, string] {
  return [`\u2212${Number((-leftEnd(reach)).toPrecision(2))}`, `+${reach}`];
}

/** Whether a percentage lies between the ends. */
export function isInside(percent: number, reach: number): boolean {
  return percent >= leftEnd(reach) && percent <= reach;
}

/** Where a percentage lies in a glyph; one beyond its scale lies at its end. */
export function placeInGlyph(percent: number, reach: number): number {
  const place = logOf(percent) / Math.log1p(reach / 100);
  return GLYPH.middle + Math.max(-1, Math.min(1, place)) * (GLYPH.middle - GLYPH.pad);
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

/** The rise that is as far from 0 as a change: 100 for −50. */
export function distance(percent: number): number {
  return 100 * Math.expm1(Math.abs(logOf(percent)));
}

/**
 * Percent at the right end of the glyphs; the left end is as far by its ratio. Holds every effect
 * and nine of ten intervals of the primary metrics that say anything, so that one wild interval,
 * or a metric like retransmits, does not flatten the rest.
 */
export function reach(rows: readonly Row[]): number {
  const primary = rows.filter((row) => row.primary);
  const cells = (primary.length > 0 ? primary : rows)
    .flatMap((row) => row.cells)
    .filter(isMeasured);
  if (cells.length === 0) return 1;
  const effects = cells.map((cell) => distance(cell.effect_percent));
  const ends = cells
    .filter((cell) => !endless(cell.ci_low_percent, cell.ci_high_percent))
    .map((cell) => Math.max(distance(cell.ci_low_percent), distance(cell.ci_high_percent)))
    .sort((a, b) => a - b);
  const usual = ends[Math.ceil(ends.length * 0.9) - 1] ?? 1;
  // Not spread into Math.max: a large matrix has more effects than a call takes arguments.
  return roundUp(effects.reduce((most, effect) => Math.max(most, effect), Math.max(1, usual)));
}
