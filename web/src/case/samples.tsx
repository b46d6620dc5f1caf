/** What was read of the host once a second beside the case, arms over one another. */

import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { collectedQuery } from "../api/queries";
import type { Case, Collected, CollectedChart } from "../api/types";
import { bytes, commonScale, counted, fixed, quantity, scaleFor } from "../format/quantity";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";
import "./samples.css";
import { ARM_COLOURS, ArmMark } from "./shape";

// The chart library is loaded where something is drawn with it.
const Plot = lazy(() => import("./plot"));

export function HostSamples({ view }: { view: Case }) {
  const query = useQuery(collectedQuery(view.experiment_id, view.case_id, view.host));
  return (
    <section className="panel" aria-labelledby="beside">
      <header>
        <h2 id="beside">Beside the case</h2>
        <span className="faint small">
          the host, read once a second; mean of an arm’s boots, shaded from the lowest to the
          highest
        </span>
      </header>
      <Loaded query={query}>
        {(collected) => <Body collected={collected} arms={view.arms.map((arm) => arm.id)} />}
      </Loaded>
    </section>
  );
}

interface PartProps {
  collected: Collected;
  /** Ids of the comparison's arms, in their order: an arm's place is its colour. */
  arms: number[];
}

function Body({ collected, arms }: PartProps) {
  if (collected.boots === 0) {
    return (
      <Empty next={[["collect: [cpu, schedstat, exits]", "in a workload’s entry of the spec"]]}>
        Nothing was collected beside this case.
      </Empty>
    );
  }
  return (
    <>
      {collected.charts.length > 0 && (
        <ul className="plots">
          {collected.charts.map((chart) => (
            <li key={`${chart.collector} ${chart.figure}`}>
              <ChartOf chart={chart} arms={arms} />
            </li>
          ))}
        </ul>
      )}
      {collected.reasons.map((table) => (
        <Reasons key={table.title} table={table} />
      ))}
      <Notes collected={collected} />
    </>
  );
}

function inWords(value: number | null | undefined, unit: string) {
  if (value === null || value === undefined) return "absent";
  if (unit === "byte") return bytes(value);
  return quantity(value, unit);
}

function ChartOf({ chart, arms }: { chart: CollectedChart; arms: number[] }) {
  const all = chart.lines.flatMap((line) => line.high.filter((v) => typeof v === "number"));
  const largest = all.reduce((most, value) => Math.max(most, value), 0);
  const scale =
    chart.unit === "byte" ? { factor: 2 ** -20, label: "MiB" } : scaleFor(largest, chart.unit);
  const lines = chart.lines.map((line) => ({
    arm: Math.max(0, arms.indexOf(line.arm_id)) % ARM_COLOURS,
    values: line.values,
    low: line.low,
    high: line.high,
  }));
  return (
    <figure>
      <figcaption>
        <h3>
          {chart.title} {scale.label !== "" && <span className="faint">{scale.label}</span>}
        </h3>
        <ul className="plot-legend">
          {chart.lines.map((line) => (
            <li key={line.arm_id}>
              <ArmMark arm={arms.indexOf(line.arm_id)} />
              <span className="mono">{line.arm}</span>{" "}
              <span className="soft">{inWords(line.mean, chart.unit)}</span>
            </li>
          ))}
        </ul>
      </figcaption>
      <Suspense fallback={<div className="plot" />}>
        <Plot seconds={chart.seconds} lines={lines} factor={scale.factor} />
      </Suspense>
    </figure>
  );
}

function Reasons({ table }: { table: Collected["reasons"][number] }) {
  const scale = commonScale(
    table.rows.flatMap((row) => row.per_second.map((value) => value ?? 0)),
    "1/s",
  );
  return (
    <div className="inside">
      <h3>
        {table.title} <span className="faint small">{table.source}, while it measured</span>
      </h3>
      <div className="scroll-x" tabIndex={0} role="region" aria-label={table.title}>
        <table className="list">
          <thead>
            <tr>
              <th scope="col">reason</th>
              {table.arms.map((arm) => (
                <th key={arm} scope="col" className="number">
                  {arm}, {scale.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row) => (
              <tr key={row.reason}>
                <th scope="row">{row.reason}</th>
                {row.per_second.map((value, at) => (
                  <td key={table.arms[at]} className="number">
                    {value === null ? "absent" : fixed(value * scale.factor, 3)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Notes({ collected }: { collected: Collected }) {
  const cost = collected.cost_percent;
  return (
    <div className="inside small soft">
      <p>
        {counted(collected.boots, "boot")} collected.
        {typeof cost === "number" &&
          ` Collecting took at most ${fixed(cost, 2)} % of the host’s processors.`}
      </p>
      {collected.absent.length > 0 && (
        <ul className="absent">
          {collected.absent.map(({ collector, reason }) => (
            <li key={collector}>
              <span className="mono">{collector}</span> absent: {reason}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
