import type { Found, FoundKind } from "../api/types";

/** What kinds are called, one and several. */
export const KIND: Record<FoundKind, { one: string; several: string }> = {
  experiment: { one: "experiment", several: "Experiments" },
  regression: { one: "regression", several: "Regressions" },
  bisection: { one: "bisection", several: "Bisections" },
  series: { one: "series", several: "Series" },
  trend: { one: "trend", several: "Trends" },
  host: { one: "host", several: "Hosts" },
  kernel: { one: "kernel", several: "Kernels" },
  week: { one: "week", several: "Weeks" },
};

/** Of a kind, in the list below the search field. */
export const FEW = 5;
/** Of a kind, on the page of its own. */
export const MANY = 50;
export const LONGEST = 200;

export function findPath(text: string): string {
  return `/find?${new URLSearchParams({ q: text.trim() }).toString()}`;
}

/** `#17 ` before the detail of what has a number; a name that differs from the title as it is. */
export function numberOf({ id, title }: Found): string {
  if (id === title) return "";
  return /^\d+$/.test(id) ? `#${id} ` : `${id} `;
}
