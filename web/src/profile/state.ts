/** What the address says: which data, which belongs to the service, and how it is looked at. */

import { COLOURS, type Colour } from "./colour";
import { VIEWS, type View } from "./figure";
import { WIDTHS, type Width } from "./layout";
import { SORTS, type Sort } from "./ranking";

export const TABS = ["graph", "functions", "sandwich", "instructions", "exact"] as const;
export type Tab = (typeof TABS)[number];
/** Beside these: what each function costs in every arm, a page that asks the service otherwise. */
export const ARMS_TAB = "arms";

export const MEASURES = ["self", "total"] as const;
export type MeasureName = (typeof MEASURES)[number];

export const LINES = ["near", "all"] as const;
export type Lines = (typeof LINES)[number];

export const ROWS = ["changed", "all"] as const;
export type Rows = (typeof ROWS)[number];

/** How the difference is looked at; none of it is the service's business. */
export interface ViewState {
  tab: Tab;
  view: View;
  width: Width;
  colour: Colour;
  greying: boolean;
  search: string;
  /**
   * Path ids of the zoomed frames: of the graph, and of the sandwich's two halves. The graph
   * without one opens where it differs; WHOLE is all of it.
   */
  zoom: string;
  callers: string;
  callees: string;
  /** Name of the function of the sandwich. */
  fn: string;
  /** Of the table of instructions: those near a change, or all. */
  lines: Lines;
  /** Of the table of exact counts: functions that differ, or all. */
  rows: Rows;
  measure: MeasureName;
  sort: Sort;
  descending: boolean;
  page: number;
}

/** The zoom that shows the whole graph. */
export const WHOLE = "all";

const VIEW_KEYS = new Set([
  ...["tab", "view", "width", "colour", "sig", "q", "zoom", "callers", "callees"],
  ...["fn", "lines", "rows", "of", "sort", "page"],
]);

function oneOf<T extends string>(values: readonly [T, ...T[]], text: string | null): T {
  return values.find((value) => value === text) ?? values[0];
}

/** Wrong or absent values mean the default: an old link still shows something. */
export function viewState(query: URLSearchParams): ViewState {
  const sort = query.get("sort") ?? "-difference";
  const page = Number(query.get("page") ?? "1");
  return {
    tab: oneOf(TABS, query.get("tab")),
    view: oneOf(VIEWS, query.get("view")),
    width: oneOf(WIDTHS, query.get("width")),
    colour: oneOf(COLOURS, query.get("colour")),
    greying: query.get("sig") !== "0",
    search: query.get("q") ?? "",
    zoom: query.get("zoom") ?? "",
    callers: query.get("callers") ?? "",
    callees: query.get("callees") ?? "",
    fn: query.get("fn") ?? "",
    lines: oneOf(LINES, query.get("lines")),
    rows: oneOf(ROWS, query.get("rows")),
    measure: oneOf(MEASURES, query.get("of")),
    sort: SORTS.find((name) => name === sort.replace(/^-/, "")) ?? "difference",
    descending: sort.startsWith("-"),
    page: Number.isInteger(page) && page > 0 ? page : 1,
  };
}

/** The part of the address that the service is asked with; sorted, so that it is a key. */
export function dataQuery(query: URLSearchParams): string {
  const asked = new URLSearchParams([...query].filter(([name]) => !VIEW_KEYS.has(name)));
  asked.sort();
  return asked.toString();
}

export type Changes = Record<string, string | null>;

/** The same query with some values set; null takes one away. */
export function changed(query: URLSearchParams, changes: Changes): URLSearchParams {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") next.delete(name);
    else next.set(name, value);
  }
  return next;
}
