/** The rows: a table, and beyond some dozen a box that holds the lines that are in sight. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { Fragment, useCallback, useEffect, useRef } from "react";
import type { PairRow } from "../api/types";
import { GlyphAxis } from "../experiment/glyph";
import { PLAIN_UP_TO_ROWS, PRINTED_ROWS } from "../experiment/limits";
import { NotPrinted } from "../experiment/not-printed";
import { distance, roundUp } from "../experiment/scale";
import { endless } from "../format/quantity";
import { KeepFigures } from "../picture/keep";
import { useFollow } from "../ui/use-follow";
import { usePrinting } from "../ui/use-printing";
import { Row } from "./row";
import { pairTable } from "./table";

/** A guess, until a line has been measured. */
const ROW_PX = 84;
const OVERSCAN_LINES = 4;
/** So many lines before the end of what is here, the next ones are asked for. */
const AHEAD_LINES = 60;
const COLUMNS = 5;

interface Props {
  rows: PairRow[];
  /** Of all pages. */
  total: number;
  a: number;
  b: number;
  /** Another word where other rows are asked for. */
  view: string;
  /** Asks for the next rows; null where there are none, or they are on their way. */
  more: (() => void) | null;
}

/** Percent at the right end of the glyphs: holds every difference and nine of ten intervals. */
export function reachOf(rows: readonly PairRow[]): number {
  const compared = rows.filter((row) => row.judgement !== "not-compared" && !row.is_points);
  const ends = compared
    .filter((row) => !endless(row.low_percent ?? 0, row.high_percent ?? 0))
    .map((row) => Math.max(distance(row.low_percent ?? 0), distance(row.high_percent ?? 0)))
    .sort((x, y) => x - y);
  const usual = ends[Math.ceil(ends.length * 0.9) - 1] ?? 1;
  const sizes = compared.map((row) => distance(row.difference_percent ?? 0));
  return roundUp(sizes.reduce((most, size) => Math.max(most, size), Math.max(1, usual)));
}

export function Rows(props: Props) {
  const { rows, total, a, b } = props;
  const reach = reachOf(rows);
  const printing = usePrinting();
  const printed = rows.slice(0, PRINTED_ROWS);
  return (
    <KeepFigures
      title={`Experiments ${a} and ${b}, the difference of their effects`}
      table={() => pairTable(rows)}
    >
      {total > PLAIN_UP_TO_ROWS && !printing ? (
        <Lines key={props.view} reach={reach} {...props} />
      ) : (
        <Plain reach={reach} {...props} rows={printed} />
      )}
      <NotPrinted
        rows={total - printed.length}
        where="The filter prints those that you look for."
      />
    </KeepFigures>
  );
}

type Drawn = Props & { reach: number };

function Plain({ rows, a, b, reach }: Drawn) {
  const follow = useFollow();
  return (
    <div onClick={follow}>
      <table className="matrix pair-matrix">
        <Head reach={reach} />
        <tbody>
          {rows.map((row) => (
            <Row key={keyOf(row)} {...{ row, a, b, reach }} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Lines({ rows, total, a, b, reach, more }: Drawn) {
  const box = useRef<HTMLDivElement>(null);
  const follow = useFollow();
  const estimateSize = useCallback(() => ROW_PX, []);
  const getItemKey = useCallback(
    (index: number) => (rows[index] ? keyOf(rows[index]) : index),
    [rows],
  );
  // Only its measureElement goes to a memoized row, and that is the same function for ever.
  // eslint-disable-next-line react-hooks/incompatible-library
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize,
    getItemKey,
    overscan: OVERSCAN_LINES,
    useFlushSync: false,
  });
  const lines = virtualizer.getVirtualItems();
  const last = lines.at(-1);
  const isNear = (last?.index ?? 0) >= rows.length - AHEAD_LINES;
  useEffect(() => {
    if (isNear) more?.();
  }, [isNear, more]);
  return (
    <div className="matrix-box pair-box" data-large="" ref={box} onClick={follow}>
      <table className="matrix pair-matrix" aria-rowcount={total + 1}>
        <Head reach={reach} />
        <tbody>
          <Gap pixels={lines[0]?.start ?? 0} />
          {lines.map(({ index, key }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <Fragment key={key}>
                <Row {...{ row, a, b, reach, index }} lineRef={virtualizer.measureElement} />
              </Fragment>
            );
          })}
          <Gap pixels={virtualizer.getTotalSize() - (last?.end ?? 0)} />
        </tbody>
      </table>
    </div>
  );
}

function keyOf(row: PairRow): string {
  return [row.a.case_id, row.b.case_id, row.metric, row.a.host, row.arm, row.b.arm].join(" ");
}

function Head({ reach }: { reach: number }) {
  return (
    <>
      <caption className="visually-hidden">
        Effect of each arm against its baseline in both experiments, and the difference, with 95 %
        intervals
      </caption>
      <thead>
        <tr aria-rowindex={1}>
          <th scope="col" className="corner">
            Case and arm
          </th>
          <th scope="col">
            Difference, B over A
            <GlyphAxis reach={reach} />
          </th>
          <th scope="col">A</th>
          <th scope="col">B</th>
          <th scope="col">Level, B over A</th>
        </tr>
      </thead>
    </>
  );
}

/** The room of lines that are out of sight. */
function Gap({ pixels }: { pixels: number }) {
  if (pixels <= 0) return null;
  return (
    <tr aria-hidden="true" className="gap">
      <td colSpan={COLUMNS} style={{ height: pixels }} />
    </tr>
  );
}
