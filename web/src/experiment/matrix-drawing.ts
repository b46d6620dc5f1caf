/** The rows of a matrix as a drawing: the same words and intervals as on the page. Pure. */

import type { Arm, Cell, Comparison, Row } from "../api/types";
import { effectParts } from "../format/effect";
import { BOUND, quantity } from "../format/quantity";
import type { DrawnCell, DrawnRow, DrawnTable, Text } from "../picture/table-drawing";
import { directionInWords } from "../words";
import { glyphMarks, toneOf } from "./glyph-marks";
import { placeOf, type Item } from "./items";
import { isMeasured } from "./scale";

function headOf(arm: Arm): DrawnCell {
  return {
    lines: [
      { text: arm.is_baseline ? `${arm.name} (baseline)` : arm.name, bold: true },
      { text: arm.title, tone: "soft" },
    ],
  };
}

function noted(cell: Cell, lines: Text[]): DrawnCell {
  return {
    lines: cell.note === "" ? lines : [...lines, { text: cell.note, tone: "soft" }],
  };
}

function cellOf(cell: Cell | undefined, row: Row, reach: number): DrawnCell {
  if (cell === undefined) return { lines: [{ text: "no data", tone: "soft" }] };
  if (cell.state === "not_effective") return { lines: [{ text: "not effective", tone: "soft" }] };
  const boots = `n ${cell.n}`;
  if (!isMeasured(cell)) {
    const value = cell.mean === null ? "no data" : `${quantity(cell.mean, row.unit)}  ${boots}`;
    return noted(cell, [{ text: value }]);
  }
  const { effect_percent: effect, ci_low_percent: low, ci_high_percent: high } = cell;
  const written = effectParts({ value: effect, low, high });
  const verdict = cell.verdict ?? "undecided";
  return {
    ...noted(cell, [
      {
        text: `${BOUND[cell.bound].sign}${written.change} ${verdict}`,
        tone: verdict === "worse" || verdict === "better" ? toneOf(verdict) : "ink",
        bold: true,
      },
      { text: `${written.interval}  ${boots}`, tone: "soft" },
    ]),
    graphic: glyphMarks({ effect, low, high, reach, verdict }),
  };
}

function rowOf(row: Row, arms: readonly Arm[], reach: number, placed: boolean): DrawnRow {
  const exploratory = row.primary ? "" : " · exploratory";
  const metric = `${row.metric_title}, ${directionInWords(row)}${exploratory}`;
  return {
    cells: [
      {
        lines: [
          { text: row.case, bold: true },
          { text: metric, tone: "soft" },
          ...(placed ? [{ text: placeOf(row), tone: "soft" } as const] : []),
        ],
      },
      ...arms.map((arm) =>
        cellOf(
          row.cells.find((cell) => cell.arm_id === arm.id),
          row,
          reach,
        ),
      ),
    ],
  };
}

/** All lines, also those that the page has out of sight. */
export function matrixTable(
  { arms }: Pick<Comparison, "arms">,
  items: readonly Item[],
  scale: number,
  placed: boolean,
): DrawnTable {
  return {
    columns: [{ lines: [{ text: "Case", bold: true }] }, ...arms.map(headOf)],
    rows: items.map((item) =>
      item.kind === "group" ? { heading: item.name } : rowOf(item.row, arms, scale, placed),
    ),
  };
}
