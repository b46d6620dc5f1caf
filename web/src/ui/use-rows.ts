/** Walking by keys through the rows of a page that lead somewhere, whichever table they stand in. */

import { useKey } from "./use-key";

const ROWS = "main tbody > tr, main .lines > li, main .found-list > li";

/** Where a row leads: its own link, which a cell's may follow. */
function linkOf(row: Element): HTMLElement | null {
  const links = [
    ...row.querySelectorAll<HTMLElement>("th[scope='row'] a[href]"),
    ...row.querySelectorAll<HTMLElement>("a[href]"),
  ];
  return links.find((link) => link.checkVisibility()) ?? null;
}

/** The row that is meant after the one with the keyboard; without one, the first in sight. */
export function nextRow(by: 1 | -1): HTMLElement | null {
  const rows = [...document.querySelectorAll(ROWS)].flatMap((row) => linkOf(row) ?? []);
  const here = document.activeElement?.closest(ROWS);
  if (here) {
    const at = rows.findIndex((link) => here.contains(link));
    return rows[at + by] ?? null;
  }
  const inSight = rows.find((link) => link.getBoundingClientRect().bottom > 0);
  return inSight ?? rows[0] ?? null;
}

function walk(by: 1 | -1): void {
  const link = nextRow(by);
  link?.focus({ preventScroll: true });
  link?.closest(ROWS)?.scrollIntoView({ block: "nearest" });
}

/** A table with a cursor of its own takes the keys first, where the cursor is. */
export function useRowKeys(): void {
  useKey(
    "j",
    () => {
      walk(1);
    },
    { last: true },
  );
  useKey(
    "k",
    () => {
      walk(-1);
    },
    { last: true },
  );
}
