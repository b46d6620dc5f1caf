/** The scale of a trend's picture: that of its bulk, so that no wild value flattens the others. */

import { median } from "./overlay";

/** So many robust standard deviations from the values around it, a value is wild. */
const REACH = 8;
/** Standard deviations of a normal distribution in its median absolute deviation. */
const OF_MAD = 1.4826;
/** Values before and after one that say where it should lie: two wild ones in a row are seen. */
const AROUND = 2;
const FEWEST = 6;
/** All is shown where that makes the picture of the bulk no flatter than this. */
const WORTHWHILE = 2.5;

/** Part of the middle below which scatter is none. */
export const LEAST_SCATTER = 0.01;

/** Where each value should lie by its neighbours: a step stays one, a spike does not. */
function around(values: readonly number[]): number[] {
  return values.map((_, at) => {
    const from = Math.max(Math.min(at - AROUND, values.length - 2 * AROUND - 1), 0);
    return median(values.slice(from, from + 2 * AROUND + 1));
  });
}

/**
 * Whether each value lies outside of the bulk, in the order of values; none does where all fit
 * into a picture. `least`: the scatter that is none, in the values' unit.
 */
export function wildOf(values: readonly number[], least: number): boolean[] {
  const none = values.map(() => false);
  if (values.length < FEWEST) return none;
  const middles = around(values);
  const off = values.map((value, at) => Math.abs(value - (middles[at] ?? value)));
  const reach = REACH * Math.max(OF_MAD * median(off), least);
  const wild = off.map((distance) => distance > reach);
  const bulk = values.filter((_, at) => !wild[at]);
  if (bulk.length === values.length || bulk.length === 0) return none;
  return span(values) > WORTHWHILE * Math.max(span(bulk), reach / REACH) ? wild : none;
}

function span(values: readonly number[]): number {
  return Math.max(...values) - Math.min(...values);
}

/** The scatter that is none, of values with a middle. */
export function leastOf(values: readonly number[]): number {
  return LEAST_SCATTER * Math.abs(median(values)) || Number.MIN_VALUE;
}

export interface Scale {
  low: number;
  high: number;
}

/** At which edge a value is drawn that the scale does not reach; null: it lies inside. */
export function edgeOf(value: number, { low, high }: Scale): "above" | "below" | null {
  if (value > high) return "above";
  return value < low ? "below" : null;
}
