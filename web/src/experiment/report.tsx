/** The report to take away: into the clipboard, or opened as text. */

import { useState } from "react";
import { ApiError } from "../api/client";

export type Format = "text" | "markdown";
const LABEL: Record<Format, string> = { text: "text", markdown: "Markdown" };

/** Copies, also where the page is not served over HTTPS and the clipboard is withheld. */
async function copy(text: string): Promise<void> {
  // Undefined outside of secure contexts, whatever the type says.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard) {
    await clipboard.writeText(text);
    return;
  }
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way without HTTPS
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("The browser did not allow copying; open the report instead.");
}

interface ReportProps {
  fetched: (format: Format) => Promise<string>;
  /** Address of the text. */
  href: string;
}

export function ReportButtons({ fetched, href }: ReportProps) {
  const [said, setSaid] = useState("");
  const take = async (format: Format) => {
    try {
      await copy(await fetched(format));
      setSaid(`Copied as ${LABEL[format]}.`);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : "";
      setSaid(`Not copied. ${why}${cause instanceof ApiError ? ` ${cause.hint}` : ""}`);
    }
  };
  return (
    <div className="buttons">
      <span className="faint on-screen">Report:</span>
      {(["text", "markdown"] as const).map((format) => (
        <button type="button" className="button" key={format} onClick={() => void take(format)}>
          Copy as {LABEL[format]}
        </button>
      ))}
      <a className="button" href={href}>
        Open
      </a>
      <span role="status" className="soft">
        {said}
      </span>
    </div>
  );
}
