/**
 * A line of the matrix: a case and metric with a cell for each arm, or a heading. Its links are
 * plain ones; the matrix follows them.
 */

import { memo, type Ref } from "react";
import type { Arm, Row } from "../api/types";
import { directionInWords } from "../words";
import { CellText } from "./cell";
import { placeOf } from "./items";
import { casePath, profilePath } from "./paths";

export interface LineProps {
  /** The line's place in the whole matrix, of which perhaps only a part is in the table. */
  index: number;
  lineRef?: Ref<HTMLTableRowElement>;
}

/** What the browser and assistive technology are told of the line's place; the head is line 1. */
function lineAttributes({ index, lineRef }: LineProps) {
  return { "data-index": index, "aria-rowindex": index + 2, ref: lineRef };
}

export function HeadingLine({ name, arms, ...line }: { name: string; arms: number } & LineProps) {
  return (
    <tr role="row" className="group" {...lineAttributes(line)}>
      <th role="rowheader" scope="rowgroup" colSpan={arms + 1}>
        {name}
      </th>
    </tr>
  );
}

interface RowProps extends LineProps {
  row: Row;
  arms: Arm[];
  scale: number;
  experimentId: number;
  /** Whether the row itself says its host and workload, having no heading. */
  placed: boolean;
  /** The one column that the Tab key stops at, −1 for none; undefined: all of them. */
  stop?: number;
}

function stopAt(stop: number | undefined, column: number): number | undefined {
  return stop === undefined || stop === column ? undefined : -1;
}

export const MatrixRow = memo(function MatrixRow(props: RowProps) {
  const { row, arms, scale, experimentId, placed, stop, ...line } = props;
  const path = casePath(experimentId, row);
  const baseline = arms.find((arm) => arm.is_baseline);
  return (
    <tr role="row" {...lineAttributes(line)}>
      <th role="rowheader" scope="row">
        <a href={path} data-column={0} tabIndex={stopAt(stop, 0)}>
          {row.case}
        </a>
        <div className="metric">
          {row.metric_title}, {directionInWords(row)}
          {!row.primary && <span className="exploratory"> · exploratory</span>}
        </div>
        {placed && <div className="metric">{placeOf(row)}</div>}
      </th>
      {arms.map((arm, i) => {
        const cell = row.cells.find((c) => c.arm_id === arm.id);
        return (
          <td role="cell" key={arm.id} data-state={cell?.state ?? "no_data"}>
            <a href={path} className="cell" data-column={i + 1} tabIndex={stopAt(stop, i + 1)}>
              <span className="cell-arm mono" aria-hidden="true">
                {arm.name}
              </span>
              {cell ? <CellText cell={cell} row={row} reach={scale} /> : "no data"}
            </a>
            {row.profiled && cell?.state === "measured" && baseline && (
              <a
                href={profilePath(experimentId, row, baseline.name, arm.name)}
                className="cell-profile small"
                tabIndex={stopAt(stop, i + 1)}
                aria-label={`Flame graph of ${arm.name} against ${baseline.name}, ${row.case}`}
              >
                flame graph
              </a>
            )}
          </td>
        );
      })}
    </tr>
  );
});
