/** The first page: what runs, what is new, and what waits for somebody. */

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Home, Session } from "../api/types";
import { ExperimentTable } from "../experiments/page";
import { counted, duration } from "../format/quantity";
import { sessionQuery } from "../login/session";
import { regressionsQuery } from "../regressions/queries";
import { RegressionTable } from "../regressions/page";
import { OPEN } from "../regressions/words";
import { Answer, Loaded } from "../ui/answers";
import { NextCommands } from "../ui/empty";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { JobTag } from "../ui/tag";
import "./home.css";
import { homeQuery } from "./queries";

export function HomePage() {
  useTitle("");
  const query = useQuery(homeQuery());
  const home = query.data;
  return (
    <>
      <Head
        title="Today"
        tabs={<PlaceTabs of="today" here="today" />}
        lede={home && !isNothing(home) && atAGlance(home)}
      />
      <Loaded query={query} part>
        {(found) => (isNothing(found) ? <NothingYet home={found} /> : <Today home={found} />)}
      </Loaded>
    </>
  );
}

function isNothing(home: Home): boolean {
  return home.experiments === 0 && home.waiting_total === 0;
}

function Today({ home }: { home: Home }) {
  const { data: session } = useQuery({ ...sessionQuery(), enabled: false });
  return (
    <>
      {home.workers === 0 && (
        <p className="notice" data-kind="recorded" role="status">
          No worker runs, so nothing is measured: <code>mitigauge worker</code> starts one.
        </p>
      )}
      <div className="side-by-side">
        <ForAPerson home={home} session={session} />
        <Running home={home} />
      </div>
      {session && session.subject !== "" && <Mine subject={session.subject} />}
      <New home={home} />
      <section className="panel" aria-labelledby="latest">
        <header>
          <h2 id="latest">Measured last</h2>
          <Link to="/experiments" className="small">
            all {counted(home.experiments, "experiment")}
          </Link>
        </header>
        {home.latest.length === 0 ? (
          <p className="inside soft">No experiment has ended yet.</p>
        ) : (
          <ExperimentTable experiments={home.latest} />
        )}
      </section>
    </>
  );
}

function atAGlance(home: Home): string {
  const fresh = (home.regression_counts.new ?? 0) + (home.regression_counts.confirmed ?? 0);
  return [
    `${counted(home.running_total, "run")} under way`,
    `${home.waiting_total} waiting`,
    `${counted(fresh, "regression")} that nobody has taken`,
    counted(home.workers, "worker"),
  ].join(", ");
}

function NothingYet({ home }: { home: Home }) {
  return (
    <Answer title="Nothing was measured yet" part>
      <p>An experiment boots hosts into each mode, proves the mode, measures, and compares.</p>
      <NextCommands
        next={[
          ["mitigauge demo --recorded", "shows one that was recorded, at once"],
          [
            "mitigauge experiment submit experiments/lab-demo.yml",
            "plans the same on emulated hosts of this machine",
          ],
          ...(home.workers === 0
            ? ([["mitigauge worker", "carries out what is planned"]] as const)
            : []),
          ["mitigauge host add", "takes in a machine of yours"],
        ]}
      />
      <p className="faint">It shows up here by itself.</p>
    </Answer>
  );
}

function Running({ home }: { home: Home }) {
  const more = home.running_total - home.running.length;
  return (
    <section className="panel" aria-labelledby="running">
      <header>
        <h2 id="running">Runs now</h2>
        <Link to="/fleet" className="small">
          queue
        </Link>
      </header>
      {home.running.length === 0 && <p className="inside soft">Nothing runs.</p>}
      <ul className="lines">
        {home.running.map(({ host, environment, run, boots_done, boots_total }) => (
          <li key={`${environment} ${host}`}>
            <div>
              <Link to={`/experiments/${run.experiment_id}`}>
                <strong>{run.experiment}</strong>
              </Link>{" "}
              <span className="soft">on {host}</span>
              <div className="faint small">
                boot {boots_done} of {boots_total}
                {run.takes_s === null ? "" : `, done in about ${duration(run.takes_s)}`}
              </div>
            </div>
            <progress
              value={boots_done}
              max={Math.max(1, boots_total)}
              aria-label={`Boots done of ${run.experiment} on ${host}`}
            />
          </li>
        ))}
        {home.waiting.map((line) => (
          <li key={`${line.environment} ${line.host} waits`}>
            <div>
              {counted(line.runs, "run")} <span className="soft">for {line.host}</span>
              <div className="faint small">
                {line.starts_in_s === null
                  ? `start not known: ${line.not_known}`
                  : line.starts_in_s === 0
                    ? "begins now"
                    : `begins in about ${duration(line.starts_in_s)}`}
              </div>
            </div>
          </li>
        ))}
      </ul>
      {more > 0 && (
        <p className="inside small">
          <Link to="/fleet">{more} more</Link>
        </p>
      )}
    </section>
  );
}

function ForAPerson({ home, session }: { home: Home; session: Session | undefined }) {
  const may = session?.rights.includes("approve a series") ?? false;
  const nothing =
    home.approvals.length === 0 &&
    home.hosts.length === 0 &&
    home.jobs.length === 0 &&
    home.requests === 0;
  return (
    <section className="panel" aria-labelledby="waits">
      <header>
        <h2 id="waits">Waits for a person</h2>
      </header>
      {nothing && <p className="inside soft">Nothing: no host, no job and no patch series.</p>}
      <ul className="lines">
        {home.approvals.map((each) => (
          <Line
            key={`${each.series} ${each.revision}`}
            to={`/series/${encodeURIComponent(each.series)}`}
            title={`${each.title || each.series} ${each.revision}`}
            tag={may ? "your approval" : "an approver"}
          >
            from {each.sender || "somebody"}: {each.why}
          </Line>
        ))}
        {home.requests > 0 && (
          <Line
            to="/series?tab=requests"
            title={`${counted(home.requests, "mail")} with requests`}
            tag="a look"
          >
            nothing proves who sent them
          </Line>
        )}
        {home.hosts.map((each) => (
          <Line
            key={`${each.environment} ${each.host}`}
            to={`/hosts/${encodeURIComponent(each.host)}?environment=${encodeURIComponent(each.environment)}`}
            title={each.host}
            tag={each.waiting > 0 ? `${counted(each.waiting, "run")} waiting` : "idle"}
          >
            {each.why}
          </Line>
        ))}
        {home.jobs.map((job) => (
          <li key={job.id}>
            <div>
              <Link to={`/jobs/${job.id}`}>
                <strong>{job.title || `job ${job.id}`}</strong>
              </Link>{" "}
              <JobTag state={job.state} />
              <div className="faint small clamped">{job.error}</div>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface LineProps {
  to: string;
  title: string;
  tag: string;
  children: ReactNode;
}

function Line({ to, title, tag, children }: LineProps) {
  return (
    <li>
      <div>
        <Link to={to}>
          <strong>{title}</strong>
        </Link>{" "}
        <span className="tag">{tag}</span>
        <div className="faint small clamped">{children}</div>
      </div>
    </li>
  );
}

/** Open regressions of who looks at the page. */
function Mine({ subject }: { subject: string }) {
  const query = useInfiniteQuery(regressionsQuery({ owner: subject, state: OPEN }));
  const page = query.data?.pages[0];
  if (page === undefined || page.total === 0) return null;
  return (
    <section className="panel" aria-labelledby="mine">
      <header>
        <h2 id="mine">Yours</h2>
        <Link to={`/regressions?owner=${encodeURIComponent(subject)}`} className="small">
          all {page.total}
        </Link>
      </header>
      <RegressionTable regressions={page.regressions.slice(0, 8)} />
    </section>
  );
}

function New({ home }: { home: Home }) {
  const { new: unseen = 0, confirmed = 0 } = home.regression_counts;
  return (
    <section className="panel" aria-labelledby="new">
      <header>
        <h2 id="new">Worse, and nobody&rsquo;s</h2>
        <Link to="/regressions" className="small">
          all regressions
        </Link>
      </header>
      {home.regressions.length === 0 ? (
        <p className="inside soft">Nothing became worse that nobody looks after.</p>
      ) : (
        <>
          <p className="inside faint small">
            {counted(unseen, "is", "are")} new: found, and not confirmed by anybody. {confirmed}{" "}
            confirmed.
          </p>
          <RegressionTable regressions={home.regressions} />
        </>
      )}
    </section>
  );
}
