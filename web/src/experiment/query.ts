/** Which rows of the matrices are shown, and in which order: all of it is in the address. */

import type { Cell, Comparison, Row } from "../api/types";
import { isMeasured } from "./scale";

export const OUTCOMES = [
  "worse",
  "better",
  "same",
  "undecided",
  "not_effective",
  "no_data",
] as const;
/** What a cell says: a verdict, or why there is none. */
export type Outcome = (typeof OUTCOMES)[number];

/** The outcomes in which an arm differs from the baseline beyond chance. */
export const DIFFERING: readonly Outcome[] = ["worse", "better"];

export const SORTS = ["plan", "effect", "worst", "best"] as const;
export type Sort = (typeof SORTS)[number];

export interface MatrixQuery {
  /** All metrics, or the primary ones alone. */
  all: boolean;
  text: string;
  /** A row is shown if one of its arms has one of these; empty: any. */
  outcomes: readonly Outcome[];
  workload: string;
  host: string;
  /** The arm whose verdicts and effects count; empty: each of them. */
  arm: string;
  sort: Sort;
}

/** Wrong or absent values mean the default: an old link still shows something. */
export function matrixQuery(address: URLSearchParams): MatrixQuery {
  const wanted = new Set((address.get("verdict") ?? "").split(","));
  return {
    all: address.get("metrics") === "all",
    text: address.get("case") ?? "",
    outcomes: OUTCOMES.filter((outcome) => wanted.has(outcome)),
    workload: address.get("workload") ?? "",
    host: address.get("host") ?? "",
    arm: address.get("arm") ?? "",
    sort: SORTS.find((sort) => sort === address.get("sort")) ?? "plan",
  };
}

/** What takes every filter out of the address; metrics and order are none. */
export const NO_FILTER = { case: "", verdict: "", workload: "", host: "", arm: "" };

export function isFiltered(query: MatrixQuery): boolean {
  const { text, outcomes, workload, host } = query;
  return text.trim() !== "" || outcomes.length > 0 || workload !== "" || host !== "";
}

/** What an arm's cell says; null for the baseline, of which nothing is said. */
export function outcomeOf(cell: Cell): Outcome | null {
  if (cell.state === "baseline") return null;
  return cell.state === "measured" ? (cell.verdict ?? "undecided") : cell.state;
}

/** The cells that count: those of the chosen arm, or of every arm. */
function cellsOf(row: Row, armId: number | null): Cell[] {
  return armId === null ? row.cells : row.cells.filter((cell) => cell.arm_id === armId);
}

/** The id of the arm in this comparison: null for every arm, −1 where it has no such arm. */
function armId({ arms }: Pick<Comparison, "arms">, name: string): number | null {
  if (name === "") return null;
  return arms.find((arm) => arm.name === name)?.id ?? -1;
}

function haystack(row: Row): string {
  return `${row.case} ${row.workload} ${row.host} ${row.metric_title}`.toLowerCase();
}

function hasOutcome(row: Row, arm: number | null, outcomes: readonly Outcome[]): boolean {
  return cellsOf(row, arm).some((cell) => {
    const outcome = outcomeOf(cell);
    return outcome !== null && outcomes.includes(outcome);
  });
}

/** The rows that fit all but the filter of outcomes; each word of the text must be there. */
function fitting(rows: readonly Row[], query: MatrixQuery): Row[] {
  const words = query.text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    if (!query.all && !row.primary) return false;
    if (query.workload !== "" && row.workload !== query.workload) return false;
    if (query.host !== "" && row.host !== query.host) return false;
    if (words.length === 0) return true;
    const text = haystack(row);
    return words.every((word) => text.includes(word));
  });
}

/** How far the row's arms lie in the direction of the order; null without a measured effect. */
function rank(row: Row, arm: number | null, sort: Sort): number | null {
  const turn = sort === "plan" || sort === "effect" ? 0 : sort === "worst" ? 1 : -1;
  const bad = row.direction === "lower" ? turn : -turn;
  let most: number | null = null;
  for (const cell of cellsOf(row, arm)) {
    if (!isMeasured(cell)) continue;
    const size = bad === 0 ? Math.abs(cell.effect_percent) : bad * cell.effect_percent;
    if (most === null || size > most) most = size;
  }
  return most;
}

/** The rows in the wanted order; those without an effect come last, equal ones as planned. */
function ordered(rows: Row[], arm: number | null, sort: Sort): Row[] {
  if (sort === "plan") return rows;
  const ranks = new Map(rows.map((row) => [row, rank(row, arm, sort) ?? -Infinity]));
  return rows.toSorted((x, y) => {
    const [left, right] = [ranks.get(x) ?? 0, ranks.get(y) ?? 0];
    // Not a plain difference: −∞ − −∞ is not a number.
    return left === right ? 0 : right - left;
  });
}

/** The rows of a comparison that the address asks for, in its order. */
export function chosen(comparison: Comparison, query: MatrixQuery): Row[] {
  const arm = armId(comparison, query.arm);
  const fit = fitting(comparison.rows, query);
  const { outcomes } = query;
  const kept = outcomes.length === 0 ? fit : fit.filter((row) => hasOutcome(row, arm, outcomes));
  return ordered(kept, arm, query.sort);
}

/** By outcome, in how many rows an arm has it, of those that fit all other filters. */
export function outcomeCounts(
  comparisons: readonly Comparison[],
  query: MatrixQuery,
): Map<Outcome, number> {
  const counts = new Map<Outcome, number>();
  for (const comparison of comparisons) {
    const arm = armId(comparison, query.arm);
    for (const row of fitting(comparison.rows, query)) {
      const said = new Set(cellsOf(row, arm).map(outcomeOf));
      for (const outcome of said) {
        if (outcome !== null) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      }
    }
  }
  return counts;
}

/** What there is to choose from; a list of one is no choice. */
export interface Choices {
  workloads: string[];
  hosts: string[];
  arms: string[];
  secondary: boolean;
}

export function choices(comparisons: readonly Comparison[]): Choices {
  const rows = comparisons.flatMap((comparison) => comparison.rows);
  const others = comparisons.flatMap((c) => c.arms.filter((arm) => !arm.is_baseline));
  return {
    workloads: [...new Set(rows.map((row) => row.workload))],
    hosts: [...new Set(rows.map((row) => row.host))],
    arms: [...new Set(others.map((arm) => arm.name))],
    secondary: rows.some((row) => !row.primary),
  };
}
