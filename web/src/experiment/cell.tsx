import { effectParts } from "../format/effect";
import type { Bound, Cell, Row } from "../api/types";
import { BOUND, detectable, quantity } from "../format/quantity";
import { VERDICT } from "../words";
import { VersionNote } from "./earlier";
import { IntervalGlyph } from "./glyph";
import { isMeasured } from "./scale";

interface CellProps {
  cell: Cell;
  row: Row;
  /** Percent at the right end of the glyph. */
  reach: number;
}

const ARROW = { up: "▲", down: "▼", none: "" };

function arrow(effect: number): string {
  if (effect === 0) return ARROW.none;
  return effect > 0 ? ARROW.up : ARROW.down;
}

function Measured({ cell, row, reach }: CellProps) {
  if (!isMeasured(cell)) return <Missing cell={cell} row={row} />;
  const { effect_percent: effect, ci_low_percent: low, ci_high_percent: high } = cell;
  const written = effectParts({ value: effect, low, high });
  const verdict = cell.verdict ?? "undecided";
  const strength =
    typeof cell.mde_percent === "number"
      ? `; smallest detectable effect ${detectable(cell.mde_percent)}`
      : "";
  return (
    <span className="measured" title={VERDICT[verdict].meaning + strength}>
      <span className="effect" data-verdict={verdict}>
        <span aria-hidden="true" className="arrow">
          {arrow(effect)}
        </span>
        <BoundSign bound={cell.bound} />
        {written.change} <span className="verdict">{verdict}</span>
      </span>
      <IntervalGlyph effect={effect} low={low} high={high} reach={reach} verdict={verdict} />
      <span className="interval">
        <span className="visually-hidden">95 % interval </span>
        {written.interval}
        <span className="n">n {cell.n}</span>
      </span>
      {cell.note !== "" && <span className="note">{cell.note}</span>}
      <VersionNote cell={cell} />
    </span>
  );
}

/** What the figure says of the true effect, where events of the hardware cost nothing. */
export function BoundSign({ bound }: { bound: Bound }) {
  const { sign, words } = BOUND[bound];
  if (sign === "") return null;
  return (
    <>
      <span aria-hidden="true">{sign}</span>
      <span className="visually-hidden">{words}</span>
    </>
  );
}

function Missing({ cell, row }: Pick<CellProps, "cell" | "row">) {
  return (
    <span className="missing">
      {typeof cell.mean === "number" ? (
        <span>
          {quantity(cell.mean, row.unit)} <span className="n">n {cell.n}</span>
        </span>
      ) : (
        <span>no data</span>
      )}
      <span className="note">{cell.note === "" ? "no boot counts yet" : cell.note}</span>
      <VersionNote cell={cell} />
    </span>
  );
}

/** What a matrix says of one arm for one case and metric. */
export function CellText(props: CellProps) {
  const { cell, row } = props;
  if (cell.state === "not_effective") {
    return (
      <span className="missing" title={cell.note}>
        <span className="void">
          <span aria-hidden="true">⊘ </span>not effective
        </span>
      </span>
    );
  }
  if (cell.state === "no_data" || cell.mean === null) return <Missing cell={cell} row={row} />;
  if (cell.state === "measured") return <Measured {...props} />;
  return (
    <span className="base">
      {quantity(cell.mean, row.unit)}
      <span className="interval">
        <span className="n">n {cell.n}</span>
      </span>
    </span>
  );
}
