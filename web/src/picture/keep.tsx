/** A drawing with the ways to keep it: as SVG and as PNG, each with what it is written on it. */

import { type ReactNode, useRef, useState } from "react";
import { rasterised, standalone } from "./drawing";
import { fileName, save } from "./file";
import "./picture.css";

interface KeepProps {
  title: string;
  /** Further lines: unit, hosts, marks. Empty ones are left out. */
  lines: string[];
  children: ReactNode;
}

/** "emulated, counted time"; empty for figures of real hosts. */
export function marks(of: { emulated: boolean; counted: boolean }): string {
  return [...(of.emulated ? ["emulated"] : []), ...(of.counted ? ["counted time"] : [])].join(", ");
}

export function Keep({ title, lines, children }: KeepProps) {
  const box = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState("");
  const drawn = () => {
    const found = box.current?.querySelector("svg");
    return found ? standalone(found, [title, ...lines.filter((line) => line !== "")]) : null;
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
  return (
    <div className="keep" ref={box}>
      {children}
      <p className="keep-as small">
        <span className="faint">Save as</span>
        <button type="button" className="button" onClick={keepSvg}>
          SVG
        </button>
        <button type="button" className="button" onClick={() => void keepPng()}>
          PNG
        </button>
        {problem !== "" && <span role="alert">{problem}</span>}
      </p>
    </div>
  );
}
