/** One job: what it is about, its log, and who tried what. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { Action } from "../act/action";
import { useRights } from "../act/rights";
import { api, data } from "../api/client";
import { jobQuery, jobsQuery } from "../api/queries";
import type { JobWhole } from "../api/types";
import { clock, stamp } from "../format/time";
import { Age } from "../ui/age";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";
import { Facts } from "../ui/facts";
import { Crumbs, Head, useTitle } from "../ui/page";
import { JobTag } from "../ui/tag";
import { about } from "./words";

export function JobPage({ id }: { id: number }) {
  useTitle(`Job ${id}`);
  const query = useQuery(jobQuery(id));
  return (
    <>
      <Crumbs
        trail={[
          { text: "Fleet", to: "/fleet" },
          { text: "Jobs", to: "/fleet?tab=jobs" },
        ]}
      />
      <Loaded query={query}>{(job) => <Job job={job} />}</Loaded>
    </>
  );
}

function Job({ job }: { job: JobWhole }) {
  return (
    <>
      <Head title={job.title} tags={<JobTag state={job.state} />} lede={about(job)}>
        <Cancel job={job} />
      </Head>
      <section className="panel" aria-label="Facts">
        <div className="inside">
          <Facts
            items={[
              ["Kind", job.kind],
              ["Asked by", job.asked_by],
              ["Asked", stamp(job.created_at)],
              ["Begun", job.started_at === null ? null : stamp(job.started_at)],
              ["Over", job.finished_at === null ? null : stamp(job.finished_at)],
              ["Gave", <Result key="result" job={job} />],
            ]}
          />
        </div>
      </section>
      <Log job={job} />
      <Attempts job={job} />
    </>
  );
}

function Result({ job }: { job: JobWhole }) {
  const { experiment, kernels } = job.result as { experiment?: number; kernels?: number[] };
  if (job.kind === "bisection")
    return <Link to={`/bisections/${job.subject}`}>bisection {job.subject}</Link>;
  if (experiment !== undefined)
    return <Link to={`/experiments/${experiment}`}>experiment {experiment}</Link>;
  if (kernels !== undefined)
    return <>{kernels.length === 1 ? "a kernel" : `${kernels.length} kernels`}</>;
  return (
    <span className="faint">
      {job.state === "queued" || job.state === "running" ? "nothing yet" : "nothing"}
    </span>
  );
}

function Cancel({ job }: { job: JobWhole }) {
  const { mayCancel } = useRights();
  const queries = useQueryClient();
  const over = job.state !== "queued" && job.state !== "running";
  if (over || job.cancelled_by !== "" || !mayCancel(job.asked_by)) return null;
  return (
    <div className="buttons">
      <Action
        label="Cancel"
        confirm="Cancel it"
        run={() =>
          data(
            api.POST("/api/jobs/{job_id}/cancel", {
              params: { path: { job_id: job.id } },
              body: {},
            }),
          )
        }
        settled={() =>
          Promise.all([
            queries.invalidateQueries({ queryKey: jobQuery(job.id).queryKey }),
            queries.invalidateQueries({ queryKey: jobsQuery().queryKey }),
          ])
        }
      >
        <p>What it builds is stopped within seconds. It can be asked for again.</p>
      </Action>
    </div>
  );
}

function Log({ job }: { job: JobWhole }) {
  return (
    <section className="panel" aria-labelledby="log">
      <header>
        <h2 id="log">Log</h2>
      </header>
      {job.events.length === 0 ? (
        <Empty>Nothing was said yet.</Empty>
      ) : (
        <ol className="inside plain job-log">
          {job.events.map((line) => (
            <li key={line.id}>
              <time className="faint" dateTime={line.at} title={stamp(line.at)}>
                {clock(line.at)}
              </time>{" "}
              {line.text}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Attempts({ job }: { job: JobWhole }) {
  if (job.attempts.length === 0) return null;
  return (
    <section className="panel" aria-labelledby="attempts">
      <header>
        <h2 id="attempts">Attempts</h2>
        <span className="faint small">a step that nobody ended is taken again</span>
      </header>
      <table className="list stack">
        <thead>
          <tr>
            <th scope="col">Attempt</th>
            <th scope="col">Worker</th>
            <th scope="col">Outcome</th>
            <th scope="col">Begun</th>
          </tr>
        </thead>
        <tbody>
          {job.attempts.map((attempt) => (
            <tr key={attempt.epoch}>
              <th scope="row">{attempt.epoch}</th>
              <td data-label="Worker">{attempt.worker}</td>
              <td data-label="Outcome">
                {attempt.outcome || "under way"}
                {attempt.detail !== "" && <div className="faint small">{attempt.detail}</div>}
              </td>
              <td data-label="Begun">
                <Age at={attempt.started_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
