/** Other trends laid over one: each in parts of its own middle, on the scale of the first. */

import type { Trend } from "../api/types";
import { median } from "../picture/bulk";

/** More lines than that are no picture. */
export const MOST_OVER = 5;

/** Numbers of trends in the address, each once; anything else asks for nothing. */
export function overIn(search: URLSearchParams, own: number): number[] {
  const numbers = (search.get("over") ?? "")
    .split(",")
    .filter((word) => /^[1-9]\d{0,9}$/.test(word))
    .map(Number)
    .filter((number) => number !== own);
  return [...new Set(numbers)].slice(0, MOST_OVER);
}

export interface OverPoint {
  at: string;
  /** On the scale of the trend below. */
  value: number;
  /** In percent of the trend's own middle. */
  percent: number;
}

/** The values of *over* on the scale of *below*; none where either has no positive middle. */
export function laidOver(below: Trend, over: Trend): OverPoint[] {
  const [scale, middle] = [below, over].map((each) => median(each.values.map((v) => v.value)));
  if (scale === undefined || middle === undefined || !(scale > 0) || !(middle > 0)) return [];
  const [first, last] = [below.values[0]?.at ?? "", below.values.at(-1)?.at ?? ""].map(Date.parse);
  return over.values
    .filter((value) => {
      const at = Date.parse(value.at);
      return at >= (first ?? 0) && at <= (last ?? 0);
    })
    .map((value) => ({
      at: value.at,
      value: (value.value / middle) * scale,
      percent: (value.value / middle) * 100,
    }));
}

/** All values of the others on the scale of *below*. */
export function laidValues(below: Trend, over: readonly Trend[]): number[] {
  return over.flatMap((each) => laidOver(below, each).map(({ value }) => value));
}
