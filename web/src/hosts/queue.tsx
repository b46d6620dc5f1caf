/** What each host runs, what waits for it, and when that begins. */

import { Link } from "wouter";
import type { HostQueue, QueuedRun } from "../api/types";
import { duration } from "../format/quantity";
import { Empty } from "../ui/empty";

/** "about 2 h (1 h 40 min to 2 h 20 min)"; an end that says no more is left out. */
function about(seconds: number | null, low: number | null, high: number | null): string | null {
  if (seconds === null || low === null || high === null) return null;
  const [least, most] = [duration(low), duration(high)];
  return least === most ? duration(seconds) : `${duration(seconds)} (${least} to ${most})`;
}

export function Queues({ queues }: { queues: HostQueue[] }) {
  return (
    <section className="panel" aria-labelledby="queue">
      <header>
        <h2 id="queue">Queue</h2>
        <span className="faint small">
          times are estimates, from boots that the run or its host made before
        </span>
      </header>
      {queues.length === 0 ? (
        <Empty next={[["mitigauge experiment submit SPEC", "plans an experiment on its hosts"]]}>
          Nothing runs and nothing waits.
        </Empty>
      ) : (
        <table className="list stack">
          <thead>
            <tr>
              <th scope="col">Host</th>
              <th scope="col">Run</th>
              <th scope="col">Begins</th>
              <th scope="col">Takes</th>
              <th scope="col">Submitted by</th>
            </tr>
          </thead>
          <tbody>
            {queues.map((queue) => (
              <OfHost key={`${queue.environment} ${queue.host}`} queue={queue} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function OfHost({ queue }: { queue: HostQueue }) {
  const { running, waiting } = queue;
  return (
    <>
      {queue.kept !== "" && (
        <tr>
          <th scope="row">{queue.host}</th>
          <td colSpan={4} data-label="Kept">
            <strong>{queue.kept}</strong>
          </td>
        </tr>
      )}
      {running && <Row host={queue.host} run={running} begins="now" />}
      {waiting.map((run) => (
        <Row
          key={run.run_id}
          host={queue.host}
          run={run}
          begins={begins(run) ?? `not known: ${run.not_known}`}
        />
      ))}
    </>
  );
}

function begins(run: QueuedRun): string | null {
  const within = about(run.starts_in_s, run.starts_low_s, run.starts_high_s);
  return within === null ? null : `in ${within}`;
}

function Row({ host, run, begins }: { host: string; run: QueuedRun; begins: string }) {
  return (
    <tr>
      <th scope="row">{host}</th>
      <td data-label="Run">
        <span>
          <Link to={`/experiments/${run.experiment_id}`}>{run.experiment}</Link>, {run.comparison}
        </span>
      </td>
      <td data-label="Begins">{begins}</td>
      <td data-label="Takes">
        {about(run.takes_s, run.takes_low_s, run.takes_high_s) ?? (
          <span className="faint">not known yet</span>
        )}
      </td>
      <td data-label="By">{run.submitted_by}</td>
    </tr>
  );
}
