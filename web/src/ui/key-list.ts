/** Keys of parts of a page that are shown now, for the list of keys. */

import { useEffect, useSyncExternalStore } from "react";

export interface KeyList {
  title: string;
  keys: readonly (readonly [key: string, does: string])[];
}

let lists: readonly KeyList[] = [];
const watchers = new Set<() => void>();

function change(to: readonly KeyList[]): void {
  lists = to;
  for (const watcher of watchers) watcher();
}

function watch(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}

/** Adds keys to the list while its part of the page is there. */
export function useKeyList(list: KeyList): void {
  useEffect(() => {
    change([...lists, list]);
    return () => {
      // Once: the same list may be of several parts.
      const at = lists.indexOf(list);
      change(lists.filter((_, place) => place !== at));
    };
  }, [list]);
}

export function useKeyLists(): readonly KeyList[] {
  return useSyncExternalStore(watch, () => lists);
}

/** Opens the list; `Keys` listens. */
export const SHOW_KEYS = "mitigauge:show-keys";

export function showKeys(): void {
  window.dispatchEvent(new Event(SHOW_KEYS));
}
