/** What earlier versions of a verdict said: a verdict that was given stays. */

import type { Cell, EarlierVerdict } from "../api/types";
import { effectOf, effectText } from "../format/effect";
import { Stamp } from "../ui/age";

/** "worse +3.2% [+1.1, +5.3], n 8" */
export function saidInWords(earlier: EarlierVerdict): string {
  const effect = effectOf(earlier);
  const word = earlier.verdict ?? "no verdict";
  if (effect === null || effect.low === null) return `${word}, n ${earlier.n}`;
  return `${word} ${effectText(effect)}, n ${earlier.n}`;
}

/** The first version of a cell's verdict; undefined where the cell shows it. */
function firstOf({ earlier = [] }: Cell): EarlierVerdict | undefined {
  return earlier.toSorted((x, y) => x.version - y.version)[0];
}

/** In a matrix: which version this is, and in a word what the first said. */
export function VersionNote({ cell }: { cell: Cell }) {
  const first = firstOf(cell);
  if (first === undefined) return null;
  return (
    <span className="note" title={cell.reason}>
      version {cell.version}; the first said {first.verdict ?? "nothing"}
    </span>
  );
}

/** On the page of a case: why there is another version, and what each earlier one said and when. */
export function EarlierVersions({ cell }: { cell: Cell }) {
  const { earlier = [] } = cell;
  if (earlier.length === 0) return null;
  return (
    <ol className="earlier soft small" aria-label="Versions of the verdict">
      <li>
        version {cell.version}, shown here{cell.reason !== "" && `: ${cell.reason}`}
      </li>
      {earlier
        .toSorted((x, y) => y.version - x.version)
        .map((one) => (
          <li key={one.version}>
            version {one.version}, <Stamp at={one.at} />: {saidInWords(one)}
            {one.reason !== "" && ` (${one.reason})`}
          </li>
        ))}
    </ol>
  );
}
