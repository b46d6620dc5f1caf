import { useEffect, useId, useMemo, useRef } from "react";
import { understood } from "./search";

/** Keys of the page, but not while someone types. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, select, textarea");
}

/** A page-wide key that does something, unless it belongs to a field. */
export function useKey(key: string, press: () => void): void {
  const latest = useRef(press);
  useEffect(() => {
    latest.current = press;
  });
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const other = event.ctrlKey || event.metaKey || event.altKey;
      if (event.key !== key || other || isTyping(event.target)) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener("keydown", pressed);
    return () => {
      document.removeEventListener("keydown", pressed);
    };
  }, [key]);
}

export function SearchField({ text, type }: { text: string; type: (text: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const problem = useId();
  const test = useMemo(() => understood(text), [text]);
  const wrong = test !== null && "wrong" in test ? test.wrong : null;
  useKey("/", () => field.current?.focus());
  return (
    <div className="profile-search">
      <label className="visually-hidden" htmlFor={`${problem}-field`}>
        Search functions
      </label>
      <input
        id={`${problem}-field`}
        ref={field}
        className="field"
        type="search"
        placeholder="Search: name or /expression/"
        autoComplete="off"
        spellCheck={false}
        value={text}
        aria-invalid={wrong !== null}
        aria-describedby={wrong === null ? undefined : problem}
        onChange={(event) => {
          type(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          type("");
          field.current?.blur();
        }}
      />
      {wrong !== null && (
        <p id={problem} className="small wrong" role="alert">
          {wrong}
        </p>
      )}
    </div>
  );
}
