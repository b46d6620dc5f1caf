/** Which threads were woken, ran and waited while the load ran, by name and arm. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { threadsQuery } from "../api/queries";
import type { Case, ThreadCell, ThreadFigure, ThreadRow, ThreadTable } from "../api/types";
import { Claimed } from "../counters/claimed";
import "../counters/counters.css";
import { counted, fixed, interval, percent, percentDigits, quantity } from "../format/quantity";
import { Loaded } from "../ui/answers";
import { Download } from "../ui/download";
import { Empty } from "../ui/empty";
import { ArmMark } from "./shape";

// Of these the load's own are first; the others are a click away.
const ROWS_AT_FIRST = 12;
const SIGNIFICANT = 0.05;

export function Threads({ view }: { view: Case }) {
  const query = useQuery(threadsQuery(view.experiment_id, view.case_id, view.host));
  const asked = new URLSearchParams({ case: String(view.case_id), host: view.host, format: "csv" });
  const file = `/api/experiments/${view.experiment_id}/threads/report?${asked.toString()}`;
  return (
    <section className="panel" aria-labelledby="threads">
      <header>
        <h2 id="threads">Threads by name</h2>
        {query.data && query.data.tables.length > 0 && (
          <Download files={[[file, "Threads as CSV"]]} />
        )}
      </header>
      <Loaded query={query}>
        {({ tables }) =>
          tables[0] === undefined ? <NothingTold /> : <Body table={tables[0]} view={view} />
        }
      </Loaded>
    </section>
  );
}

function NothingTold() {
  return (
    <Empty next={[["mitigauge worker", "boots and measures what is planned"]]}>
      No boot that counts has told of threads yet.
    </Empty>
  );
}

function Body({ table, view }: { table: ThreadTable; view: Case }) {
  const [all, setAll] = useState(false);
  const rows = all ? table.rows : table.rows.slice(0, ROWS_AT_FIRST);
  const more = table.rows.length - rows.length;
  return (
    <>
      <p className="inside faint small">
        Wake-ups of all threads of a name in {fixed(table.window_s, 0)} s, numbers merged; below
        them how long they ran, and how long they were ready and waited for a processor. Changes are
        of the wake-ups, against the baseline, with their 95 % interval over boots; exploratory.
        Each boot measured {fixed(table.measured_s, 1)} s.
      </p>
      <div
        className="counter-scroll"
        tabIndex={0}
        role="region"
        aria-label="Threads by name and arm"
      >
        <Grid table={table} rows={rows} view={view} />
      </div>
      {(more > 0 || all) && (
        <p className="inside">
          <button
            type="button"
            className="button"
            aria-expanded={all}
            onClick={() => {
              setAll(!all);
            }}
          >
            {all ? "Show fewer names" : `Show ${counted(more, "more name")}`}
          </button>
        </p>
      )}
      <Notes table={table} />
    </>
  );
}

function Notes({
  table: { left_out: leftOut, others, window_s: seconds },
}: {
  table: ThreadTable;
}) {
  if (leftOut === 0 && others === null) return null;
  return (
    <p className="inside faint small">
      {leftOut > 0 && `${counted(leftOut, "name")} with fewer wake-ups not shown. `}
      {others !== null &&
        `A boot tells of 50 names; up to ${counted(others.names, "other name")} with ` +
          `${wakeups(others.wakeups, seconds)} wake-ups are not told one by one.`}
    </p>
  );
}

function Grid({ table, rows, view }: { table: ThreadTable; rows: ThreadRow[]; view: Case }) {
  const place = (id: number) =>
    Math.max(
      0,
      view.arms.findIndex((arm) => arm.id === id),
    );
  return (
    <table className="list stack counters">
      <thead>
        <tr>
          <th scope="col">Threads</th>
          {table.arms.map((arm) => (
            <th scope="col" key={arm.arm_id} title={arm.mode}>
              <ArmMark arm={place(arm.arm_id)} /> <span className="mono">{arm.name}</span>
              {arm.is_baseline && " (baseline)"}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <th scope="row">
              <span className="mono">{row.name}</span>{" "}
              {row.own && <span className="tag">load</span>}
              <span className="faint small unit">{counted(row.threads, "thread")}</span>
            </th>
            {row.cells.map((cell, at) => (
              <td key={cell.arm_id} data-label={table.arms[at]?.name}>
                <CellView cell={cell} seconds={table.window_s} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function wakeups(perSecond: number, seconds: number) {
  const value = perSecond * seconds;
  return value >= 100 ? fixed(value, 0) : fixed(value, 1);
}

function CellView({ cell, seconds }: { cell: ThreadCell; seconds: number }) {
  if (cell.wakeups === null) return <span className="faint">not told</span>;
  const times = [
    cell.run && `ran ${quantity((cell.run.mean * seconds) / 1000, "s")}`,
    cell.wait && `waited ${quantity((cell.wait.mean * seconds) / 1000, "s")}`,
  ].filter((part) => part !== null);
  return (
    <div className="counter-cell">
      <span>
        <span className="value">{wakeups(cell.wakeups.mean, seconds)}</span>{" "}
        <Change figure={cell.wakeups} />
      </span>
      <span className="interval">
        <Between figure={cell.wakeups} seconds={seconds} />
        <span className="n">n {cell.n}</span>
      </span>
      {times.length > 0 && <span className="soft small">{times.join(", ")}</span>}
      {(cell.claims ?? []).map((claim) => (
        <Claimed key={claim.source} claim={claim} />
      ))}
    </div>
  );
}

function Change({ figure }: { figure: ThreadFigure }) {
  const { change_percent: change, low_percent: low, high_percent: high, q, note } = figure;
  if (typeof change !== "number") {
    return note === "" ? null : <span className="soft small">{note}</span>;
  }
  const known = typeof low === "number" && typeof high === "number";
  const digits = known ? percentDigits(change, low, high) : percentDigits(change);
  const isOne = typeof q === "number" && q <= SIGNIFICANT;
  return (
    <span className="effect" title={isOne ? `q ${fixed(q, 3)}` : "q above 0.05"}>
      {percent(change, digits)}{" "}
      <span className={isOne ? "verdict" : "faint"}>{isOne ? "changed" : "may be noise"}</span>
    </span>
  );
}

/** The interval of the change, or of the baseline's own figure. */
function Between({ figure, seconds }: { figure: ThreadFigure; seconds: number }) {
  const { change_percent: change, low_percent: low, high_percent: high } = figure;
  if (typeof low === "number" && typeof high === "number") return `[${interval(low, high)}] `;
  if (typeof change === "number" || figure.low === null || figure.high === null) return null;
  return `[${wakeups(figure.low, seconds)} … ${wakeups(figure.high, seconds)}] `;
}
