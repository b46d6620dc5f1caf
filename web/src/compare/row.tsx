/** One row: both effects, their difference, and the levels behind them. */

import { memo } from "react";
import type { LevelRatio, PairCell, PairRow } from "../api/types";
import { BoundSign } from "../experiment/cell";
import { IntervalGlyph } from "../experiment/glyph";
import { effectOf, effectParts } from "../format/effect";
import { detectable, percentDigits, percent, signed, interval } from "../format/quantity";
import { flamePath, sidePath } from "./address";
import { differenceParts, JUDGEMENT, verdictOf } from "./words";

interface Props {
  row: PairRow;
  a: number;
  b: number;
  /** Percent at the right end of the glyphs. */
  reach: number;
  index?: number;
  lineRef?: React.Ref<HTMLTableRowElement>;
}

export const Row = memo(function Row({ row, a, b, reach, index, lineRef }: Props) {
  return (
    <tr
      data-index={index}
      ref={lineRef}
      aria-rowindex={index === undefined ? undefined : index + 2}
      data-judgement={row.judgement}
    >
      <th scope="row">
        <span className="pair-case">{row.case}</span>
        <span className="mono pair-arm">{row.arm}</span>
        <span className="metric">
          {row.metric_title}, {row.direction} is better
          {!row.primary && " · exploratory"}
        </span>
        <span className="metric">{row.host}</span>
      </th>
      <td data-label="Difference">
        <Difference row={row} reach={reach} />
        {row.a.profiled && row.b.profiled && (
          <a
            className="pair-flame small"
            href={flamePath(a, b, row)}
            aria-label={`Flame graph of ${row.arm}, B against A, ${row.case}`}
          >
            flame graph
          </a>
        )}
      </td>
      <Side letter="A" experiment={a} cell={row.a} row={row} />
      <Side letter="B" experiment={b} cell={row.b} row={row} />
      <td data-label="Levels" className="pair-levels">
        <Level of="arm" ratio={row.level} />
        <Level of="baseline" ratio={row.baseline_level} />
      </td>
    </tr>
  );
});

function Difference({ row, reach }: { row: PairRow; reach: number }) {
  const written = differenceParts(row);
  const verdict = verdictOf(row);
  return (
    <div className="pair-difference">
      <span className="effect" data-verdict={verdict}>
        {written && (
          <>
            <strong>{written.change}</strong>{" "}
          </>
        )}
        <span className="verdict">{JUDGEMENT[row.judgement]}</span>
      </span>
      {written && (
        <>
          <IntervalGlyph
            effect={row.difference_percent ?? 0}
            low={row.low_percent ?? 0}
            high={row.high_percent ?? 0}
            reach={reach}
            verdict={verdict}
          />
          <span className="interval">
            <span className="visually-hidden">95 % interval </span>
            {written.interval}
          </span>
        </>
      )}
      {row.judgement === "no-difference-seen" && typeof row.detectable_percent === "number" && (
        <span className="note">would see {detectable(row.detectable_percent)}</span>
      )}
      {row.note !== "" && <span className="note">{row.note}</span>}
    </div>
  );
}

interface SideProps {
  letter: "A" | "B";
  experiment: number;
  cell: PairCell;
  row: PairRow;
}

function Side({ letter, experiment, cell, row }: SideProps) {
  const effect = effectOf(cell);
  const written = effect && effectParts(effect);
  return (
    <td data-label={letter} data-state={cell.state}>
      <a className="cell" href={sidePath(experiment, cell, row.metric)}>
        {written ? (
          <>
            <span className="effect" data-verdict={cell.verdict ?? "undecided"}>
              <BoundSign bound={cell.bound} />
              {written.change} <span className="verdict">{cell.verdict ?? "undecided"}</span>
            </span>
            <span className="interval">
              <span className="visually-hidden">95 % interval </span>
              {written.interval}
              <span className="n">n {cell.n}</span>
            </span>
          </>
        ) : (
          <span className="void">
            {cell.state === "not_effective" ? "⊘ not effective" : "no data"}
          </span>
        )}
        <span className="visually-hidden">
          : {row.case} in {letter}
        </span>
      </a>
    </td>
  );
}

function Level({ of, ratio }: { of: string; ratio: LevelRatio | null | undefined }) {
  if (!ratio) return null;
  const { percent: value, low_percent: low, high_percent: high } = ratio;
  const known = typeof low === "number" && typeof high === "number";
  const digits = known ? percentDigits(value, low, high) : percentDigits(value);
  return (
    <span className="pair-level">
      <span className="faint">{of}</span> {known ? signed(value, digits) + "%" : percent(value)}{" "}
      {known && <span className="interval">[{interval(low, high, digits)}]</span>}
    </span>
  );
}
