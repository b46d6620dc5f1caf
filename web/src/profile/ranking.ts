/** The order of the table of functions. */

import { byName } from "../format/natural";
import { change } from "./colour";
import type { Functions, Measure } from "./decode";

export const SORTS = [
  "name",
  "self_a",
  "self_b",
  "total_a",
  "total_b",
  "difference",
  "interval",
  "q",
  "change",
] as const;
export type Sort = (typeof SORTS)[number];

/** The part of the difference that the interval vouches for; zero if it spans zero. */
export function vouched(low: number, high: number): number {
  if (low > 0) return low;
  if (high < 0) return high;
  return Number.isNaN(low) || Number.isNaN(high) ? NaN : 0;
}

/** What a row is sorted by; NaN where it has no such number. */
function sortValue(functions: Functions, measure: Measure, sort: Sort, row: number): number {
  const at = (values: Float32Array) => values[row] ?? NaN;
  switch (sort) {
    case "self_a":
      return at(functions.self.a);
    case "self_b":
      return at(functions.self.b);
    case "total_a":
      return at(functions.total.a);
    case "total_b":
      return at(functions.total.b);
    case "interval":
      return vouched(at(measure.low), at(measure.high));
    case "q":
      return at(measure.q);
    case "change":
      return change(at(measure.a), at(measure.b)) ?? NaN;
    default:
      return at(measure.b) - at(measure.a);
  }
}

export interface Order {
  measure: Measure;
  sort: Sort;
  descending: boolean;
  /** 1 for each symbol to be listed; null lists all. */
  matching: Uint8Array | null;
}

/** The rows in order; those without a number come last either way. */
export function ranked(functions: Functions, names: readonly string[], order: Order): number[] {
  const { matching, sort } = order;
  const name = (row: number) => names[functions.symbol[row] ?? 0] ?? "";
  const rows = [...functions.symbol.keys()].filter(
    (row) => matching === null || matching[functions.symbol[row] ?? 0] === 1,
  );
  const turn = order.descending ? -1 : 1;
  const named = byName(rows, name);
  if (sort === "name") return turn < 0 ? named.reverse() : named;
  const values = Float64Array.from(functions.symbol, (_, row) =>
    sortValue(functions, order.measure, sort, row),
  );
  // Stable: of equal values, names are in their order.
  return named.sort((x, y) => {
    const [left, right] = [values[x] ?? NaN, values[y] ?? NaN];
    if (Number.isNaN(left) || Number.isNaN(right)) {
      return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
    }
    return turn * (left - right);
  });
}
