import { useSyncExternalStore } from "react";
import { flushSync } from "react-dom";

const paper = () => matchMedia("print");

/** The event comes before the browser calls its medium paper. */
let begun = false;

function watch(changed: () => void): () => void {
  const begin = () => {
    begun = true;
    // The browser lays the paper out as soon as this event is over.
    flushSync(changed);
  };
  const end = () => {
    begun = false;
    changed();
  };
  const media = paper();
  media.addEventListener("change", changed);
  window.addEventListener("beforeprint", begin);
  window.addEventListener("afterprint", end);
  return () => {
    media.removeEventListener("change", changed);
    window.removeEventListener("beforeprint", begin);
    window.removeEventListener("afterprint", end);
  };
}

/** Whether the page is being printed: then a list holds more than the lines in sight. */
export function usePrinting(): boolean {
  return useSyncExternalStore(watch, () => begun || paper().matches);
}
