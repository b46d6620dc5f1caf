/** One comparison: cases by arms, each cell a way to the boots behind it. */

import { useEffect, useMemo, useRef } from "react";
import type { Comparison, Row } from "../api/types";
import { itemsOf, type Item } from "./items";
import { readColours } from "../picture/colours";
import { Keep } from "../picture/keep";
import { tableSvg } from "../picture/table-drawing";
import { LargeMatrix } from "./large-matrix";
import { PLAIN_UP_TO_ROWS, PRINTED_ROWS } from "./limits";
import { matrixTable } from "./matrix-drawing";
import { Caption, MatrixHead, tableOf, type Drawing } from "./matrix-parts";
import { HeadingLine, MatrixRow } from "./matrix-row";
import { NotPrinted } from "./not-printed";
import { endTexts, isMeasured, reach } from "./scale";
import { useFollow } from "../ui/use-follow";
import { usePrinting } from "../ui/use-printing";
import { showLine, useCursor } from "./use-cursor";

interface MatrixProps {
  experimentId: number;
  comparison: Comparison;
  /** Those of its rows that are shown, in their order. */
  rows: Row[];
  /** Whether the rows stand as planned, under headings of host and workload. */
  headings: boolean;
  /** What was asked for, as text: another text, other rows. */
  view: string;
  /** What the experiment is, written on a picture of the matrix. */
  about: string;
}

/** A small matrix is all there; a large one holds the lines in sight. */
export function Matrix({ experimentId, comparison, rows, headings, view, about }: MatrixProps) {
  const drawing: Drawing = useMemo(
    () => ({
      ...{ experimentId, comparison, view, placed: !headings },
      items: itemsOf(rows, headings),
      scale: reach(rows),
      drawn: new Set(rows.flatMap((row) => row.cells.filter(isMeasured).map((c) => c.arm_id))),
    }),
    [experimentId, comparison, rows, headings, view],
  );
  const large = comparison.rows.length > PLAIN_UP_TO_ROWS;
  const printing = usePrinting();
  return (
    <Keep
      title={`${comparison.family_title} on ${comparison.hosts.join(", ")}`}
      lines={[
        `effect against baseline, 95 % interval, n boots; bars run from ${endTexts(drawing.scale).join(" % to ")} %`,
        rows.length < comparison.rows.length
          ? `${rows.length} of ${comparison.rows.length} rows`
          : "",
        about,
      ]}
      draw={(lines) =>
        tableSvg(
          matrixTable(comparison, drawing.items, drawing.scale, drawing.placed),
          lines,
          readColours(),
        )
      }
      // Whole, and with every figure: what is filtered here is not filtered there.
      table={`/api/experiments/${experimentId}/matrix.csv`}
    >
      {large && !printing && <LargeMatrix {...drawing} />}
      {large && printing && <PlainMatrix {...drawing} items={printedOf(drawing.items)} />}
      {!large && <PlainMatrix {...drawing} />}
      <NotPrinted
        rows={rows.length - PRINTED_ROWS}
        where="The page’s “Download” has all as CSV, and its filter prints those that you look for."
      />
    </Keep>
  );
}

/** The first rows, with their headings. */
function printedOf(items: readonly Item[]): Item[] {
  const rows = items.filter((item) => item.kind === "row");
  const last = rows[PRINTED_ROWS - 1];
  return last === undefined ? [...items] : items.slice(0, items.indexOf(last) + 1);
}

/** Lines under their heading, as a table's bodies. */
function bodiesOf(items: readonly Item[]): Item[][] {
  const bodies: Item[][] = [];
  for (const item of items) {
    if (item.kind === "group" || bodies.length === 0) bodies.push([]);
    bodies.at(-1)?.push(item);
  }
  return bodies;
}

// Explicit roles: on narrow screens the style sheet lays the table out as a list, and a
// browser would then no longer tell assistive technology that it is a table.
function PlainMatrix(drawing: Drawing) {
  const { comparison, items, scale, placed, drawn, experimentId } = drawing;
  const box = useRef<HTMLDivElement>(null);
  const { arms } = comparison;
  const follow = useFollow();
  const { walked, handlers } = useCursor(box, items, arms.length);
  useEffect(() => {
    if (walked !== null) showLine(box.current, walked);
  }, [walked]);
  const indexes = new Map(items.map((item, index) => [item, index]));
  return (
    <div className="matrix-box" ref={box} {...handlers} onClick={follow}>
      <table
        className="matrix"
        role="table"
        aria-rowcount={items.length + 1}
        {...tableOf(comparison)}
      >
        <Caption comparison={comparison} />
        <MatrixHead arms={arms} drawn={drawn} scale={scale} brief={false} />
        {bodiesOf(items).map((body) => (
          <tbody role="rowgroup" key={body[0]?.key}>
            {body.map((item) =>
              item.kind === "group" ? (
                <HeadingLine
                  key={item.key}
                  name={item.name}
                  arms={arms.length}
                  index={indexes.get(item) ?? 0}
                />
              ) : (
                <MatrixRow
                  key={item.key}
                  row={item.row}
                  index={indexes.get(item) ?? 0}
                  {...{ arms, scale, experimentId, placed }}
                />
              ),
            )}
          </tbody>
        ))}
      </table>
    </div>
  );
}
