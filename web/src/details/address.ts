/** What of a case's details is shown, as the address says it. */

import { useSearchParams } from "wouter";

/** One parameter of the address among known words; one that is unknown means the first. */
export function useChoice(name: string, known: readonly string[]): [string, (to: string) => void] {
  const [search, setSearch] = useSearchParams();
  const first = known[0] ?? "";
  const asked = search.get(name);
  const chosen = asked !== null && known.includes(asked) ? asked : first;
  const choose = (to: string) => {
    setSearch(
      (before) => {
        if (to === first) before.delete(name);
        else before.set(name, to);
        return before;
      },
      { replace: true },
    );
  };
  return [chosen, choose];
}
