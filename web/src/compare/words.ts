/** What is said of rows that two experiments have in common. */

import type { PairRow, Unmatched, Verdict } from "../api/types";
import { effectDigits, interval, percent, signed } from "../format/quantity";

export const UNMATCHED: Record<Unmatched, string> = {
  "only-in-a": "only in A",
  "only-in-b": "only in B",
  "host-only-in-a": "on hosts of A without a pair",
  "host-only-in-b": "on hosts of B without a pair",
  "other-clock": "of another clock",
  "other-unit": "of another unit",
};

export const JUDGEMENT: Record<PairRow["judgement"], string> = {
  differs: "differs",
  "no-difference-seen": "no difference seen",
  "not-compared": "not compared",
};

/** Whether the arm costs more in B; colours repeat what the figure says. */
export function verdictOf(row: PairRow): Verdict {
  if (row.judgement !== "differs" || typeof row.difference_percent !== "number") return "undecided";
  return row.difference_percent > 0 === (row.direction === "lower") ? "worse" : "better";
}

/** The difference and its interval as they are written; points are no percent of anything. */
export function differenceParts(row: PairRow): { change: string; interval: string } | null {
  const { difference_percent: value, low_percent: low, high_percent: high } = row;
  if (typeof value !== "number" || typeof low !== "number" || typeof high !== "number") return null;
  const digits = effectDigits(low, high);
  return {
    change: row.is_points ? `${signed(value, digits)} points` : percent(value, digits),
    interval: `[${interval(low, high, digits)}]`,
  };
}

/** Of a list, each with its number: "12 only in A, 3 only in B". */
export function unmatchedText(counts: { reason: Unmatched; rows: number }[]): string {
  return counts.map(({ reason, rows }) => `${rows} ${UNMATCHED[reason]}`).join(", ");
}
