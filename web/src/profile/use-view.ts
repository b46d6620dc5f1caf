/** The state of a profile page, which its address holds. */

import { useMemo } from "react";
import { useLocation, useSearchParams } from "wouter";
import type { TabProps } from "./tab";
import { useSearch } from "../ui/use-search";
import { changed, viewState, type Changes } from "./state";

type View = Pick<TabProps, "state" | "text" | "change" | "address"> & {
  query: URLSearchParams;
  type: (text: string) => void;
};

/** What is shown and how, as the address has it, and how that is changed. */
export function useView(): View {
  const [query] = useSearchParams();
  const [, navigate] = useLocation();
  const state = useMemo(() => viewState(query), [query]);
  const change = (changes: Changes, replace = true) => {
    // The address of this moment: what was typed is written after other things were clicked.
    const now = new URLSearchParams(window.location.search);
    navigate(`?${changed(now, changes).toString()}`, { replace });
  };
  const address = (changes: Changes) => `?${changed(query, changes).toString()}`;
  const [text, type] = useSearch(state.search, (q) => {
    change({ q, page: null });
  });
  return { query, state, text, type, change, address };
}
