/** Where each run stands: one comparison on one host. */

import { Link } from "wouter";
import type { HostTime, Progress, Run } from "../api/types";
import { counted, duration, spanOfTime } from "../format/quantity";
import { secondsBetween } from "../format/time";
import { Empty } from "../ui/empty";
import { Tag } from "../ui/tag";
import { EXPERIMENT_STATE, stepInWords } from "../words";

type RunLike = Pick<
  Run,
  | "state"
  | "boots_done"
  | "seconds_left"
  | "seconds_left_low"
  | "seconds_left_high"
  | "started_at"
  | "finished_at"
>;

/** The time left as far as it can honestly be told. */
export function timeLeft(run: RunLike): string {
  if (run.state === "queued") return "not started";
  if (run.state !== "running") {
    const took = secondsBetween(run.started_at, run.finished_at);
    return took === null ? "" : `took ${duration(took)}`;
  }
  const left = run.seconds_left;
  if (typeof left !== "number") return "no estimate before the first boot is done";
  const low = run.seconds_left_low ?? left;
  const high = run.seconds_left_high ?? left;
  return `${spanOfTime(low, high)}, from ${counted(run.boots_done, "boot")}`;
}

/** What a run's host did with its time. */
export function whereItWent(time: HostTime): string {
  const boots = time.boots.map(
    (of) => `${counted(of.boots, "boot")} by ${of.method} of ${Math.round(of.mean_s)} s`,
  );
  const rest = `${duration(time.measuring_s)} measuring, ${duration(time.other_s)} neither`;
  return [...boots, rest].join(", ");
}

function RunTag({ run }: { run: Run }) {
  const word = EXPERIMENT_STATE[run.state];
  return <Tag tone={word.tone} text={word.label} />;
}

export function RunTable({ runs }: { runs: Run[] }) {
  if (runs.length === 0) {
    return (
      <Empty next={[["mitigauge worker", "takes up the runs of what is planned"]]}>
        There is no run.
      </Empty>
    );
  }
  return (
    <table className="list stack runs">
      <thead>
        <tr>
          <th scope="col">Host</th>
          <th scope="col">Comparison</th>
          <th scope="col">State</th>
          <th scope="col">Step</th>
          <th scope="col">Block</th>
          <th scope="col">Boots</th>
          <th scope="col">Time</th>
          <th scope="col">Lab faults</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <tr key={run.id}>
            <th scope="row" className="nowrap">
              <Link to={`/hosts/${encodeURIComponent(run.host)}`}>{run.host}</Link>
            </th>
            <td data-label="Comparison">{run.comparison}</td>
            <td data-label="State">
              <div>
                <RunTag run={run} />
              </div>
            </td>
            <td data-label="Step" className="step">
              {stepInWords(run)}
            </td>
            <td data-label="Block" className="nowrap">
              {run.block ?? "–"} of {run.blocks}
            </td>
            <td data-label="Boots">
              <div className="boots">
                <span className="nowrap">
                  {run.boots_done} of {run.boots_total}
                </span>
                {run.boots_left_out > 0 && (
                  <span className="faint small nowrap">{run.boots_left_out} left out</span>
                )}
                {run.boots_done > run.boots_effective && (
                  <span className="faint small nowrap">{run.boots_effective} proven</span>
                )}
                {run.state === "running" && (
                  <progress
                    value={run.boots_done + run.boots_left_out}
                    max={Math.max(1, run.boots_total)}
                    aria-label={`Boots done on ${run.host}`}
                  />
                )}
              </div>
            </td>
            <td data-label="Time">
              <div>
                {timeLeft(run)}
                {run.host_time ? (
                  <div className="faint small">{whereItWent(run.host_time)}</div>
                ) : null}
              </div>
            </td>
            <td data-label="Lab faults">{run.lab_faults}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What is to be said of boots that were made, but whose mode was not in force. */
function notProven({ runs, boots_done: done }: Pick<Progress, "runs" | "boots_done">): string {
  const proven = runs.reduce((sum, run) => sum + run.boots_effective, 0);
  if (done === 0 || proven >= done) return "";
  return proven === 0 ? ", none of them proven" : `, ${proven} of them proven`;
}

/** The experiment's own line: boots over all runs and the slowest run's time left. */
export function overall(progress: Pick<Progress, "runs" | "boots_done" | "boots_total">): string {
  const leftOut = progress.runs.reduce((sum, run) => sum + run.boots_left_out, 0);
  const others = leftOut === 0 ? "" : `, ${leftOut} left out`;
  const boots = `${progress.boots_done} of ${counted(progress.boots_total, "boot")}${notProven(progress)}${others}`;
  const running = progress.runs.filter((run) => run.state === "running");
  if (running.length === 0) return boots;
  const unknown = running.some((run) => typeof run.seconds_left !== "number");
  if (unknown) return `${boots}, no estimate before every host's first boot is done`;
  const ends = running.map((run) => [
    run.seconds_left_low ?? run.seconds_left ?? 0,
    run.seconds_left_high ?? run.seconds_left ?? 0,
  ]);
  const low = Math.max(...ends.map(([l = 0]) => l));
  const high = Math.max(...ends.map(([, h = 0]) => h));
  return `${boots}, ${spanOfTime(low, high)} left`;
}
