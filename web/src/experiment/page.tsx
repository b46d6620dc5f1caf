/** One experiment: its question, where it stands, and what came out. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { ExperimentActions } from "../act/experiment";
import { useLiveExperiment } from "../api/live";
import { experimentQuery, fetchReport, isLive } from "../api/queries";
import type { Experiment, Progress } from "../api/types";
import { comparePath } from "../compare/address";
import { counted } from "../format/quantity";
import { LimitsOfExperiment } from "../limits/of-experiment";
import { Age, Stamp } from "../ui/age";
import { Loaded } from "../ui/answers";
import { Download, filesOf } from "../ui/download";
import { CountedBadge, EmulatedBadge, EmulatedNotice } from "../ui/emulated";
import { Facts } from "../ui/facts";
import { Crumbs, Head, useTitle } from "../ui/page";
import { RecordedNotice, RecordedTag } from "../ui/recorded";
import { ExperimentTag } from "../ui/tag";
import { Claims } from "./claims";
import { Comparisons } from "./comparisons";
import { FactorialCosts } from "./factorial";
import "./experiment.css";
import { Log } from "./log";
import { isCrossed, tablePath } from "../tables/paths";
import { Publications } from "./publications";
import { ReportButtons } from "./report";
import { overall, RunTable } from "./runs";
import { useLog } from "./use-log";

export function ExperimentPage({ id }: { id: number }) {
  const query = useQuery(experimentQuery(id));
  useTitle(query.data?.name ?? "");
  return <Loaded query={query}>{(experiment) => <Body experiment={experiment} />}</Loaded>;
}

function Body({ experiment }: { experiment: Experiment }) {
  const { id } = experiment;
  const { progress, connection } = useLiveExperiment(id);
  const state = progress?.state ?? experiment.state;
  const live = isLive(state);
  const [logOpen, setLogOpen] = useState(false);
  const lines = useLog(id, progress?.last_event_id, logOpen);
  const standing: Pick<Progress, "runs" | "boots_done" | "boots_total"> = progress ?? experiment;

  const runs = (
    <>
      <section className="panel" aria-label="Runs">
        <header>
          <h2>{live ? "Progress" : "Runs"}</h2>
          <span className="soft" data-testid="overall">
            {overall(standing)}
          </span>
        </header>
        <RunTable runs={standing.runs} />
      </section>
      <Log lines={lines} live={live} connection={connection} open={logOpen} onToggle={setLogOpen} />
    </>
  );

  return (
    <>
      <Crumbs trail={[{ text: "Experiments", to: "/experiments" }]} />
      <Head
        title={experiment.name}
        lede={experiment.question}
        tags={
          <>
            <span role="status">
              <ExperimentTag state={state} />
            </span>
            {experiment.emulated && <EmulatedBadge />}
            <RecordedTag recorded={experiment.recorded} />
            {experiment.counted && <CountedBadge />}
          </>
        }
      >
        <div className="buttons">
          <ExperimentActions experiment={experiment} state={state} done={standing.boots_done} />

          <Link className="button" to={comparePath(id)}>
            Compare with…
          </Link>
          {isCrossed(experiment.comparisons) && (
            <Link className="button" to={tablePath(id, "loss")}>
              Loss matrix
            </Link>
          )}
          <ReportButtons
            fetched={(format) => fetchReport(id, format)}
            href={`/api/experiments/${id}/report?format=text`}
          />
          <Download files={filesOf(id)} />
        </div>
      </Head>
      {experiment.headline !== "" && <p className="headline">{experiment.headline}</p>}
      {standing.runs
        .filter((run) => run.error !== "")
        .map((run) => (
          <p className="problem" key={run.id}>
            <strong>
              {run.comparison} on {run.host}:
            </strong>{" "}
            {run.error}
          </p>
        ))}
      <RecordedNotice recorded={experiment.recorded} />
      {experiment.emulated && <EmulatedNotice counted={experiment.counted} />}
      {live && runs}
      <FactorialCosts experiment={experiment} />
      {!live && <LimitsOfExperiment id={id} />}
      <Comparisons experiment={experiment} />
      {!live && <Claims id={id} />}
      {!live && <Publications id={id} />}
      {!live && runs}
      <Specification experiment={experiment} />
    </>
  );
}

function Specification({ experiment }: { experiment: Experiment }) {
  return (
    <details className="panel">
      <summary>
        <h2>Specification</h2>
        <span className="faint">
          {counted(experiment.comparisons.length, "comparison")}, seed {experiment.seed}
        </span>
      </summary>
      <div className="inside spec">
        <Facts
          items={[
            ["environment", experiment.environment],
            ["seed of the plan", experiment.seed],
            ["submitted", <Age key="at" at={experiment.created_at} />],
            ["by", experiment.submitted_by],
            ["started", experiment.started_at && <Stamp at={experiment.started_at} />],
            ["finished", experiment.finished_at && <Stamp at={experiment.finished_at} />],
          ]}
        />
        <pre className="raw" tabIndex={0} aria-label="Specification as submitted">
          {experiment.spec_text}
        </pre>
      </div>
    </details>
  );
}
