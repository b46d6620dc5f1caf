/** Files of what is shown, made here from the figures at hand. */

import { useState } from "react";
import { useSearchParams } from "wouter";
import type { Profile } from "./decode";
import { fileName, save } from "../picture/file";
import { csv } from "../picture/csv";
import { folded, stackTable } from "./export/folded";
import { png } from "./export/png";
import { speedscope } from "./export/speedscope";
import { svg } from "./export/svg";
import type { Scene } from "./figure";
import { cut } from "./layout";
import { legend } from "./words";
import { dataQuery } from "./state";

const WIDTH_PX = 1400;

interface ExportProps {
  scene: Scene;
  profile: Profile;
  zoom: number;
  /** What of the profiles is drawn, where it is not all: "Callers of f". */
  part?: string;
}

export function Exports({ scene, profile, zoom, part = "" }: ExportProps) {
  const { meta } = profile;
  const { tree } = scene.figure;
  const [query] = useSearchParams();
  const [problem, setProblem] = useState("");
  const drawn = () => cut(scene.figure.tree, scene.figure.layout, zoom, WIDTH_PX);
  const title = `${part === "" ? "" : `${part}: `}${meta.title} on ${meta.host}: ${meta.a.label} and ${meta.b.label}, ${meta.unit}${meta.emulated ? ", emulated" : ""}${meta.counted ? ", counted time" : ""}`;
  const words = [part, meta.title, meta.a.label, "vs", meta.b.label, meta.basis];
  const keep = (content: BlobPart[], type: string, ending: string) => {
    save(new Blob(content, { type }), fileName(words, ending));
  };
  const keepFolded = (sides: ("a" | "b")[]) => {
    const ending = sides.length === 2 ? "folded" : `${sides.join("")}.folded`;
    keep(folded(tree, meta.names, sides), "text/plain", ending);
  };
  const picture = async () => {
    const blob = await png(scene, drawn(), [
      title,
      legend(scene.look, scene.figure.whole, meta.unit),
    ]);
    if (blob) save(blob, fileName(words, "png"));
    setProblem(blob ? "" : "The browser could not make this picture; the SVG has the same.");
  };
  const kinds: [string, string, () => unknown][] = [
    [
      "SVG",
      "This view, with every figure on hover",
      () => {
        const colours = legend(scene.look, scene.figure.whole, meta.unit);
        keep([svg(scene, drawn(), [title, colours], meta.unit)], "image/svg+xml", "svg");
      },
    ],
    ["PNG", "This view as a picture", picture],
    [
      "CSV",
      "Every stack with what it cost by itself, a row a stack",
      () => {
        keep([csv(stackTable(tree, meta))], "text/csv", "csv");
      },
    ],
  ];
  // Other programs merge stacks by themselves: they are given those that were sampled.
  const forPrograms: typeof kinds = [
    [
      "Folded A and B",
      "One stack a line with both costs, as difffolded.pl writes",
      () => {
        keepFolded(["a", "b"]);
      },
    ],
    [
      "Folded A",
      "Stacks of A alone",
      () => {
        keepFolded(["a"]);
      },
    ],
    [
      "Folded B",
      "Stacks of B alone",
      () => {
        keepFolded(["b"]);
      },
    ],
    [
      "speedscope",
      "Both profiles for speedscope.app",
      () => {
        keep([JSON.stringify(speedscope(meta, tree))], "application/json", "speedscope.json");
      },
    ],
  ];
  return (
    <div className="exports">
      <span className="faint small">Save as</span>
      <div className="buttons">
        {[...kinds, ...(part === "" ? forPrograms : [])].map(([word, meaning, make]) => (
          <button
            key={word}
            type="button"
            className="button"
            title={meaning}
            onClick={() => void make()}
          >
            {word}
          </button>
        ))}
        {part === "" && meta.svg_by !== null && (
          <a
            className="button"
            href={`/api/profiles/diff.svg?${dataQuery(query)}`}
            title={`The whole comparison, drawn by ${meta.svg_by}`}
            download
          >
            SVG by {meta.svg_by === "flamegraph.pl" ? "FlameGraph" : "inferno"}
          </a>
        )}
      </div>
      {problem !== "" && <p role="alert">{problem}</p>}
    </div>
  );
}
