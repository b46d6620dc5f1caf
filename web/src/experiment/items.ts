/** A matrix as one list of lines: rows, and headings where host or workload changes. */

import type { Row } from "../api/types";

export type Item =
  { kind: "group"; key: string; name: string } | { kind: "row"; key: string; row: Row };

export function placeOf(row: Row): string {
  return `${row.host} · ${row.workload}`;
}

function rowItem(row: Row): Item {
  return { kind: "row", key: `${row.host} ${row.case_id} ${row.metric}`, row };
}

/** Rows in their order; under headings only where they stand as planned. */
export function itemsOf(rows: readonly Row[], headings: boolean): Item[] {
  if (!headings) return rows.map(rowItem);
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const name = placeOf(row);
    const group = groups.get(name);
    if (group) group.push(row);
    else groups.set(name, [row]);
  }
  return [...groups].flatMap(([name, members]) => [
    { kind: "group" as const, key: `group ${name}`, name },
    ...members.map(rowItem),
  ]);
}

/** A line of the matrix and one of its columns, 0 being the case. */
export interface Place {
  index: number;
  column: number;
}

const PAGE_OF_ROWS = 10;

/** The nearest row at or beyond `index` in the direction of `by`; null where there is none. */
function rowAt(items: readonly Item[], index: number, by: 1 | -1): number | null {
  for (let at = index; at >= 0 && at < items.length; at += by) {
    if (items[at]?.kind === "row") return at;
  }
  return null;
}

/** `count` rows further, or as far as there are rows. */
function rowsFurther(items: readonly Item[], from: number, count: number, by: 1 | -1): number {
  let at = from;
  for (let step = 0; step < count; step++) at = rowAt(items, at + by, by) ?? at;
  return at;
}

/** Where a key leads from a place; null for a key that leads nowhere. */
export function step(
  items: readonly Item[],
  columns: number,
  { index, column }: Place,
  key: string,
): Place | null {
  switch (key) {
    // The last line has none after it: the page's own key then goes to what follows the matrix.
    case "j":
    case "k": {
      const by = key === "j" ? 1 : -1;
      const at = rowAt(items, index + by, by);
      return at === null ? null : { index: at, column };
    }
    case "ArrowDown":
      return { index: rowsFurther(items, index, 1, 1), column };
    case "ArrowUp":
      return { index: rowsFurther(items, index, 1, -1), column };
    case "PageDown":
      return { index: rowsFurther(items, index, PAGE_OF_ROWS, 1), column };
    case "PageUp":
      return { index: rowsFurther(items, index, PAGE_OF_ROWS, -1), column };
    case "Home":
      return { index: rowAt(items, 0, 1) ?? index, column };
    case "End":
      return { index: rowAt(items, items.length - 1, -1) ?? index, column };
    case "ArrowLeft":
      return { index, column: Math.max(0, column - 1) };
    case "ArrowRight":
      return { index, column: Math.min(columns, column + 1) };
    default:
      return null;
  }
}

/** The heading above a line, or null. */
export function headingAbove(items: readonly Item[], index: number): number | null {
  for (let at = Math.min(index, items.length - 1); at >= 0; at--) {
    if (items[at]?.kind === "group") return at;
  }
  return null;
}
