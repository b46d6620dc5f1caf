import { useCallback } from "react";
import { useSearchParams } from "wouter";

/** The words of the address, and what changes one of them; null takes it out. */
export function useAddress() {
  const [search, setSearch] = useSearchParams();
  const change = useCallback(
    (name: string, value: string | null) => {
      setSearch(
        (before) => {
          const after = new URLSearchParams(before);
          if (value === null) after.delete(name);
          else after.set(name, value);
          return after;
        },
        { replace: true },
      );
    },
    [setSearch],
  );
  return [search, change] as const;
}
