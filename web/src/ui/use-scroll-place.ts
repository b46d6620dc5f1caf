import { useEffect, useRef } from "react";

const PAUSE_MS = 200;
const KEY = "scrolled";

function kept(): number | null {
  const state: unknown = window.history.state;
  if (typeof state !== "object" || state === null || !(KEY in state)) return null;
  return typeof state[KEY] === "number" ? state[KEY] : null;
}

/**
 * Keeps how far the page is scrolled with its place in the history, and goes there once it is
 * ready: after a reload, and on the way back from another page.
 */
export function useScrollPlace(ready: boolean): void {
  const done = useRef(false);
  useEffect(() => {
    if (!ready || done.current) return;
    done.current = true;
    const place = kept();
    if (place !== null) window.scrollTo(0, place);
  }, [ready]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const keep = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const state: unknown = window.history.state;
        const others = typeof state === "object" ? state : {};
        window.history.replaceState({ ...others, [KEY]: window.scrollY }, "");
      }, PAUSE_MS);
    };
    window.addEventListener("scroll", keep, { passive: true });
    return () => {
      clearTimeout(timer);
      window.removeEventListener("scroll", keep);
    };
  }, []);
}
