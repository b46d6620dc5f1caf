/** One case: every boot behind a row of the matrix. */

import { useQuery } from "@tanstack/react-query";
import { Link, Redirect, useLocation, useSearchParams } from "wouter";
import { CellActions } from "../act/cell";
import { caseQuery, experimentQuery } from "../api/queries";
import { tablePath } from "../tables/paths";
import type { Case, Cell, Row } from "../api/types";
import { CellText } from "../experiment/cell";
import { EarlierVersions } from "../experiment/earlier";
import { casePath } from "../experiment/paths";
import { endTexts, isMeasured, reach } from "../experiment/scale";
import { detectable, fixed } from "../format/quantity";
import { Loaded } from "../ui/answers";
import { Download, filesOfCase } from "../ui/download";
import { Empty } from "../ui/empty";
import { CountedBadge, EmulatedBadge, EmulatedNotice } from "../ui/emulated";
import { Crumbs, Head, useTitle } from "../ui/page";
import { directionInWords, hasOutcome } from "../words";
import "./case.css";
import { DetailsSection } from "../details/section";
import { HostSamples } from "./samples";
import { Tabs } from "../ui/tabs";
import { CountedLinks } from "./counted-links";
import { NoiseNote, PaceNote } from "./noise";
import { CasePicture } from "./picture";
import { Profiles } from "./profiles";
import { ArmMark } from "./shape";
import { BootTable } from "./table";
import { Threads } from "./threads";
import { Undecided } from "./undecided";

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
  const [search] = useSearchParams();
  const query = useQuery(caseQuery(id, caseId, null));
  return (
    <Loaded query={query}>
      {({ host }) => {
        const onHost = new URLSearchParams(search);
        onHost.set("host", host);
        return <Redirect to={`?${onHost.toString()}`} replace />;
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
          { text: "Experiments", to: "/experiments" },
          { text: view.experiment, to: `/experiments/${view.experiment_id}` },
        ]}
      />
      <Head
        title={view.case}
        tags={
          <>
            {view.emulated && <EmulatedBadge />}
            {view.clock === "counted" && <CountedBadge />}
          </>
        }
        lede={
          <>
            {view.comparison} on{" "}
            <Link to={`/hosts/${encodeURIComponent(view.host)}`}>{view.host}</Link>
          </>
        }
      >
        <Download files={filesOfCase(view.experiment_id, view.case_id, view.host)} />
      </Head>
      <Parameters view={view} />
      {view.emulated && <EmulatedNotice counted={view.clock === "counted"} />}
      <OtherHosts view={view} />
      {row ? <Metric view={view} row={row} /> : <NoMetric />}
    </>
  );
}

function NoMetric() {
  return (
    <section className="panel">
      <Empty next={[["mitigauge worker", "boots and measures what is planned"]]}>
        No metric has been measured yet.
      </Empty>
    </section>
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
  const [search] = useSearchParams();
  // Every host of a comparison has all of its cases.
  const hosts = data?.comparisons.find((c) => c.name === view.comparison)?.hosts ?? [];
  if (hosts.length < 2) return null;
  const address = (host: string) => {
    const there = new URLSearchParams(search);
    there.set("host", host);
    return `?${there.toString()}`;
  };
  return (
    <Tabs
      label="Hosts"
      className="case-hosts"
      tabs={hosts.map((host) => ({ name: host, text: host, to: address(host) }))}
      here={view.host}
    />
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
          <Metrics view={view} row={row} />
        </header>
        <Summary view={view} row={row} />
        <NoiseNote
          noise={view.noise[row.metric]}
          measured={Math.max(0, ...points.map((point) => point.iterations.length))}
        />
        <PaceNote row={row} />
        <div className="inside chart-head">
          <span className="faint small">
            One mark a boot, at the mean of its iterations. The scale does not start at zero.{" "}
            <span className="on-screen">Arrow keys walk, Enter opens the boot.</span>
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
          <Empty next={[["mitigauge worker", "boots and measures what is planned"]]}>
            No boot has an outcome yet.
          </Empty>
        ) : (
          <CasePicture view={view} row={row} iterations={iterations} />
        )}
      </section>
      {view.metrics.some((metric) => metric.counter) && (
        <p className="table-link">
          <Link
            className="button"
            to={tablePath(view.experiment_id, "counters", {
              case: String(view.case_id),
              host: view.host,
            })}
          >
            Counter table
          </Link>{" "}
          <span className="faint small">all counters of this case, over all arms</span>
        </p>
      )}
      <DetailsSection view={view} />
      {row.profiled && <Profiles view={view} row={row} />}
      {!row.profiled && view.clock === "counted" && <CountedLinks view={view} row={row} />}
      <section className="panel" aria-labelledby="boots">
        <header>
          <h2 id="boots">Boots</h2>
          <span className="faint small">the same figures, by block and the order they ran in</span>
        </header>
        <BootTable row={row} arms={view.arms} points={points} />
      </section>
      {view.threads && <Threads view={view} />}
      <HostSamples view={view} />
    </>
  );
}

/** More of them than that take more room than a page has. */
const MOST_LINKS = 8;

/** The case's metrics, of which one is shown. */
function Metrics({ view, row }: { view: Case; row: Row }) {
  const [, navigate] = useLocation();
  if (view.metrics.length < 2) return null;
  if (view.metrics.length > MOST_LINKS)
    return (
      <label className="small picked">
        metric{" "}
        <select
          className="field"
          value={row.metric}
          onChange={(event) => {
            const to = view.metrics.find((metric) => metric.metric === event.target.value);
            if (to) navigate(casePath(view.experiment_id, to));
          }}
        >
          {view.metrics.map((metric) => (
            <option key={metric.metric} value={metric.metric}>
              {metric.metric_title}
            </option>
          ))}
        </select>
      </label>
    );
  return (
    <Tabs
      label="Metrics"
      tabs={view.metrics.map((metric) => ({
        name: metric.metric,
        text: metric.metric_title,
        to: casePath(view.experiment_id, metric),
      }))}
      here={row.metric}
    />
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
              {cell && isMeasured(cell) && (
                <span className="faint small">bar {endTexts(scale).join(" to ")} %</span>
              )}
            </div>
            {cell ? <CellText cell={cell} row={row} reach={scale} /> : "no data"}
            {cell && isMeasured(cell) && <Strength cell={cell} />}
            {cell && <Undecided view={view} row={row} cell={cell} />}
            {cell && <EarlierVersions cell={cell} />}
            <CellActions view={view} row={row} arm={arm} />
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
