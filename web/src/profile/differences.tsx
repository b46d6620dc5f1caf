/** Above the graph: the functions that differ, and which part of the graph is shown and why. */

import { useMemo } from "react";
import { Link } from "wouter";
import { counted, fixed } from "../format/quantity";
import { Tag } from "../ui/tag";
import type { Profile } from "./decode";
import { differingFunctions, type Part } from "./difference";
import { Name } from "./inspector";
import { changeText, differenceText, qText, shareText } from "./words";

const SHOWN = 8;

interface ListProps {
  profile: Profile;
  /** Zooms to where a function is. */
  show: (symbol: number) => void;
  /** Address of the table of all functions. */
  table: string;
}

/** The functions whose own cost differs beyond chance, each a way to its place in the graph. */
export function Differences({ profile, show, table }: ListProps) {
  const { functions, meta } = profile;
  const rows = useMemo(() => differingFunctions(functions), [functions]);
  if (rows.length === 0) return null;
  const { self, symbol } = functions;
  return (
    <div className="differs">
      <h3 id="differs">What differs</h3>
      <ol aria-labelledby="differs">
        {rows.slice(0, SHOWN).map((row) => {
          const [a, b] = [self.a[row] ?? 0, self.b[row] ?? 0];
          const fate = changeText(a, b);
          return (
            <li key={row} data-way={b > a ? "more" : "less"}>
              <button
                type="button"
                className="fold"
                onClick={() => {
                  show(symbol[row] ?? 0);
                }}
              >
                <Name>{meta.names[symbol[row] ?? 0] ?? ""}</Name>
              </button>{" "}
              {(fate === "new" || fate === "gone") && <Tag tone="void" text={fate} />}{" "}
              <span className="difference">
                {differenceText(b - a, self.low[row] ?? NaN, self.high[row] ?? NaN, meta.unit)}
              </span>{" "}
              <span className="soft small">q {qText(self.q[row] ?? NaN)}</span>
            </li>
          );
        })}
      </ol>
      {rows.length > SHOWN && (
        <p className="small">
          <Link to={table}>All {fixed(rows.length, 0)} functions that differ</Link>
        </p>
      )}
    </div>
  );
}

interface ShownProps {
  part: Part | null;
  /** Whether there are values of q at all. */
  known: boolean;
  zoom: number;
  zoomTo: (node: number) => void;
}

/** Which part of the graph is shown, and the ways to the others. */
export function ShownPart({ part, known, zoom, zoomTo }: ShownProps) {
  return (
    <div className="shown-part inside small">
      <span role="note">{inWords(part, known, zoom)}</span>
      <span className="buttons">
        {zoom !== 0 && <PartButton text="Whole graph" node={0} zoomTo={zoomTo} />}
        {part !== null && part.zoom !== zoom && (
          <PartButton text="Where it differs" node={part.zoom} zoomTo={zoomTo} />
        )}
      </span>
    </div>
  );
}

function PartButton({
  text,
  node,
  zoomTo,
}: Pick<ShownProps, "zoomTo"> & { text: string; node: number }) {
  return (
    <button
      type="button"
      className="button"
      onClick={() => {
        zoomTo(node);
      }}
    >
      {text}
    </button>
  );
}

function inWords(part: Part | null, known: boolean, zoom: number): string {
  if (!known) return "There are too few boots to tell which frames differ beyond chance.";
  if (part === null) return "No frame differs beyond chance (q ≤ 0.05).";
  const frames = counted(part.all, "frame");
  if (zoom !== part.zoom) return `${frames} differ beyond chance (q ≤ 0.05).`;
  if (zoom === 0) return `${frames} differ beyond chance (q ≤ 0.05), all over the graph.`;
  const outside = part.all - part.inside;
  if (outside === 0)
    return "Zoomed to the smallest part with every frame that differs beyond chance.";
  const share = shareText(part.share, 1);
  return `Zoomed to the smallest part with ${share} of what differs beyond chance; of ${frames} that differ, ${fixed(outside, 0)} lie elsewhere.`;
}
