import { useMemo } from "react";
import type { Figure } from "./figure";
import { matches, understood, type Matches } from "./search";

/** What the search finds; null while nothing, or nothing sound, is searched. */
export function useMatches({ tree, layout, names }: Figure, text: string): Matches | null {
  return useMemo(() => {
    const test = understood(text);
    return typeof test === "function" ? matches(tree, layout, names, test) : null;
  }, [tree, layout, names, text]);
}
