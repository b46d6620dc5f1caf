/** How much a host's figures scatter, and what its time went into. */

import type { Host } from "../api/types";
import { counted, duration } from "../format/quantity";
import { Stamp } from "../ui/age";
import { Facts } from "../ui/facts";

function percent(value: number | null): string | null {
  return value === null ? null : `${value < 10 ? value.toFixed(2) : value.toFixed(0)} %`;
}

function Figure({ of }: { of: number | null }) {
  return percent(of) ?? <span className="faint">not known</span>;
}

export function NoisePanel({ noise }: { noise: Host["noise"] }) {
  return (
    <section className="panel" aria-labelledby="noise">
      <header>
        <h2 id="noise">Noise</h2>
        <span className="faint small">
          standard deviations in percent of the value, medians over cases of the newest runs
        </span>
      </header>
      {noise.length === 0 ? (
        <p className="inside faint">Not known before a run has ended on this host.</p>
      ) : (
        <table className="list stack">
          <thead>
            <tr>
              <th scope="col">Workload</th>
              <th scope="col">Metric</th>
              <th scope="col">Boot to boot</th>
              <th scope="col">Between iterations</th>
              <th scope="col">Noisiest case</th>
              <th scope="col">Cases</th>
            </tr>
          </thead>
          <tbody>
            {noise.map((of) => (
              <tr key={`${of.workload} ${of.metric}`}>
                <th scope="row">{of.workload}</th>
                <td data-label="Metric">{of.metric}</td>
                <td data-label="Boots">
                  <Figure of={of.boot_percent} />
                </td>
                <td data-label="Iterations">
                  <Figure of={of.iteration_percent} />
                </td>
                <td data-label="Noisiest">
                  <Figure of={of.worst_percent} />
                </td>
                <td data-label="Cases">{of.cases}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

export function TimePanel({ host }: { host: Host }) {
  const { hours, absences } = host;
  const share = (of: number) =>
    hours.held_s > 0 ? `${duration(of)} (${Math.round((100 * of) / hours.held_s)} %)` : null;
  return (
    <section className="panel" aria-labelledby="time">
      <header>
        <h2 id="time">Time</h2>
        <span className="faint small">of all its runs that are over</span>
      </header>
      <div className="inside">
        <Facts
          items={[
            ["used", `${duration(hours.held_s)} in ${counted(hours.runs, "run")}`],
            ["measuring", share(hours.measuring_s)],
            ["booting", share(hours.booting_s)],
            ["other", share(hours.other_s)],
            ["wasted", `${duration(hours.wasted_s)} on boots that gave no figure`],
            ["lost", `${duration(hours.lost_s)} set aside or reserved`],
          ]}
        />
      </div>
      {absences.length > 0 && (
        <table className="list stack">
          <caption className="visually-hidden">Times in which no run could begin</caption>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">Until</th>
              <th scope="col">What</th>
              <th scope="col">Reason</th>
            </tr>
          </thead>
          <tbody>
            {absences.map((absence) => (
              <tr key={`${absence.kind} ${absence.began_at}`}>
                <th scope="row">
                  <Stamp at={absence.began_at} />
                </th>
                <td data-label="Until">
                  <Until absence={absence} />
                </td>
                <td data-label="What">
                  {absence.kind === "reserved" ? "reserved" : "set aside"} by{" "}
                  {absence.begun_by || "a rule"}
                </td>
                <td data-label="Reason">{absence.reason}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Until({ absence }: { absence: Host["absences"][number] }) {
  const over = absence.ended_at ?? absence.until;
  if (over === null) return "not over";
  return (
    <span>
      <Stamp at={over} />
      {absence.ended_by !== "" && <span className="faint"> ended by {absence.ended_by}</span>}
    </span>
  );
}
