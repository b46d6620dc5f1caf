import { useId, useMemo, useRef } from "react";
import { useKey } from "../ui/use-key";
import { understood } from "./search";

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
