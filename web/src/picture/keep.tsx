/** What is kept of a page: a drawing as SVG and PNG with what it is written on it, and figures as CSV. */

import { type ReactNode, useRef, useState } from "react";
import { csv, type Table } from "./csv";
import { rasterised, standalone } from "./drawing";
import { fileName, save } from "./file";
import "./picture.css";

export interface KeepProps {
  title: string;
  /** Further lines: unit, hosts, marks. Empty ones are left out. */
  lines: string[];
  /** The figures behind the drawing, or the address that serves them. */
  table: (() => Table) | string;
  /** Draws below these lines what is no drawing on the page; else the first one on it is taken. */
  draw?: (lines: string[]) => string;
  /** Where many stand side by side. */
  quiet?: boolean;
  children: ReactNode;
}

/** "emulated, counted time"; empty for figures of real hosts. */
export function marks(of: { emulated: boolean; counted: boolean }): string {
  return [...(of.emulated ? ["emulated"] : []), ...(of.counted ? ["counted time"] : [])].join(", ");
}

interface SaveCsvProps {
  title: string;
  table: () => Table;
  look: string;
}

function SaveCsv({ title, table, look }: SaveCsvProps) {
  return (
    <button
      type="button"
      className={look}
      onClick={() => {
        save(new Blob([csv(table())], { type: "text/csv" }), fileName([title], "csv"));
      }}
    >
      CSV
    </button>
  );
}

function SaveAs({ title, children }: Pick<KeepProps, "title" | "children">) {
  return (
    <div className="keep-as small" role="group" aria-label={`Save as, ${title}`}>
      <span className="faint" aria-hidden="true">
        Save as
      </span>
      {children}
    </div>
  );
}

/** A table with a way to keep its figures: as a picture it is printed. */
export function KeepFigures({
  title,
  table,
  children,
}: Pick<KeepProps, "title" | "children"> & { table: () => Table }) {
  return (
    <div className="keep">
      {children}
      <SaveAs title={title}>
        <SaveCsv {...{ title, table }} look="button" />
      </SaveAs>
    </div>
  );
}

/** The mark of an arm in a legend is a drawing, too, and none that one keeps. */
const DRAWING = "svg:not(.arm-mark)";

export function Keep({ title, lines, table, draw, quiet = false, children }: KeepProps) {
  const box = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState("");
  const drawn = () => {
    const words = [title, ...lines.filter((line) => line !== "")];
    if (draw !== undefined) return draw(words);
    const found = box.current?.querySelector<SVGSVGElement>(DRAWING);
    return found ? standalone(found, words) : null;
  };
  const keepSvg = () => {
    const svg = drawn();
    if (svg !== null) save(new Blob([svg], { type: "image/svg+xml" }), fileName([title], "svg"));
  };
  const keepPng = async () => {
    const svg = drawn();
    const blob = svg === null ? null : await rasterised(svg).catch(() => null);
    if (blob !== null) save(blob, fileName([title], "png"));
    setProblem(blob === null ? "The browser could not make this picture; take the SVG." : "");
  };
  const look = quiet ? "fold-away" : "button";
  return (
    <div className="keep" ref={box}>
      {children}
      <SaveAs title={title}>
        <button type="button" className={look} onClick={keepSvg}>
          SVG
        </button>
        <button type="button" className={look} onClick={() => void keepPng()}>
          PNG
        </button>
        {typeof table === "string" ? (
          <a className={look} href={table} download>
            CSV
          </a>
        ) : (
          <SaveCsv {...{ title, table, look }} />
        )}
        {problem !== "" && <span role="alert">{problem}</span>}
      </SaveAs>
    </div>
  );
}
