import { useEffect, useRef } from "react";

/** Kinds of fields that take no letters. */
const TAKE_NO_LETTERS = new Set(["button", "checkbox", "radio", "range", "reset", "submit"]);

/** Keys of the page, but not while someone types. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !TAKE_NO_LETTERS.has(target.type);
  return target.isContentEditable || target.matches("select, textarea");
}

/** Whether a key is one of the page's: neither typed, nor part of a shortcut, nor of a dialog. */
function isOfPage(event: KeyboardEvent): boolean {
  const other = event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented;
  return !other && !isTyping(event.target) && document.querySelector("dialog[open]") === null;
}

/**
 * A page-wide key that does something. `last`: only where nothing else on the page has taken it.
 */
export function useKey(key: string, press: () => void, { last = false } = {}): void {
  const latest = useRef(press);
  useEffect(() => {
    latest.current = press;
  });
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== key || !isOfPage(event)) return;
      event.preventDefault();
      latest.current();
    };
    // An event comes to the window after the document.
    const target = last ? window : document;
    target.addEventListener("keydown", pressed as EventListener);
    return () => {
      target.removeEventListener("keydown", pressed as EventListener);
    };
  }, [key, last]);
}
