import { useEffect, useRef, useState } from "react";

/** Browsers refuse addresses that change with every letter. */
const PAUSE_MS = 250;

/** What is being typed, at once; the address follows after a pause. */
export function useSearch(inAddress: string, write: (text: string) => void) {
  const [typed, setTyped] = useState({ text: inAddress, seen: inAddress });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The address changed: by what was typed, or by other means such as going back, which wins.
  if (typed.seen !== inAddress) setTyped({ text: inAddress, seen: inAddress });
  useEffect(
    () => () => {
      clearTimeout(timer.current);
    },
    [inAddress],
  );
  const type = (text: string) => {
    setTyped({ text, seen: inAddress });
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      write(text);
    }, PAUSE_MS);
  };
  return [typed.text, type] as const;
}
