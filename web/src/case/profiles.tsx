/** What the profiles of a case say: the functions that explain an arm, and its counters. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { caseProfilesQuery } from "../api/queries";
import type { ArmProfiles, Case, CaseProfiles, Row } from "../api/types";
import { profilePath } from "../experiment/paths";
import { functionsPath } from "../functions/address";
import { counted, fixed, percent } from "../format/quantity";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";

const SHOWN = 5;

export function Profiles({ view, row }: { view: Case; row: Row }) {
  const query = useQuery(caseProfilesQuery(view.experiment_id, view.case_id, view.host));
  return (
    <section className="panel" aria-labelledby="profiles">
      <header>
        <h2 id="profiles">Profiles</h2>
        <span className="faint small">separate passes; the timed ones are never profiled</span>
      </header>
      <Loaded query={query}>
        {(profiles) => <Arms profiles={profiles} experimentId={view.experiment_id} row={row} />}
      </Loaded>
    </section>
  );
}

interface ArmsProps {
  profiles: CaseProfiles;
  experimentId: number;
  row: Row;
}

function Arms({ profiles, experimentId, row }: ArmsProps) {
  const baseline = profiles.arms.find((arm) => arm.is_baseline);
  if (profiles.arms.every((arm) => arm.profiles === 0) || baseline === undefined) {
    return (
      <Empty next={[["mitigauge worker", "boots, measures and then profiles what is planned"]]}>
        No boot has been profiled yet.
      </Empty>
    );
  }
  const others = profiles.arms.filter((arm) => !arm.is_baseline && arm.profiles > 0);
  return (
    <div className="inside">
      <p>
        <Link to={functionsPath(experimentId, row)}>functions over all arms</Link>
      </p>
      {others.map((arm) => (
        <div key={arm.arm_id}>
          <h3>
            <span className="mono">{arm.arm}</span> against{" "}
            <span className="mono">{baseline.arm}</span>{" "}
            {baseline.profiles > 0 && (
              <Link className="small" to={profilePath(experimentId, row, baseline.arm, arm.arm)}>
                differential flame graph
              </Link>
            )}
          </h3>
          <Explained arm={arm} unit={profiles.unit} />
        </div>
      ))}
      <Counters arms={profiles.arms} />
      <p className="faint small">
        {profiles.event},{" "}
        {profiles.arms
          .map((arm) => `${arm.arm}: ${counted(arm.profiles, "profile")}${overhead(arm)}`)
          .join("; ")}
      </p>
    </div>
  );
}

function overhead(arm: ArmProfiles): string {
  return typeof arm.overhead_percent === "number"
    ? `, profiling cost ${percent(arm.overhead_percent)}`
    : "";
}

/** The differences that are there beyond chance, as parts of the whole one. */
function Explained({ arm, unit }: { arm: ArmProfiles; unit: string }) {
  const whole = typeof arm.difference === "number" ? signed(arm.difference) : null;
  if (arm.functions.length === 0) {
    return (
      <p className="soft">
        No function's own cost differs at q ≤ 5 %
        {whole !== null && `; everything together differs by ${whole} ${unit}`}.
      </p>
    );
  }
  return (
    <ol className="explained">
      {arm.functions.slice(0, SHOWN).map((change) => (
        <li key={change.function}>
          <span className="mono">{change.function}</span> {signed(change.difference)}
          {whole !== null && ` of ${whole}`} {unit}{" "}
          <span className="soft small">
            [{signed(change.low)}, {signed(change.high)}], q{" "}
            {change.q < 0.001 ? "< 0.001" : `= ${fixed(change.q, 3)}`}
          </span>
        </li>
      ))}
    </ol>
  );
}

function signed(value: number): string {
  const digits = Math.abs(value) < 10 ? 2 : Math.abs(value) < 1000 ? 1 : 0;
  return `${value > 0 ? "+" : ""}${fixed(value, digits)}`;
}

/** Hardware counters side by side; a machine without any shows none. */
function Counters({ arms }: { arms: ArmProfiles[] }) {
  const names = [...new Set(arms.flatMap((arm) => arm.counters.map((c) => c.counter)))];
  if (names.length === 0) {
    return <p className="faint small">Hardware counters: absent on this host.</p>;
  }
  return (
    <table className="list">
      <thead>
        <tr>
          <th scope="col">Counter</th>
          {arms.map((arm) => (
            <th key={arm.arm_id} scope="col" className="num">
              {arm.arm}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {names.map((name) => (
          <tr key={name}>
            <th scope="row" className="mono">
              {name}
            </th>
            {arms.map((arm) => (
              <td key={arm.arm_id} className="num" data-label={arm.arm}>
                <Counter arm={arm} name={name} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Counter({ arm, name }: { arm: ArmProfiles; name: string }) {
  const counter = arm.counters.find((c) => c.counter === name);
  if (counter === undefined) return <span className="faint">absent</span>;
  const { difference_percent: difference, low_percent: low, high_percent: high } = counter;
  return (
    <>
      {counter.mean.toLocaleString("en", { maximumFractionDigits: 0 })}
      {typeof difference === "number" && ` ${percent(difference)}`}
      {typeof low === "number" && typeof high === "number" && (
        <span className="soft small">
          {" "}
          [{percent(low)}, {percent(high)}]
        </span>
      )}{" "}
      <span className="faint small">n {counter.n}</span>
    </>
  );
}
