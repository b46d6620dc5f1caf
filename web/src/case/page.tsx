/** One case: every boot behind a row of the matrix. */

import { useQuery } from "@tanstack/react-query";
import { Link, Redirect, useSearchParams } from "wouter";
import { caseQuery, experimentQuery } from "../api/queries";
import type { Case, Cell, Row } from "../api/types";
import { CellText } from "../experiment/cell";
import { casePath } from "../experiment/matrix";
import { isMeasured, reach } from "../experiment/scale";
import { detectable, fixed } from "../format/quantity";
import { Loaded, NotFound } from "../ui/answers";
import { EmulatedBadge, EmulatedNotice } from "../ui/emulated";
import { Crumbs, Head, useTitle } from "../ui/page";
import { directionInWords, hasOutcome } from "../words";
import "./case.css";
import { Chart } from "./chart";
import { NoiseNote, PaceNote } from "./noise";
import { Profiles } from "./profiles";
import { ArmMark } from "./shape";
import { BootTable } from "./table";

interface CaseKey {
  id: number;
  caseId: number;
}

export function CasePage({ id, caseId }: CaseKey) {
  const [search] = useSearchParams();
  const host = search.get("host");
  if (host === null) return <OnFirstHost id={id} caseId={caseId} />;
  return <OnHost id={id} caseId={caseId} host={host} />;
}

/** An address without a host means the first host that has the case. */
function OnFirstHost({ id, caseId }: CaseKey) {
  const query = useQuery(experimentQuery(id));
  return (
    <Loaded query={query}>
      {(experiment) => {
        const row = experiment.comparisons.flatMap((c) => c.rows).find((r) => r.case_id === caseId);
        if (!row) return <NotFound what={`Experiment ${id} has no case ${caseId}.`} />;
        return <Redirect to={casePath(id, row)} replace />;
      }}
    </Loaded>
  );
}

function OnHost({ id, caseId, host }: CaseKey & { host: string }) {
  const query = useQuery(caseQuery(id, caseId, host));
  useTitle(query.data ? `${query.data.case} on ${host}` : "");
  return <Loaded query={query}>{(view) => <Body view={view} />}</Loaded>;
}

function Body({ view }: { view: Case }) {
  const [search] = useSearchParams();
  const wanted = search.get("metric");
  const row =
    view.metrics.find((m) => m.metric === wanted) ??
    view.metrics.find((m) => m.primary) ??
    view.metrics[0];
  return (
    <>
      <Crumbs
        trail={[
          { text: "Experiments", to: "/" },
          { text: view.experiment, to: `/experiments/${view.experiment_id}` },
        ]}
      />
      <Head
        title={view.case}
        tags={view.emulated && <EmulatedBadge />}
        lede={
          <>
            {view.comparison} on{" "}
            <Link to={`/hosts/${encodeURIComponent(view.host)}`}>{view.host}</Link>
          </>
        }
      />
      <Parameters view={view} />
      {view.emulated && <EmulatedNotice />}
      <OtherHosts view={view} />
      {row ? <Metric view={view} row={row} /> : <p className="panel inside">No metric yet.</p>}
    </>
  );
}

function Parameters({ view }: { view: Case }) {
  return (
    <ul className="parameters">
      {Object.entries(view.parameters).map(([name, value]) => (
        <li key={name}>
          <span className="faint">{name}</span> {String(value)}
        </li>
      ))}
    </ul>
  );
}

/** The same case on the experiment's other hosts, if there are any. */
function OtherHosts({ view }: { view: Case }) {
  const { data } = useQuery(experimentQuery(view.experiment_id));
  const rows = data?.comparisons.flatMap((c) => c.rows).filter((r) => r.case_id === view.case_id);
  const hosts = new Map(rows?.map((row) => [row.host, row]));
  if (hosts.size < 2) return null;
  return (
    <nav className="segments case-hosts" aria-label="Hosts">
      {[...hosts].map(([host, row]) => (
        <Link
          key={host}
          to={casePath(view.experiment_id, row)}
          aria-current={host === view.host ? "true" : undefined}
        >
          {host}
        </Link>
      ))}
    </nav>
  );
}

function Metric({ view, row }: { view: Case; row: Row }) {
  const [search, setSearch] = useSearchParams();
  const iterations = search.get("iterations") === "1";
  const points = view.points[row.metric] ?? [];
  const done = points.filter((point) => hasOutcome(point.state));
  const toggle = (on: boolean) => {
    setSearch(
      (before) => {
        if (on) before.set("iterations", "1");
        else before.delete("iterations");
        return before;
      },
      { replace: true },
    );
  };
  return (
    <>
      <section className="panel" aria-labelledby="metric">
        <header>
          <h2 id="metric">
            {row.metric_title} <span className="soft">{directionInWords(row)}</span>
            {!row.primary && <span className="faint"> · exploratory</span>}
          </h2>
          {view.metrics.length > 1 && (
            <nav className="segments" aria-label="Metrics">
              {view.metrics.map((metric) => (
                <Link
                  key={metric.metric}
                  to={casePath(view.experiment_id, metric)}
                  aria-current={metric.metric === row.metric ? "true" : undefined}
                >
                  {metric.metric_title}
                </Link>
              ))}
            </nav>
          )}
        </header>
        <Summary view={view} row={row} />
        <NoiseNote
          noise={view.noise[row.metric]}
          measured={Math.max(0, ...points.map((point) => point.iterations.length))}
        />
        <PaceNote row={row} />
        <div className="inside chart-head">
          <span className="faint small">
            One mark a boot, at the mean of its iterations. The scale does not start at zero. Arrow
            keys walk, Enter opens the boot.
          </span>
          <label className="small">
            <input
              type="checkbox"
              checked={iterations}
              onChange={(event) => {
                toggle(event.target.checked);
              }}
            />{" "}
            iterations
          </label>
        </div>
        {done.length === 0 ? (
          <p className="inside faint">No boot has an outcome yet.</p>
        ) : (
          <Chart row={row} arms={view.arms} points={done} iterations={iterations} />
        )}
      </section>
      {row.profiled && <Profiles view={view} row={row} />}
      <section className="panel" aria-labelledby="boots">
        <header>
          <h2 id="boots">Boots</h2>
          <span className="faint small">the same figures, by block and the order they ran in</span>
        </header>
        <BootTable row={row} arms={view.arms} points={points} />
      </section>
    </>
  );
}

/** The row of the matrix again, with what each mark means: summary and legend in one. */
function Summary({ view, row }: { view: Case; row: Row }) {
  const scale = reach([row]);
  const crossed = (view.points[row.metric] ?? []).some(
    (point) => hasOutcome(point.state) && !point.counts,
  );
  return (
    <ul className="summary">
      {view.arms.map((arm, index) => {
        const cell = row.cells.find((c) => c.arm_id === arm.id);
        return (
          <li key={arm.id} data-state={cell?.state}>
            <div className="summary-arm">
              <ArmMark arm={index} />
              <span className="mono">{arm.name}</span>
              {arm.is_baseline && <span className="tag">baseline</span>}
              {cell && isMeasured(cell) && <span className="faint small">bar ±{scale} %</span>}
            </div>
            {cell ? <CellText cell={cell} row={row} reach={scale} /> : "no data"}
            {cell && isMeasured(cell) && <Strength cell={cell} />}
            {cell?.state === "not_effective" && (
              <dl className="said">
                <dt>kernel said</dt>
                <dd className="mono">{arm.observed.join(", ")}</dd>
              </dl>
            )}
          </li>
        );
      })}
      {crossed && (
        <li className="crossed">
          <div className="summary-arm">
            <ArmMark arm={0} counts={false} />
            hollow and crossed
          </div>
          <span className="soft small">does not count; its reason is in the table</span>
        </li>
      )}
    </ul>
  );
}

function small(probability: number) {
  return probability < 0.001 ? "< 0.001" : `= ${fixed(probability, 3)}`;
}

/** How much the comparison could have seen, and how unlikely it is by chance. */
function Strength({ cell }: { cell: Cell }) {
  const parts = [
    typeof cell.mde_percent === "number" &&
      `smallest detectable effect ${detectable(cell.mde_percent)}`,
    typeof cell.p === "number" && `p ${small(cell.p)}`,
    typeof cell.q === "number" && `q ${small(cell.q)}`,
  ].filter((part) => part !== false);
  return <span className="soft small">{parts.join(", ")}</span>;
}
