/** What exits explain of a change, and what the cost of one operation did to real work. */

import { effectOf, effectParts, effectText } from "../format/effect";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { consequencesQuery } from "../api/queries";
import type { Case, Consequence, CostModel, Estimate, VerdictSummary, Row } from "../api/types";
import { counted, fixed, percent, quantity } from "../format/quantity";
import { ArmMark } from "./shape";

interface Props {
  view: Case;
  row: Row;
}

export function Consequences({ view, row }: Props) {
  // A page without them is whole: nothing is shown while they come, or where there are none.
  const { data } = useQuery(consequencesQuery(view.experiment_id));
  if (data === undefined) return null;
  const models = data.cost_models.filter(
    (model) =>
      model.case_id === view.case_id && model.metric === row.metric && model.host === view.host,
  );
  const beside = data.consequences.filter(
    (one) => one.host === view.host && one.micro.some((figure) => figure.case_id === view.case_id),
  );
  return (
    <>
      {models.length > 0 && <Models models={models} view={view} />}
      {beside.length > 0 && <RealWork beside={beside} view={view} />}
    </>
  );
}

function Models({ models, view }: { models: CostModel[]; view: Case }) {
  const [first] = models;
  if (first === undefined) return null;
  return (
    <section className="panel" aria-labelledby="costs">
      <header>
        <h2 id="costs">What exits explain</h2>
        <span className="faint small">
          exits a second × the cost of one, by {first.cost_cases.join(" and ")} in the same boots
        </span>
      </header>
      <div className="scroll-x" tabIndex={0} role="region" aria-label="What exits explain">
        <table className="list">
          <thead>
            <tr>
              <th scope="col">arm</th>
              <th scope="col">exits</th>
              <th scope="col">cost of one</th>
              <th scope="col">measured</th>
              <th scope="col">predicted</th>
              <th scope="col">rest</th>
              <th scope="col">explained</th>
            </tr>
          </thead>
          <tbody>
            {models.map((model) => (
              <tr key={model.arm}>
                <th scope="row">
                  <ArmMark arm={view.arms.findIndex((arm) => arm.name === model.arm)} />
                  <span className="mono">{model.arm}</span>
                </th>
                <td>
                  {quantity(model.base_rate, "1/s")} → {quantity(model.rate, "1/s")}
                </td>
                <td>
                  {cost(model.base_cost_ns)} → {cost(model.cost_ns)}
                </td>
                <td>
                  <Change estimate={model.measured} />
                </td>
                <td>
                  <Change estimate={model.predicted} />
                  <div className="faint small">
                    {percent(model.by_rate.percent)} by their number,{" "}
                    {percent(model.by_cost.percent)} by their cost
                  </div>
                </td>
                <td>
                  <Change estimate={model.rest} />
                </td>
                <td>
                  {typeof model.explained_percent === "number"
                    ? `${fixed(model.explained_percent, 0)} %`
                    : "no change to explain"}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="inside small soft">
        Time per unit of work, in percent of <span className="mono">{first.baseline}</span>’s, over{" "}
        {counted(first.blocks, "block")}. The rest is not of the exits themselves: what the monitor
        does in user space with one, caches, waiting.
      </p>
    </section>
  );
}

function cost(nanoseconds: number | null) {
  return nanoseconds === null ? "none" : quantity(nanoseconds, "ns");
}

function Change({ estimate }: { estimate: Estimate }) {
  const parts = effectParts({ value: estimate.percent, low: estimate.low, high: estimate.high });
  return (
    <>
      {parts.change} <span className="soft small">{parts.interval}</span>
    </>
  );
}

function RealWork({ beside, view }: { beside: Consequence[]; view: Case }) {
  return (
    <section className="panel" aria-labelledby="real-work">
      <header>
        <h2 id="real-work">Beside real work</h2>
        <span className="faint small">
          the same mode on the same host, in workloads that do more than one operation
        </span>
      </header>
      {beside.map((one) => (
        <div key={one.arm} className="inside">
          <h3>
            <ArmMark arm={view.arms.findIndex((arm) => arm.name === one.arm)} />
            <span className="mono">{one.arm}</span> against{" "}
            <span className="mono">{one.baseline}</span>
          </h3>
          {one.macro.length === 0 ? (
            <p className="soft">
              None was measured in this experiment (iPerf, fio, desktop, compile): what this change
              does to real work is not known.
            </p>
          ) : (
            <ul>
              {one.macro.map((figure) => (
                <li key={`${figure.case_id} ${figure.metric_title}`}>
                  <Link
                    to={`/experiments/${view.experiment_id}/cases/${figure.case_id}?host=${encodeURIComponent(one.host)}`}
                  >
                    {figure.case}
                  </Link>
                  , {figure.metric_title} {inShort(figure)}
                </li>
              ))}
            </ul>
          )}
        </div>
      ))}
    </section>
  );
}

function inShort(figure: VerdictSummary) {
  const effect = effectOf(figure);
  const verdict = figure.verdict ?? "undecided";
  return effect === null || effect.low === null ? verdict : `${effectText(effect)} ${verdict}`;
}
