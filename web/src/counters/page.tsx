/** Counters of one operation over all arms of a comparison. */

import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import { countersQuery, fetchCountersReport } from "../api/queries";
import type { CounterCell, CounterRow, Counters, CounterTable } from "../api/types";
import { ReportButtons } from "../experiment/report";
import { counted, interval, percent, percentDigits, quantity, scaled } from "../format/quantity";
import { Loaded } from "../ui/answers";
import { Download } from "../ui/download";
import {
  CountedBadge,
  CountedMark,
  EmulatedBadge,
  EmulatedMark,
  EmulatedNotice,
} from "../ui/emulated";
import { Empty } from "../ui/empty";
import { Crumbs, Head, useTitle } from "../ui/page";
import { VERDICT } from "../words";
import { Claimed } from "./claimed";
import "./counters.css";
import { countersPath } from "./paths";

export function CountersPage({ id }: { id: number }) {
  const [address] = useSearchParams();
  const asked = address.get("case");
  const caseId = asked !== null && /^[1-9]\d{0,15}$/.test(asked) ? Number(asked) : null;
  const host = address.get("host");
  const query = useQuery(countersQuery(id, caseId, host));
  useTitle(query.data ? `Counters, ${query.data.experiment}` : "");
  return (
    <Loaded query={query}>
      {(counters) => <Body counters={counters} caseId={caseId} host={host} />}
    </Loaded>
  );
}

interface BodyProps {
  counters: Counters;
  caseId: number | null;
  host: string | null;
}

function Body({ counters, caseId, host }: BodyProps) {
  const { experiment_id: id, tables } = counters;
  const query = new URLSearchParams({
    ...(caseId !== null && { case: String(caseId) }),
    ...(host !== null && { host }),
  }).toString();
  const report = `/api/experiments/${id}/counters/report?${query}`;
  return (
    <>
      <Crumbs
        trail={[
          { text: "Experiments", to: "/" },
          { text: counters.experiment, to: `/experiments/${id}` },
        ]}
      />
      <Head
        title="Counters"
        lede="What hosts counted. Changes are against the baseline, with their 95 % interval; exploratory."
        tags={
          <>
            {counters.emulated && <EmulatedBadge />}
            {counters.counted && <CountedBadge />}
          </>
        }
      >
        {tables.length > 0 && (
          <div className="buttons">
            <ReportButtons
              fetched={(format) => fetchCountersReport(id, caseId, host, format)}
              href={`${report}&format=text`}
            />
            <Download files={[[`${report}&format=csv`, "Counters as CSV"]]} />
          </div>
        )}
      </Head>
      {counters.emulated && tables.length > 0 && <EmulatedNotice counted={counters.counted} />}
      {tables.length === 0 && <NothingCounted id={id} />}
      {tables.map((table) => (
        <Panel key={`${table.case_id} ${table.host}`} experimentId={id} table={table} />
      ))}
      {counters.left_out > 0 && (
        <p className="faint small">
          {counted(counters.left_out, "more table")} not shown:{" "}
          {caseId === null && host === null ? (
            "each case's page leads to its own."
          ) : (
            <Link to={countersPath(id)}>show all</Link>
          )}
        </p>
      )}
    </>
  );
}

function NothingCounted({ id }: { id: number }) {
  return (
    <section className="panel" aria-label="Counters">
      <Empty
        next={[
          [
            'cases: {test: basic, counters: "yes"}',
            "of workload syscall counts beside each iteration",
          ],
          ["mitigauge experiment submit experiments/lab-bhb-loop-variants.yml", "is an example"],
        ]}
      >
        No case of <Link to={`/experiments/${id}`}>this experiment</Link> counts.
      </Empty>
    </section>
  );
}

function Panel({ experimentId, table }: { experimentId: number; table: CounterTable }) {
  const name = `counters-${table.case_id}-${table.host}`.replace(/[^\w-]/g, "-");
  const query = new URLSearchParams({ host: table.host }).toString();
  return (
    <section className="panel" aria-labelledby={name}>
      <header>
        <h2 id={name}>
          <Link to={`/experiments/${experimentId}/cases/${table.case_id}?${query}`}>
            {table.case}
          </Link>{" "}
          {table.emulated && <EmulatedMark />} {table.counted && <CountedMark />}
        </h2>
        <span className="faint small">
          {[table.comparison, table.host_class, table.processor, `host ${table.host}`]
            .filter((part) => part !== "")
            .join(", ")}
        </span>
      </header>
      {table.rows.length === 0 ? (
        <Empty next={[["mitigauge worker", "boots and measures what is planned"]]}>
          Nothing has been counted yet.
        </Empty>
      ) : (
        <div
          className="counter-scroll"
          tabIndex={0}
          role="region"
          aria-label={`Counters of ${table.case}`}
        >
          <Grid table={table} />
        </div>
      )}
      {table.rows.length > 0 && table.absent.length > 0 && (
        <p className="inside faint small">
          Absent, since this host does not count them: {table.absent.join(", ")}.
        </p>
      )}
    </section>
  );
}

function Grid({ table }: { table: CounterTable }) {
  return (
    <table className="list stack counters">
      <thead>
        <tr>
          <th scope="col">Counter</th>
          {table.arms.map((arm) => (
            <th scope="col" key={arm.arm_id} title={arm.mode}>
              <span className="mono">{arm.name}</span>
              {arm.is_baseline && " (baseline)"}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((row) => (
          <tr key={row.metric}>
            <th scope="row">
              {row.title}
              <span className="faint small unit">{row.unit}</span>
            </th>
            {table.arms.map((arm) => (
              <td key={arm.arm_id} data-label={arm.name}>
                <CellView row={row} cell={row.cells.find((cell) => cell.arm_id === arm.arm_id)} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function CellView({ row, cell }: { row: CounterRow; cell: CounterCell | undefined }) {
  if (cell?.state === "not_effective") return <span className="void">⊘ not effective</span>;
  if (cell === undefined || cell.mean === null) return <span className="faint">absent</span>;
  const value = row.is_counter
    ? scaled(cell.mean, { factor: 1, label: row.unit })
    : quantity(cell.mean, row.unit);
  return (
    <div className="counter-cell">
      <span>
        <span className="value">{value}</span> <Change cell={cell} />
      </span>
      <span className="interval">
        <Between cell={cell} />
        <span className="n">n {cell.n}</span>
      </span>
      {cell.claims.map((claim) => (
        <Claimed key={claim.source} claim={claim} />
      ))}
    </div>
  );
}

function Change({ cell }: { cell: CounterCell }) {
  const { change_percent: change, low_percent: low, high_percent: high } = cell;
  if (typeof change !== "number") return null;
  const verdict = cell.verdict ?? "undecided";
  const digits =
    typeof low === "number" && typeof high === "number"
      ? percentDigits(change, low, high)
      : percentDigits(change);
  return (
    <span className="effect" data-verdict={verdict} title={VERDICT[verdict].meaning}>
      {percent(change, digits)} <span className="verdict">{verdict}</span>
    </span>
  );
}

function Between({ cell: { low_percent: low, high_percent: high } }: { cell: CounterCell }) {
  if (typeof low !== "number" || typeof high !== "number") return null;
  return `[${interval(low, high)}] `;
}
