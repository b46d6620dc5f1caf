/** What was read of the host once a second beside the case, arms over one another. */

import { useQuery } from "@tanstack/react-query";
import { collectedQuery } from "../api/queries";
import type { Case, Collected, CollectedChart } from "../api/types";
import { bytes, commonScale, counted, fixed, quantity, scaleFor } from "../format/quantity";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";
import "./samples.css";
import { edgeOf, offScaleInWords } from "../picture/bulk";
import { type Table, withUnit } from "../picture/csv";
import { Keep, marks } from "../picture/keep";
import { Plot } from "./plot";
import { plotScale } from "./plot-layout";
import { ARM_COLOURS, ArmMark } from "./shape";

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
      <Loaded query={query}>{(collected) => <Body collected={collected} view={view} />}</Loaded>
    </section>
  );
}

interface PartProps {
  collected: Collected;
  view: Case;
}

function Body({ collected, view }: PartProps) {
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
              <ChartOf chart={chart} view={view} />
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

/** A round number as an axis has it. */
function shortly(value: number): string {
  const size = Math.abs(value);
  return fixed(value, size >= 10 || Number.isInteger(value) ? 0 : size >= 1 ? 1 : 2);
}

/** A row a second and arm. */
function tableOf(chart: CollectedChart): Table {
  const names = ["mean of boots", "lowest", "highest"];
  return {
    columns: ["arm", "second (s)", ...names.map((name) => withUnit(name, chart.unit))],
    rows: chart.lines.flatMap((line) =>
      chart.seconds.map((second, at) => [
        ...[line.arm, second],
        ...[line.values, line.low, line.high].map((values) => values[at] ?? null),
      ]),
    ),
  };
}

function ChartOf({ chart, view }: { chart: CollectedChart; view: Case }) {
  // An arm's place in the comparison is its colour.
  const arms = view.arms.map((arm) => arm.id);
  const lines = chart.lines.map((line) => ({
    arm: Math.max(0, arms.indexOf(line.arm_id)) % ARM_COLOURS,
    values: line.values,
    low: line.low,
    high: line.high,
  }));
  const reach = plotScale(chart.seconds, lines);
  const scale =
    chart.unit === "byte" ? { factor: 2 ** -20, label: "MiB" } : scaleFor(reach.high, chart.unit);
  const outside = offScaleInWords(
    chart.lines.flatMap((line) =>
      chart.seconds.flatMap((second, at) => {
        const value = line.values[at] ?? null;
        if (value === null || edgeOf(value, reach) === null) return [];
        return [`${line.arm} ${inWords(value, chart.unit)} at ${second} s`];
      }),
    ),
  );
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
      <Keep
        title={`${view.case} on ${view.host}: ${chart.title}`}
        lines={[
          `${scale.label === "" ? "" : `${scale.label}; `}mean of an arm’s boots, shaded from the lowest to the highest`,
          chart.lines.map((line) => `${line.arm}: ${inWords(line.mean, chart.unit)}`).join("; "),
          marks({ emulated: view.emulated, counted: view.clock === "counted" }),
          outside,
        ]}
        table={() => tableOf(chart)}
        quiet
      >
        <Plot
          seconds={chart.seconds}
          lines={lines}
          factor={scale.factor}
          shown={shortly}
          inWords={(value) => inWords(value, chart.unit)}
        />
      </Keep>
      {outside !== "" && <p className="small soft">{outside}</p>}
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
