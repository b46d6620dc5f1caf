/** What the table of functions shows is all in the address. */

import type { Functions, Row } from "../api/types";
import { ARMS_TAB } from "../profile/state";

type ArmOfFunctions = Functions["arms"][number];

export type Sort = "difference" | "cost" | "q" | "name";
export type Measure = "self" | "total";
export type Basis = "operation" | "share" | "raw";
export type Where = "host" | "guest";

/** Changes of the address; "" takes a value out of it. */
export type Change = (changes: Record<string, string>, replace?: boolean) => void;

export interface Asked {
  experiment: number;
  case: number;
  host: string;
  where: Where;
  basis: Basis | null;
  measure: Measure;
  sort: Sort;
  /** The arm to sort by; empty: all of them. */
  arm: string;
  upwards: boolean;
  search: string;
  page: number;
}

export const ROWS_A_PAGE = 50;
export const LONGEST_SEARCH = 200;
const MOST_PAGES = 20_000;

function whole(text: string | null): number | null {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}

function oneOf<T extends string>(text: string | null, known: readonly T[]): T | null {
  return known.find((value) => value === text) ?? null;
}

/** Null where the address does not name a case on a host. */
export function asked(address: URLSearchParams): Asked | null {
  const [experiment, caseId] = [whole(address.get("experiment")), whole(address.get("case"))];
  const host = address.get("host") ?? "";
  if (experiment === null || caseId === null || host === "") return null;
  return {
    ...{ experiment, case: caseId, host },
    where: oneOf(address.get("where"), ["host", "guest"]) ?? "host",
    basis: oneOf(address.get("basis"), ["operation", "share", "raw"]),
    measure: oneOf(address.get("of"), ["self", "total"]) ?? "self",
    sort: oneOf(address.get("sort"), ["difference", "cost", "q", "name"]) ?? "difference",
    arm: address.get("arm") ?? "",
    upwards: address.get("up") === "1",
    search: (address.get("search") ?? "").slice(0, LONGEST_SEARCH),
    page: Math.min(whole(address.get("page")) ?? 1, MOST_PAGES),
  };
}

/** Where the functions of a row's case are. */
export function functionsPath(experiment: number, row: Pick<Row, "case_id" | "host">): string {
  return pathOf({ experiment: String(experiment), case: String(row.case_id), host: row.host });
}

/** The same from a page of two arms, which are kept for the way back; null where it has no case. */
export function armsPath(address: URLSearchParams): string | null {
  if (asked(address) === null) return null;
  const kept = ["experiment", "case", "host", "a", "b"];
  return pathOf(Object.fromEntries([...address].filter(([name]) => kept.includes(name))));
}

function pathOf(query: Record<string, string>): string {
  return `/profiles?${new URLSearchParams({ tab: ARMS_TAB, ...query }).toString()}`;
}

/** Two arms for the pages that compare two: those of the address, else the first to the baseline. */
export function pairOf(
  address: URLSearchParams,
  arms: readonly Pick<ArmOfFunctions, "arm" | "is_baseline" | "profiles">[],
): [a: string, b: string] | null {
  const [a, b] = [address.get("a"), address.get("b")];
  if (a !== null && b !== null) return [a, b];
  const baseline = arms.find((arm) => arm.is_baseline && arm.profiles > 0);
  const other = arms.find((arm) => !arm.is_baseline && arm.profiles > 0);
  return baseline && other ? [baseline.arm, other.arm] : null;
}
