/** What is wrong with a text of YAML, beside the field that it was typed into. */

import type { RefObject } from "react";
import { ApiError } from "../api/client";

interface WhatIsWrongProps {
  error: Error;
  field: RefObject<HTMLTextAreaElement | null>;
}

/** The service's own words, with a way to the line that they name. */
export function WhatIsWrong({ error, field }: WhatIsWrongProps) {
  const lines = [
    ...new Set(
      [...error.message.matchAll(/(?:\bspec|\.yml):(\d{1,6})\b/g)].map((m) => Number(m[1])),
    ),
  ];
  return (
    <div className="problem" role="alert">
      <p className="said">{error.message}</p>
      {error instanceof ApiError && error.hint !== "" && <p className="small">{error.hint}</p>}
      {lines.length > 0 && (
        <p className="buttons">
          {lines.slice(0, 8).map((line) => (
            <button
              key={line}
              type="button"
              className="button"
              onClick={() => {
                if (field.current !== null) selectLine(field.current, line);
              }}
            >
              Go to line {line}
            </button>
          ))}
        </p>
      )}
    </div>
  );
}

function selectLine(field: HTMLTextAreaElement, line: number): void {
  const lines = field.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  field.focus();
  field.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  const height = field.scrollHeight / Math.max(1, lines.length);
  field.scrollTop = Math.max(0, (line - 4) * height);
}
