/** What the list of experiments is asked for, as it stands in the address. */

import type { ExperimentState, Verdict } from "../api/types";

export const PAGE_SIZE = 50;
export const STATES: readonly ExperimentState[] = [
  "queued",
  "running",
  "finished",
  "failed",
  "cancelled",
];
export const VERDICTS: readonly Verdict[] = ["worse", "better", "same", "undecided"];
export const SORTS = ["newest", "oldest", "name", "effect"] as const;
export type Sort = (typeof SORTS)[number];

/** Words of the address that leave experiments out, each with what it is called. */
export const FILTERS = {
  find: "words",
  state: "state",
  verdict: "verdict",
  workload: "workload",
  mode: "mode",
  host: "host",
  who: "submitted by",
  since: "from",
  until: "to",
} as const;
export type Filter = keyof typeof FILTERS;

export interface Asked {
  find?: string;
  state?: ExperimentState[];
  verdict?: Verdict;
  workload?: string;
  mode?: string;
  host?: string;
  who?: string;
  since?: string;
  until?: string;
  sort?: Sort;
  offset?: number;
}

const WORDS = ["find", "workload", "mode", "host", "who"] as const;
const DAYS = ["since", "until"] as const;
const LONGEST = 200;

/** What an address asks for; what says nothing is left out, so that no typing error is a problem. */
export function askedBy(search: URLSearchParams): Asked {
  const asked: Asked = {};
  for (const name of WORDS) {
    const value = search.get(name)?.trim().slice(0, LONGEST) ?? "";
    if (value !== "") asked[name] = value;
  }
  for (const name of DAYS) {
    const value = search.get(name) ?? "";
    if (/^\d{4}-\d{2}-\d{2}$/.test(value)) asked[name] = value;
  }
  const states = STATES.filter((state) => search.getAll("state").includes(state));
  if (states.length > 0) asked.state = states;
  const verdict = VERDICTS.find((each) => each === search.get("verdict"));
  if (verdict) asked.verdict = verdict;
  const sort = SORTS.find((each) => each === search.get("sort"));
  if (sort && sort !== "newest") asked.sort = sort;
  const page = pageOf(search);
  if (page > 1) asked.offset = (page - 1) * PAGE_SIZE;
  return asked;
}

/** The page that an address asks for, from 1. */
export function pageOf(search: URLSearchParams): number {
  const text = search.get("page") ?? "";
  return /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 1;
}

/** The filters that an address sets. */
export function filtersOf(asked: Asked): Filter[] {
  return (Object.keys(FILTERS) as Filter[]).filter((name) => asked[name] !== undefined);
}

/** The address after a change, on its first page; an empty value takes the word out. */
export function changed(search: URLSearchParams, name: string, value: string): URLSearchParams {
  const after = new URLSearchParams(search);
  if (value === "") after.delete(name);
  else after.set(name, value);
  if (name !== "page" || value === "1") after.delete("page");
  return after;
}
