/** One regression: its evidence, what people decided, and all that was said of it. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { Subscribe } from "../act/subscribe";
import type { Regression, RegressionEntry } from "../api/types";
import { counted } from "../format/quantity";
import { stamp } from "../format/time";
import { Age } from "../ui/age";
import { Loaded } from "../ui/answers";
import { CountedBadge, EmulatedBadge, EmulatedNotice } from "../ui/emulated";
import { Crumbs, Head, useTitle } from "../ui/page";
import { ChangeForm } from "./form";
import { FreshBootsPanel } from "./fresh-boots";
import { regressionQuery } from "./queries";
import "./regressions.css";
import { personName } from "../format/person";
import { Pictures } from "./picture";
import { Owner, RegressionEffect, RegressionTag, worseWords } from "./words";

export function RegressionPage({ id }: { id: number }) {
  const query = useQuery(regressionQuery(id));
  return <Loaded query={query}>{(regression) => <One regression={regression} />}</Loaded>;
}

function One({ regression }: { regression: Regression }) {
  useTitle(`${regression.case}, regression ${regression.id}`);
  const counts = regression.clock === "counted";
  return (
    <>
      <Crumbs trail={[{ text: "Regressions", to: "/regressions" }]} />
      <Head
        title={regression.case}
        tags={
          <>
            <RegressionTag state={regression.state} />
            {regression.emulated && <EmulatedBadge />}
            {counts && <CountedBadge />}
          </>
        }
        lede={
          <>
            {regression.metric_title}, <span className="mono">{regression.mode}</span> on{" "}
            {regression.host_class} ({regression.hosts.join(", ")})
          </>
        }
      >
        <div className="buttons">
          <Subscribe
            offers={[
              { kind: "case", subject: `${regression.workload}/${regression.case}` },
              { kind: "my-regressions" },
              { kind: "new-regressions" },
            ]}
          />
        </div>
      </Head>
      <p className="headline">
        {regression.metric_title} {worseWords(regression)} <RegressionEffect of={regression} /> than{" "}
        {regression.before}, since {stamp(regression.happened_at)}.
      </p>
      {regression.emulated && <EmulatedNotice counted={counts} />}
      <Pictures regression={regression} />
      <div className="side-by-side regression">
        <section className="panel" aria-labelledby="standing">
          <header>
            <h2 id="standing">Where it stands</h2>
          </header>
          <Standing regression={regression} />
          <ChangeForm regression={regression} />
        </section>
        <section className="panel" aria-labelledby="evidence">
          <header>
            <h2 id="evidence">Evidence</h2>
          </header>
          <Evidence regression={regression} />
        </section>
      </div>
      <FreshBootsPanel regression={regression} />
      <section className="panel" aria-labelledby="history">
        <header>
          <h2 id="history">History</h2>
          <span className="faint small">
            {counted(regression.history.length, "entry", "entries")}
          </span>
        </header>
        <ol className="history inside">
          {regression.history.toReversed().map((entry) => (
            <Entry key={entry.id} entry={entry} />
          ))}
        </ol>
      </section>
    </>
  );
}

function Standing({ regression }: { regression: Regression }) {
  const { duplicate_of: other } = regression;
  return (
    <p className="inside buttons">
      <RegressionTag state={regression.state} />
      {other !== null && <Link to={`/regressions/${other}`}>regression {other}</Link>}
      <span>
        <Owner of={regression} />
        &rsquo;s
      </span>
      {regression.bug !== "" && (
        <a className="bug" href={regression.bug} rel="noreferrer nofollow">
          {regression.bug}
        </a>
      )}
    </p>
  );
}

function Evidence({ regression }: { regression: Regression }) {
  const { trend_id: trend, experiment_id: experiment, case_id: caseId } = regression;
  return (
    <ul className="inside evidence">
      {trend !== null && (
        <li>
          <Link to={`/trends/${trend}`}>Its trend</Link>: the values over time, and what changed
          then
        </li>
      )}
      {experiment !== null && (
        <li>
          <Link to={`/experiments/${experiment}${caseId === null ? "" : `/cases/${caseId}`}`}>
            {caseId === null ? `Experiment ${experiment}` : `Its case in experiment ${experiment}`}
          </Link>
          : the first that showed it
        </li>
      )}
      {regression.bisection_id === null && (trend !== null || experiment !== null) && (
        <li>
          <Link to={`/regressions?tab=new-bisection&regression=${regression.id}`}>
            Start a bisection
          </Link>
          : which change is it?
        </li>
      )}
      {regression.bisection_id !== null && (
        <li>
          <Link to={`/bisections/${regression.bisection_id}`}>
            Bisection {regression.bisection_id}
          </Link>
        </li>
      )}
      {regression.duplicates.map((number) => (
        <li key={number}>
          <Link to={`/regressions/${number}`}>Regression {number}</Link> joined it
        </li>
      ))}
      {trend === null && experiment === null && <li>It was deleted with its experiment.</li>}
    </ul>
  );
}

const WHAT: Record<RegressionEntry["kind"], string> = {
  found: "found it",
  state: "state",
  owner: "owner",
  bug: "bug",
  bisection: "bisection",
  joined: "joins",
  note: "",
};

function Entry({ entry }: { entry: RegressionEntry }) {
  const changed = entry.kind !== "found" && entry.kind !== "note";
  return (
    <li>
      <span className="small">
        <strong>{personName(entry.by)}</strong> {WHAT[entry.kind]}
        {changed && (
          <>
            {" "}
            {entry.before === "" ? "none" : entry.before} →{" "}
            {entry.after === "" ? "none" : entry.after}
          </>
        )}{" "}
        <span className="faint">
          <Age at={entry.at} />
        </span>
      </span>
      {entry.text !== "" && <p className="said">{entry.text}</p>}
    </li>
  );
}
