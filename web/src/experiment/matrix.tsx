/** One comparison: cases by arms, each cell a way to the boots behind it. */

import { Link } from "wouter";
import type { Arm, Comparison, Row } from "../api/types";
import { directionInWords } from "../words";
import { ArmHead, neverEffective } from "./arm";
import { CellText } from "./cell";
import { GlyphAxis } from "./glyph";
import "./matrix.css";
import { isMeasured, reach } from "./scale";

export function casePath(experimentId: number, row: Row): string {
  const query = new URLSearchParams({ host: row.host, metric: row.metric });
  return `/experiments/${experimentId}/cases/${row.case_id}?${query.toString()}`;
}

/** The differential flame graph of one arm against another for a case on a host. */
export function profilePath(
  experimentId: number,
  row: Pick<Row, "case_id" | "host">,
  a: string,
  b: string,
): string {
  const asked = { experiment: experimentId, case: row.case_id, host: row.host, a, b };
  const search = new URLSearchParams(
    Object.entries(asked).map(([name, value]) => [name, String(value)]),
  );
  return `/profiles/diff?${search.toString()}`;
}

/** Rows in their order, cut where host or workload changes. */
function grouped(rows: Row[]): { name: string; rows: Row[] }[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const name = `${row.host} · ${row.workload}`;
    const group = groups.get(name);
    if (group) group.push(row);
    else groups.set(name, [row]);
  }
  return [...groups].map(([name, members]) => ({ name, rows: members }));
}

function hasGlyph(row: Row, arm: Arm): boolean {
  return row.cells.some((cell) => cell.arm_id === arm.id && isMeasured(cell));
}

interface MatrixProps {
  experimentId: number;
  comparison: Comparison;
  rows: Row[];
}

// Explicit roles: on narrow screens the style sheet lays the table out as a list, and a
// browser would then no longer tell assistive technology that it is a table.
export function Matrix({ experimentId, comparison, rows }: MatrixProps) {
  const scale = reach(rows);
  const { arms } = comparison;
  return (
    <div className="matrix-box">
      <table
        className="matrix"
        role="table"
        style={{ "--arms": arms.length } as React.CSSProperties}
      >
        <caption className="visually-hidden">
          {comparison.name}: effect of each arm against the baseline with 95 % interval
        </caption>
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col" className="corner">
              Case
            </th>
            {arms.map((arm) => (
              <th
                role="columnheader"
                scope="col"
                key={arm.id}
                className={arm.is_baseline ? "of-baseline" : undefined}
                data-void={neverEffective(arm)}
              >
                <div className="arm-head">
                  <ArmHead arm={arm} />
                  {rows.some((row) => hasGlyph(row, arm)) && <GlyphAxis reach={scale} />}
                </div>
              </th>
            ))}
          </tr>
        </thead>
        {grouped(rows).map((group) => (
          <tbody role="rowgroup" key={group.name}>
            <tr role="row" className="group">
              <th role="rowheader" scope="rowgroup" colSpan={arms.length + 1}>
                {group.name}
              </th>
            </tr>
            {group.rows.map((row) => (
              <MatrixRow
                key={`${row.case_id} ${row.metric}`}
                row={row}
                arms={arms}
                scale={scale}
                experimentId={experimentId}
              />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function MatrixRow({
  row,
  arms,
  scale,
  experimentId,
}: {
  row: Row;
  arms: Arm[];
  scale: number;
  experimentId: number;
}) {
  const path = casePath(experimentId, row);
  const baseline = arms.find((arm) => arm.is_baseline);
  return (
    <tr role="row">
      <th role="rowheader" scope="row">
        <Link to={path}>{row.case}</Link>
        <div className="metric">
          {row.metric_title}, {directionInWords(row)}
          {!row.primary && <span className="exploratory"> · exploratory</span>}
        </div>
      </th>
      {arms.map((arm) => {
        const cell = row.cells.find((c) => c.arm_id === arm.id);
        return (
          <td role="cell" key={arm.id} data-state={cell?.state ?? "no_data"}>
            <Link to={path} className="cell">
              <span className="cell-arm mono" aria-hidden="true">
                {arm.name}
              </span>
              {cell ? <CellText cell={cell} row={row} reach={scale} /> : "no data"}
            </Link>
            {row.profiled && cell?.state === "measured" && baseline && (
              <Link
                to={profilePath(experimentId, row, baseline.name, arm.name)}
                className="cell-profile small"
                aria-label={`Flame graph of ${arm.name} against ${baseline.name}, ${row.case}`}
              >
                flame graph
              </Link>
            )}
          </td>
        );
      })}
    </tr>
  );
}
