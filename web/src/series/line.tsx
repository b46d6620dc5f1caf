/** The line: what was said of each case and mode, revision by revision. */

import { Link } from "wouter";
import type { LineRow, SeriesLine } from "../api/types";
import { OffScaleMarks } from "../picture/off-scale";
import { CountedMark, EmulatedMark, MarkedOnce } from "../ui/emulated";
import { Empty } from "../ui/empty";
import { KeepFigures } from "../picture/keep";
import { drawing, grouped, HEIGHT, STEP } from "./layout";
import { lineTable } from "./line-table";
import { change, whole } from "./words";

export function Line({ line, name }: { line: SeriesLine; name: string }) {
  if (line.rows.length === 0)
    return (
      <Empty next={[[`mitigauge series start ${name}`, "builds and measures the newest revision"]]}>
        No revision has been measured yet.
      </Empty>
    );
  return (
    <KeepFigures title={`${name}: the line`} table={() => lineTable(line)}>
      <Table line={line} />
    </KeepFigures>
  );
}

function Table({ line }: { line: SeriesLine }) {
  return (
    <div className="line-scroll" tabIndex={0} role="region" aria-label="The line, v1 to the newest">
      <MarkedOnce of={line.rows}>
        <table className="list series-line">
          <thead>
            <tr>
              <th scope="col">Case and mode</th>
              <th scope="col">
                <span className="line-revisions" style={{ width: line.revisions.length * STEP }}>
                  {line.revisions.map((revision) => (
                    <span key={revision}>{revision}</span>
                  ))}
                </span>
              </th>
              <th scope="col">Newest</th>
              <th scope="col">First worse</th>
            </tr>
          </thead>
          {grouped(line.rows).map(([title, rows]) => (
            <tbody key={title}>
              <tr className="line-group">
                <th scope="rowgroup" colSpan={4}>
                  {title}
                </th>
              </tr>
              {rows.map((row) => (
                <Row key={`${row.host} ${row.case} ${row.metric} ${row.arm}`} row={row} />
              ))}
            </tbody>
          ))}
        </table>
      </MarkedOnce>
      {line.left_out > 0 && (
        <p className="inside faint">
          {line.left_out} more rows of the newest revision are not shown: its experiment has all.
        </p>
      )}
    </div>
  );
}

function Row({ row }: { row: LineRow }) {
  const newest = row.points.findLast((point) => point !== null);
  return (
    <tr>
      <th scope="row">
        <div>{row.case}</div>
        <div className="faint small">
          {row.arm} on {row.host}; {row.direction} is better
        </div>
        {(row.emulated || row.counted) && (
          <div className="buttons">
            {row.emulated && <EmulatedMark />}
            {row.counted && <CountedMark />}
          </div>
        )}
      </th>
      <td>
        <Chart row={row} />
      </td>
      <td>
        {newest && (
          <Link
            className="effect"
            data-verdict={newest.verdict}
            to={`/experiments/${newest.experiment_id}/cases/${newest.case_id}?host=${encodeURIComponent(row.host)}`}
          >
            {change(newest)} <span className="verdict">{newest.verdict ?? "no verdict"}</span>
          </Link>
        )}
      </td>
      <td>{row.first_worse || <span className="faint">none</span>}</td>
    </tr>
  );
}

function Chart({ row }: { row: LineRow }) {
  const { width, zero, dots, scale, y } = drawing(row.points);
  const label = dots
    .map((dot) => whole(dot.point) + (dot.edge === null ? "" : ", off the scale"))
    .join("; ");
  return (
    <svg
      className="line-chart"
      viewBox={`0 0 ${width} ${HEIGHT}`}
      width={width}
      height={HEIGHT}
      role="img"
      aria-label={label || "no figures"}
    >
      <line className="zero" x1={0} x2={width} y1={zero} y2={zero} />
      <polyline className="path" points={dots.map((dot) => `${dot.x},${dot.y}`).join(" ")} />
      {dots.map((dot) => (
        <g key={dot.point.revision} data-verdict={dot.point.verdict}>
          <title>{whole(dot.point)}</title>
          <line className="range" x1={dot.x} x2={dot.x} y1={dot.top} y2={dot.bottom} />
          {dot.edge === null && <circle className="point" cx={dot.x} cy={dot.y} r={3.5} />}
        </g>
      ))}
      <OffScaleMarks
        values={dots.map(({ x, point }) => ({
          ...{ key: point.revision, x, value: point.effect_percent ?? 0, label: "" },
          title: `${whole(point)}, off the scale`,
        }))}
        {...{ scale, y }}
        right={width}
        size={4}
      />
    </svg>
  );
}
