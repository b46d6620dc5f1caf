/** One figure of one arm over its boots, with its interval and its change. */

import { effectParts } from "../format/effect";
import type { DetailCell } from "../api/types";
import { counted, quantity, scaled, type Scale } from "../format/quantity";

interface FigureProps {
  cell: DetailCell | undefined;
  unit: string;
  /** One for all that stand side by side. */
  scale: Scale;
  /** What may lie beyond what was tried says in how many boots it was reached. */
  reached?: boolean;
}

export function Figure({ cell, unit, scale, reached = false }: FigureProps) {
  if (cell === undefined || cell.of === 0) return <span className="faint">no boot</span>;
  if (cell.value === null)
    return <span className="faint">{reached ? inBoots(cell) : "absent"}</span>;
  return (
    <div className="detail-figure">
      <span className="value">
        {cell.at_least && "≥ "}
        {quantity(cell.value, unit, scale)}
      </span>
      {cell.at_least ? (
        <span className="soft small" title={cell.note}>
          {inBoots(cell)}
        </span>
      ) : (
        <Between cell={cell} scale={scale} />
      )}
      <Change cell={cell} />
    </div>
  );
}

function inBoots(cell: DetailCell) {
  return `reached in ${cell.boots} of ${counted(cell.of, "boot")}`;
}

function Between({ cell, scale }: { cell: DetailCell; scale: Scale }) {
  if (cell.low === null || cell.high === null)
    return <span className="faint small">one boot: no interval</span>;
  return (
    <span className="interval">
      [{scaled(cell.low, scale)}, {scaled(cell.high, scale)}]{" "}
      <span className="n">n {cell.boots}</span>
    </span>
  );
}

/** Against the baseline; it decides nothing, so it has no verdict's colour. */
function Change({ cell }: { cell: DetailCell }) {
  const { change_percent: value, change_low: low, change_high: high } = cell;
  if (value === null) return null;
  const { change, interval } = effectParts({ value, low, high });
  return (
    <span className="change small">
      {change} <span className="soft">{interval}</span>
    </span>
  );
}
