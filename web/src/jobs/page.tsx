/** What workers do by themselves, and the workers. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { jobsQuery, workersQuery } from "../api/queries";
import type { Job, JobState, Worker } from "../api/types";
import { Age } from "../ui/age";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";
import { labels, ListFilter, NoneLikeThat, useListFilter } from "../ui/list-filter";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { JobTag, Tag } from "../ui/tag";
import { JOB_STATE } from "../words";
import { ABILITY, about } from "./words";

export function JobsPage() {
  useTitle("Jobs");
  const filter = useListFilter(Object.keys(JOB_STATE) as JobState[]);
  const jobs = useQuery(jobsQuery(filter.asked));
  const workers = useQuery(workersQuery());
  return (
    <>
      <Head
        title="Jobs"
        tabs={<PlaceTabs of="fleet" here="jobs" />}
        lede="What the service does by itself: kernels, revisions, bisections, archives, mails, letters."
      />
      <ListFilter
        label="Jobs"
        filter={filter}
        states={labels(JOB_STATE)}
        placeholder="title, subject or person"
      />
      <Loaded query={jobs} part>
        {(found) =>
          found.length === 0 && filter.narrows ? <NoneLikeThat what="job" /> : <Jobs jobs={found} />
        }
      </Loaded>
      <Loaded query={workers} part>
        {(found) => <Workers workers={found} />}
      </Loaded>
    </>
  );
}

function Jobs({ jobs }: { jobs: Job[] }) {
  return (
    <section className="panel" aria-labelledby="jobs">
      <header>
        <h2 id="jobs">Asked for</h2>
      </header>
      {jobs.length === 0 ? (
        <Empty
          next={[
            ["mitigauge kernel build PATCHES", "builds a kernel with patches"],
            ["mitigauge series start NAME", "builds and measures a revision"],
            ["mitigauge bisect start --series NAME", "finds the patch that made a figure worse"],
          ]}
        >
          Nobody asked for anything yet.
        </Empty>
      ) : (
        <table className="list stack">
          <thead>
            <tr>
              <th scope="col">Job</th>
              <th scope="col">State</th>
              <th scope="col">Asked by</th>
              <th scope="col">When</th>
            </tr>
          </thead>
          <tbody>
            {jobs.map((job) => (
              <JobRow key={job.id} job={job} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function JobRow({ job }: { job: Job }) {
  const line = about(job);
  return (
    <tr>
      <th scope="row">
        <Link to={`/jobs/${job.id}`}>
          <strong>{job.title}</strong>
        </Link>
        <div className="soft">
          {job.kind} {job.id}
        </div>
      </th>
      <td data-label="State">
        <div>
          <JobTag state={job.state} />
          {line !== "" && <div className="faint small">{line}</div>}
        </div>
      </td>
      <td data-label="Asked by">{job.asked_by}</td>
      <td data-label="When">
        <Age at={job.created_at} />
      </td>
    </tr>
  );
}

function Workers({ workers }: { workers: Worker[] }) {
  return (
    <section className="panel" aria-labelledby="workers">
      <header>
        <h2 id="workers">Workers</h2>
        <span className="faint small">of the last week</span>
      </header>
      {workers.length === 0 ? (
        <Empty next={[["mitigauge worker", "starts one on the machine it is run on"]]}>
          No worker has run yet, so nothing is done.
        </Empty>
      ) : (
        <table className="list stack">
          <thead>
            <tr>
              <th scope="col">Worker</th>
              <th scope="col">State</th>
              <th scope="col">Can</th>
              <th scope="col">Lacks</th>
              <th scope="col">Last seen</th>
            </tr>
          </thead>
          <tbody>
            {[
              ...workers.filter((each) => each.alive),
              ...workers.filter((each) => !each.alive),
            ].map((worker) => (
              <WorkerRow key={`${worker.name} ${worker.started_at}`} worker={worker} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function WorkerRow({ worker }: { worker: Worker }) {
  const reached = Object.entries(worker.hosts).map(
    ([environment, hosts]) => `${environment}: ${hosts.join(", ")}`,
  );
  // Of one that is no more, what it could do says nothing of what is done now.
  const can = !worker.alive ? [] : [...worker.jobs.map((ability) => ABILITY[ability]), ...reached];
  return (
    <tr>
      <th scope="row">
        {worker.name}
        <div className="soft small">
          {worker.version}, {worker.architecture}
        </div>
      </th>
      <td data-label="State">
        <div>
          {worker.alive ? (
            <Tag tone="good" text="works" />
          ) : (
            <Tag tone="quiet" text={worker.stopped ? "stopped" : "gone"} />
          )}
        </div>
      </td>
      <td data-label="Can">
        <Lines lines={can} />
      </td>
      <td data-label="Lacks">
        <Lines
          lines={worker.alive ? worker.lacks.map((lack) => `${lack.what}: ${lack.why}`) : []}
        />
      </td>
      <td data-label="Last seen">
        <Age at={worker.seen_at} />
      </td>
    </tr>
  );
}

function Lines({ lines }: { lines: string[] }) {
  if (lines.length === 0) return null;
  return (
    <ul className="plain small">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
