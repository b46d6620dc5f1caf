/** What a regression looks like: the values over time, and the boots of the case that showed it. */

import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { ApiError } from "../api/client";
import { caseQuery, trendQuery } from "../api/queries";
import type { Case, Regression, Trend } from "../api/types";
import { CasePicture } from "../case/picture";
import { hasOutcome } from "../words";
import { counted } from "../format/quantity";
import { TrendPicture } from "../trends/picture";
import { Loaded } from "../ui/answers";

export function Pictures({ regression }: { regression: Regression }) {
  const { trend_id: trend, experiment_id: experiment, case_id: caseId, hosts } = regression;
  const [host] = hosts;
  return (
    <>
      {trend !== null && <OverTime id={trend} regression={regression} />}
      {experiment !== null && caseId !== null && host !== undefined && (
        <Boots experiment={experiment} caseId={caseId} host={host} regression={regression} />
      )}
    </>
  );
}

interface PanelProps<T> {
  id: string;
  title: string;
  query: UseQueryResult<T>;
  /** Said where the service no longer has it. */
  deleted: string;
  children: (data: T) => ReactNode;
}

function Panel<T>({ id, title, query, deleted, children }: PanelProps<T>) {
  const gone = query.error instanceof ApiError && query.error.status === 404;
  return (
    <section className="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
      </header>
      {gone && query.data === undefined ? (
        <p className="inside soft">{deleted}</p>
      ) : query.data === undefined ? (
        <div className="inside">
          <Loaded query={query} part>
            {() => null}
          </Loaded>
        </div>
      ) : (
        children(query.data)
      )}
    </section>
  );
}

interface OfRegression {
  regression: Regression;
}

function OverTime({ id, regression }: OfRegression & { id: number }) {
  const query = useQuery(trendQuery(id));
  return (
    <Panel id="over-time" title="Over time" query={query} deleted="Its trend was deleted.">
      {(trend) => <MarkedTrend trend={trend} change={regression.change_id} />}
    </Panel>
  );
}

/** The trend with this regression's change alone; all of its changes where that is not known. */
function MarkedTrend({ trend, change }: { trend: Trend; change: number | null }) {
  const own = trend.changes.filter((each) => each.id === change);
  const changes = own.length > 0 ? own : trend.changes;
  const others = trend.changes.length - changes.length;
  if (trend.values.length === 0) return <p className="inside soft">The trend has no values.</p>;
  return (
    <div className="inside">
      <p className="soft small">
        One value a run, with its 95 % interval.{" "}
        {own.length > 0
          ? "The shaded place is where this change lies (95 %)."
          : "This change is not among those that the trend has now."}{" "}
        {others > 0 && (
          <Link to={`/trends/${trend.id}`}>{counted(others, "other change")} of the trend</Link>
        )}
      </p>
      <TrendPicture trend={{ ...trend, changes }} />
    </div>
  );
}

interface BootsProps extends OfRegression {
  experiment: number;
  caseId: number;
  host: string;
}

function Boots({ experiment, caseId, host, regression }: BootsProps) {
  const query = useQuery(caseQuery(experiment, caseId, host));
  return (
    <Panel id="boots" title="Boots" query={query} deleted="Its case was deleted.">
      {(view) => <BootsOf view={view} metric={regression.metric} />}
    </Panel>
  );
}

function BootsOf({ view, metric }: { view: Case; metric: string }) {
  const row = view.metrics.find((each) => each.metric === metric);
  const done = (view.points[metric] ?? []).some((point) => hasOutcome(point.state));
  if (row === undefined || !done)
    return <p className="inside soft">No boot of it has a value of this metric.</p>;
  return (
    <>
      <p className="inside soft small">
        One mark a boot of experiment {view.experiment_id}, {view.experiment}, by arm. Lines are the
        means of the arms.
      </p>
      <CasePicture view={view} row={row} />
    </>
  );
}
