import { useEffect, useState, type FocusEvent, type KeyboardEvent, type RefObject } from "react";
import { type KeyList, useKeyList } from "../ui/key-list";
import { step, type Item, type Place } from "./items";

const KEYS: KeyList = {
  title: "The matrix",
  keys: [
    ["↑ ↓ ← →", "to the cell beside it, once one has the keyboard"],
    ["Page up, Page down", "ten rows"],
    ["Home, End", "to the first row, to the last"],
  ],
};

/** The line and column of an element of the matrix, or null outside of its links. */
function placeOf(target: EventTarget): Place | null {
  if (!(target instanceof HTMLElement)) return null;
  const cell = target.closest<HTMLElement>("th, td");
  const column = cell?.querySelector<HTMLElement>("[data-column]")?.dataset.column;
  const index = target.closest<HTMLElement>("[data-index]")?.dataset.index;
  if (column === undefined || index === undefined) return null;
  return { index: Number(index), column: Number(column) };
}

/** The link of a cell whose line is in the table. */
function linkAt(box: HTMLElement | null, { index, column }: Place): HTMLElement | null {
  return box?.querySelector(`[data-index="${index}"] [data-column="${column}"]`) ?? null;
}

/** Scrolls as little as shows the whole line. */
export function showLine(box: HTMLElement | null, { index }: Place): void {
  box?.querySelector(`[data-index="${index}"]`)?.scrollIntoView({ block: "nearest" });
}

function isSame(a: Place | null, b: Place): boolean {
  return a?.index === b.index && a.column === b.column;
}

/**
 * Walking through a matrix by arrow keys. `place` is the cell that the keyboard was on last;
 * the matrix must render its line, also where that is out of sight. `walked` is the place that
 * a key has just led to; the matrix must scroll its line into sight.
 */
export function useCursor(
  box: RefObject<HTMLElement | null>,
  items: readonly Item[],
  columns: number,
) {
  useKeyList(KEYS);
  const [place, setPlace] = useState<Place | null>(null);
  const [walked, setWalked] = useState<Place | null>(null);
  useEffect(() => {
    if (walked !== null) linkAt(box.current, walked)?.focus({ preventScroll: true });
  }, [box, walked]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.shiftKey) return;
    const from = placeOf(event.target);
    const to = from === null ? null : step(items, columns, from, event.key);
    if (to === null) return;
    event.preventDefault();
    setPlace(to);
    setWalked(to);
  };
  // A pointer may choose a line that is half in sight: to scroll it would take it from under it.
  const onFocus = (event: FocusEvent) => {
    const at = placeOf(event.target);
    if (at !== null) setPlace((before) => (isSame(before, at) ? before : at));
  };
  return { place, walked, handlers: { onKeyDown, onFocus } };
}
