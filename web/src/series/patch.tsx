/** A patch as it will run: its lines, asked for once somebody opens it. */

import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { ApiError } from "../api/client";
import { patchTextQuery } from "../api/queries";
import type { Revision } from "../api/types";
import { counted } from "../format/quantity";
import { Loaded } from "../ui/answers";
import { readDiff } from "./diff";

type Patch = Revision["patches"][number];

interface PatchDiffProps {
  series: string;
  revision: string;
  /** From 1. */
  position: number;
  patch: Patch;
  /** From the beginning, where somebody has to look at it. */
  open: boolean;
}

export function PatchDiff({ series, revision, position, patch, open: begun }: PatchDiffProps) {
  const [open, setOpen] = useState(begun);
  const query = useQuery({
    ...patchTextQuery(series, revision, position, patch.sha256),
    enabled: open,
  });
  const gone = query.error instanceof ApiError && query.error.status === 404;
  return (
    <details
      className="small"
      open={open}
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>
        Diff <span className="faint">{patch.files.join(", ")}</span>
      </summary>
      {open && gone && (
        <p className="soft">
          The service gives no text of this patch; its digest is <code>{patch.sha256}</code>.
        </p>
      )}
      {open && !gone && (
        <Loaded query={query} part>
          {(text) => (
            <Lines
              text={text}
              patch={patch}
              href={`/api/series/${encodeURIComponent(series)}/${encodeURIComponent(revision)}/patches/${position}`}
            />
          )}
        </Loaded>
      )}
    </details>
  );
}

function Lines({ text, patch, href }: { text: string; patch: Patch; href: string }) {
  const diff = useMemo(() => readDiff(text), [text]);
  return (
    <>
      <p className="soft">
        {counted(diff.files, "file")}, {counted(diff.added, "line")} added,{" "}
        {counted(diff.removed, "line")} removed; sha256 <code>{patch.sha256.slice(0, 16)}</code>
      </p>
      <pre className="diff" tabIndex={0} aria-label={`Patch: ${patch.title}`}>
        {diff.lines.map((line, at) => (
          <span key={at} data-sign={line.sign}>
            {line.text}
            {"\n"}
          </span>
        ))}
      </pre>
      {diff.cut > 0 && (
        <p>
          <strong>{counted(diff.cut, "further line")} not shown.</strong>{" "}
          <a href={href} download={`${patch.sha256.slice(0, 16)}.patch`}>
            The whole patch
          </a>
        </p>
      )}
    </>
  );
}
