/** The part of a trend that the address asks for. */

import type { Trend } from "../api/types";

export interface Range {
  from: string | null;
  to: string | null;
}

/** What the address says; words that are no time ask for nothing. */
export function rangeOf(search: URLSearchParams): Range {
  const moment = (name: string) => {
    const text = search.get(name);
    return text === null || Number.isNaN(Date.parse(text)) ? null : text;
  };
  return { from: moment("from"), to: moment("to") };
}

export function isWhole({ from, to }: Range): boolean {
  return from === null && to === null;
}

/** The trend with the values, levels and changes of that time alone. */
export function within(trend: Trend, { from, to }: Range): Trend {
  const [low, high] = [
    from === null ? -Infinity : Date.parse(from),
    to === null ? Infinity : Date.parse(to),
  ];
  const inside = (at: string) => Date.parse(at) >= low && Date.parse(at) <= high;
  const first = trend.values.findIndex((value) => inside(value.at));
  if (first < 0) return { ...trend, values: [], levels: [], changes: [] };
  const values = trend.values.filter((value) => inside(value.at));
  const levels = trend.levels
    .map((level) => ({
      ...level,
      first: Math.max(level.first - first, 0),
      end: Math.min(level.end - first, values.length),
    }))
    .filter((level) => level.end > level.first);
  return {
    ...trend,
    values,
    levels,
    changes: trend.changes.filter((change) => inside(change.at)),
  };
}
