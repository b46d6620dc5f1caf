/** Two families of modes crossed: what each combination loses, by processor. */

import { useQuery } from "@tanstack/react-query";
import { Link, useLocation, useSearchParams } from "wouter";
import { fetchLossReport, lossQuery } from "../api/queries";
import type { Loss, LossTable } from "../api/types";
import { ReportButtons } from "../experiment/report";
import { counted } from "../format/quantity";
import { Loaded } from "../ui/answers";
import { Download } from "../ui/download";
import { CountedBadge, EmulatedBadge, EmulatedNotice } from "../ui/emulated";
import { Empty } from "../ui/empty";
import { Crumbs, Head, useTitle } from "../ui/page";
import { Block } from "./block";
import "./loss.css";
import { lossPath } from "./paths";

export function LossPage({ id }: { id: number }) {
  const [address] = useSearchParams();
  const asked = address.get("case");
  const caseId = asked !== null && /^[1-9]\d{0,15}$/.test(asked) ? Number(asked) : null;
  const metric = address.get("metric");
  const query = useQuery(lossQuery(id, caseId, metric));
  useTitle(query.data ? `Loss, ${query.data.experiment}` : "");
  return (
    <Loaded query={query}>{(loss) => <Body loss={loss} caseId={caseId} metric={metric} />}</Loaded>
  );
}

interface BodyProps {
  loss: Loss;
  caseId: number | null;
  metric: string | null;
}

function Body({ loss, caseId, metric }: BodyProps) {
  const { experiment_id: id, tables } = loss;
  const query = new URLSearchParams({
    ...(caseId !== null && { case: String(caseId) }),
    ...(metric !== null && { metric }),
  }).toString();
  const report = `/api/experiments/${id}/loss/report?${query}`;
  return (
    <>
      <Crumbs
        trail={[
          { text: "Experiments", to: "/" },
          { text: loss.experiment, to: `/experiments/${id}` },
        ]}
      />
      <Head
        title="Loss matrix"
        lede="Two families of modes crossed. Loss is the change for the worse, in percent of the baseline; a negative loss is a gain."
        tags={
          <>
            {loss.emulated && <EmulatedBadge />}
            {loss.counted && <CountedBadge />}
          </>
        }
      >
        {tables.length > 0 && (
          <div className="buttons">
            <ReportButtons
              fetched={(format) => fetchLossReport(id, caseId, metric, format)}
              href={`${report}&format=text`}
            />
            <Download files={[[`${report}&format=csv`, "Losses as CSV"]]} />
          </div>
        )}
      </Head>
      {loss.emulated && tables.length > 0 && <EmulatedNotice counted={loss.counted} />}
      {loss.choices.length > 1 && <Choice {...{ loss, caseId, metric }} />}
      {tables.length === 0 && <NothingCrossed id={id} />}
      {tables.map((table) => (
        <Panel
          key={`${table.case_id} ${table.metric} ${table.rest}`}
          experimentId={id}
          table={table}
        />
      ))}
      {loss.left_out > 0 && (
        <p className="faint small">
          {counted(loss.left_out, "more table")} not shown; choose a case and a metric above.
        </p>
      )}
    </>
  );
}

function NothingCrossed({ id }: { id: number }) {
  return (
    <section className="panel" aria-label="Loss matrix">
      <Empty
        next={[
          ["cross: [ibrs, ibpb]", "in a comparison makes an arm of every combination"],
          ["mitigauge experiment submit experiments/ibrs-ibpb-loss.yml", "is an example"],
        ]}
      >
        No comparison of <Link to={`/experiments/${id}`}>this experiment</Link> crosses two families
        of modes.
      </Empty>
    </section>
  );
}

/** One case and metric, or all. */
function Choice({ loss, caseId, metric }: BodyProps) {
  const [, navigate] = useLocation();
  const chosen = loss.choices.findIndex((c) => c.case_id === caseId && c.metric === metric);
  return (
    <div className="filters">
      <label className="small picked loss-choice">
        Case and metric{" "}
        <select
          className="field"
          value={chosen}
          onChange={(event) => {
            const choice = loss.choices[Number(event.target.value)];
            const query = choice
              ? `?${new URLSearchParams({ case: String(choice.case_id), metric: choice.metric }).toString()}`
              : "";
            navigate(lossPath(loss.experiment_id) + query);
          }}
        >
          <option value={-1}>all, primary metrics first</option>
          {loss.choices.map((choice, i) => (
            <option key={i} value={i}>
              {choice.case}: {choice.metric_title}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function Panel({ experimentId, table }: { experimentId: number; table: LossTable }) {
  const name = `loss-${table.case_id}-${table.metric}-${table.rest}`.replace(/[^\w-]/g, "-");
  return (
    <section className="panel" aria-labelledby={name}>
      <header>
        <h2 id={name}>
          {table.case}: {table.metric_title}
        </h2>
        <span className="faint small">
          {table.first.family} by {table.second.family}
          {table.rest !== "" && `, with ${table.rest}`}; against {table.baseline}; 95 % interval, n
          boots
          {!table.primary && "; secondary metric"}
        </span>
      </header>
      <div className="loss-blocks">
        {table.blocks.map((block) => (
          <Block key={block.host} {...{ experimentId, table, block }} />
        ))}
      </div>
    </section>
  );
}
