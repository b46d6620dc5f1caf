/** Files of what a page shows, and of the values behind it. */

import { useRef } from "react";

interface DownloadProps {
  /** Address and what it holds. */
  files: readonly (readonly [path: string, label: string])[];
}

/** A menu of links; it closes by Escape and when the focus leaves it. */
export function Download({ files }: DownloadProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (menu.current) menu.current.open = false;
  };
  return (
    <details
      className="download"
      ref={menu}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        close();
        menu.current?.querySelector("summary")?.focus();
      }}
      onBlur={(event) => {
        // Null also where a browser gives a clicked link no focus: then the click must reach it.
        const to = event.relatedTarget;
        if (to !== null && !event.currentTarget.contains(to)) close();
      }}
    >
      <summary className="button">Download</summary>
      <ul>
        {files.map(([path, label]) => (
          <li key={path}>
            <a href={path} download>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}

type Files = DownloadProps["files"];

const MATRIX = [
  ["matrix.csv", "Matrix as CSV"],
  ["matrix.json", "Matrix as JSON"],
] as const;
const ITERATIONS = [
  ["iterations.csv", "Raw iterations as CSV"],
  ["iterations.jsonl", "Raw iterations as JSON lines"],
] as const;

/** The files of an experiment. */
export function filesOf(experimentId: number): Files {
  const files = [...MATRIX, ...ITERATIONS];
  return files.map(([name, label]) => [`/api/experiments/${experimentId}/${name}`, label]);
}

/** The raw values of one case on one host. */
export function filesOfCase(experimentId: number, caseId: number, host: string): Files {
  const query = new URLSearchParams({ case: String(caseId), host }).toString();
  return ITERATIONS.map(([name, label]) => [
    `/api/experiments/${experimentId}/${name}?${query}`,
    label,
  ]);
}
