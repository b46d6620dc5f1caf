/** Where two experiments stand beside each other, and what of them is asked for: all in the address. */

import type { PairCell, PairRow, PairSort } from "../api/types";

export const SORTS = ["difference", "plan", "q"] as const satisfies readonly PairSort[];
export const SORT_WORDS: Record<PairSort, string> = {
  difference: "largest first",
  plan: "as planned",
  q: "surest first",
};
const LONGEST = 200;

export interface Asked {
  a: number | null;
  b: number | null;
  find: string;
  workload: string;
  only: "" | "differs";
  sort: PairSort;
  /** Pairs of hosts: A's, a colon, B's. */
  hosts: string[];
}

function numberIn(text: string | null): number | null {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}

/** What an address asks for; what says nothing is left out. */
export function askedBy(search: URLSearchParams): Asked {
  const word = (name: string) => (search.get(name) ?? "").trim().slice(0, LONGEST);
  return {
    a: numberIn(search.get("a")),
    b: numberIn(search.get("b")),
    find: word("find"),
    workload: word("workload"),
    only: search.get("only") === "differs" ? "differs" : "",
    sort: SORTS.find((each) => each === search.get("sort")) ?? "difference",
    hosts: search.getAll("hosts").filter((each) => /^[^:]+:[^:]+$/.test(each)),
  };
}

/** The page of two experiments, or of the one that is chosen so far. */
export function comparePath(a?: number | null, b?: number | null): string {
  const search = new URLSearchParams({ tab: "compare" });
  if (a) search.set("a", String(a));
  if (b) search.set("b", String(b));
  return `/experiments?${search.toString()}`;
}

/** The same address with both sides changed over, and the hosts with them. */
export function swapped(search: URLSearchParams): URLSearchParams {
  const after = new URLSearchParams(search);
  for (const [name, from] of [
    ["a", "b"],
    ["b", "a"],
  ] as const) {
    const value = search.get(from);
    if (value === null) after.delete(name);
    else after.set(name, value);
  }
  after.delete("hosts");
  for (const each of search.getAll("hosts")) {
    after.append("hosts", each.split(":").reverse().join(":"));
  }
  return after;
}

/** The address with a host of A beside one of B; an empty one leaves it to the service. */
export function withPair(search: URLSearchParams, a: string, b: string): URLSearchParams {
  const after = new URLSearchParams(search);
  const kept = search.getAll("hosts").filter((each) => {
    const [ours, theirs] = each.split(":");
    return ours !== a && theirs !== b;
  });
  after.delete("hosts");
  for (const each of kept) after.append("hosts", each);
  if (b !== "") after.append("hosts", `${a}:${b}`);
  return after;
}

export function sidePath(experiment: number, cell: PairCell, metric: string): string {
  const query = new URLSearchParams({ host: cell.host, metric });
  return `/experiments/${experiment}/cases/${cell.case_id}?${query.toString()}`;
}

/** The differential flame graph of both experiments' boots of one arm. */
export function flamePath(a: number, b: number, row: PairRow): string {
  const search = new URLSearchParams({
    experiment: String(a),
    case: String(row.a.case_id),
    host: row.a.host,
    a: row.a.arm,
    b_experiment: String(b),
    b_case: String(row.b.case_id),
    b_host: row.b.host,
    b: row.b.arm,
  });
  return `/profiles?${search.toString()}`;
}
