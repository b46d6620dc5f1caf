/** One experiment: its question, where it stands, and what came out. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { useLiveExperiment } from "../api/live";
import { experimentQuery, isLive, progressQuery } from "../api/queries";
import type { Comparison, Experiment, Progress, Row } from "../api/types";
import { counted } from "../format/quantity";
import { Age, Stamp } from "../ui/age";
import { Loaded } from "../ui/answers";
import { EmulatedBadge, EmulatedNotice } from "../ui/emulated";
import { Facts } from "../ui/facts";
import { Crumbs, Head, useTitle } from "../ui/page";
import { ExperimentTag } from "../ui/tag";
import { Claims } from "./claims";
import "./experiment.css";
import { Log } from "./log";
import { Matrix } from "./matrix";
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
  const { data: progress } = useQuery(progressQuery(id));
  const state = progress?.state ?? experiment.state;
  const live = isLive(state);
  const [logOpen, setLogOpen] = useState(false);
  const log = useLog(id, progress?.last_event_id, logOpen);
  const connection = useLiveExperiment(id, live, log.add);
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
      <Log
        lines={log.lines}
        live={live}
        connection={connection}
        open={logOpen}
        onToggle={setLogOpen}
      />
    </>
  );

  return (
    <>
      <Crumbs trail={[{ text: "Experiments", to: "/" }]} />
      <Head
        title={experiment.name}
        lede={experiment.question}
        tags={
          <>
            <span role="status">
              <ExperimentTag state={state} />
            </span>
            {experiment.emulated && <EmulatedBadge />}
          </>
        }
      >
        <ReportButtons id={id} />
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
      {experiment.emulated && <EmulatedNotice />}
      {live && runs}
      <Comparisons experiment={experiment} />
      {!live && <Claims id={id} />}
      {!live && runs}
      <Specification experiment={experiment} />
    </>
  );
}

/** The rows a reader asked for: primary or all metrics, cases containing a text. */
export function chosen(rows: Row[], all: boolean, text: string): Row[] {
  const wanted = text.toLowerCase();
  return rows.filter(
    (row) =>
      (all || row.primary) &&
      `${row.case} ${row.host} ${row.metric_title}`.toLowerCase().includes(wanted),
  );
}

const FILTER_FROM_ROWS = 12;

function Comparisons({ experiment }: { experiment: Experiment }) {
  const [search, setSearch] = useSearchParams();
  const all = search.get("metrics") === "all";
  const text = search.get("case") ?? "";
  const rows = experiment.comparisons.flatMap((comparison) => comparison.rows);
  const change = (key: string, value: string) => {
    setSearch(
      (before) => {
        if (value === "") before.delete(key);
        else before.set(key, value);
        return before;
      },
      { replace: true },
    );
  };
  const secondary = rows.some((row) => !row.primary);
  const filter = rows.length >= FILTER_FROM_ROWS || text !== "";
  return (
    <>
      {(secondary || filter) && (
        <div className="filters">
          {secondary && (
            <div className="segments" role="group" aria-label="Metrics">
              {[false, true].map((value) => (
                <button
                  type="button"
                  key={String(value)}
                  aria-pressed={all === value}
                  onClick={() => {
                    change("metrics", value ? "all" : "");
                  }}
                >
                  {value ? "All metrics" : "Primary metrics"}
                </button>
              ))}
            </div>
          )}
          {filter && (
            <input
              className="field"
              type="search"
              placeholder="Filter cases"
              aria-label="Filter cases"
              value={text}
              onChange={(event) => {
                change("case", event.target.value);
              }}
            />
          )}
        </div>
      )}
      {experiment.comparisons.map((comparison) => (
        <ComparisonPanel
          key={comparison.id}
          experimentId={experiment.id}
          comparison={comparison}
          rows={chosen(comparison.rows, all, text)}
        />
      ))}
    </>
  );
}

interface PanelProps {
  experimentId: number;
  comparison: Comparison;
  rows: Row[];
}

function ComparisonPanel({ experimentId, comparison, rows }: PanelProps) {
  const heading = `comparison-${comparison.id}`;
  return (
    <section className="panel" aria-labelledby={heading}>
      <header>
        <h2 id={heading}>
          {comparison.family_title} <span className="soft">on {comparison.hosts.join(", ")}</span>
        </h2>
        <span className="faint small">
          effect against baseline, 95 % interval, n boots; select a cell for its boots
        </span>
      </header>
      {rows.length === 0 ? (
        <p className="inside faint">
          {comparison.rows.length === 0 ? "No case yet." : "No case fits the filter."}
        </p>
      ) : (
        <Matrix experimentId={experimentId} comparison={comparison} rows={rows} />
      )}
    </section>
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
