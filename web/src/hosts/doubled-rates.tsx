/** How often this host's doubled baselines were called changed: false alarms and slow-downs found. */

import type { Host } from "../api/types";

export function DoubledRates({ rates }: { rates: Host["doubled"] }) {
  return (
    <section className="panel" aria-labelledby="doubled-rates">
      <header>
        <h2 id="doubled-rates">How often verdicts are right here</h2>
        <span className="faint small">
          verdicts on a baseline booted once more, unchanged or slowed by a known part
        </span>
      </header>
      {rates.length === 0 ? (
        <p className="inside faint">
          Not known yet: <code>mitigauge experiment qualify SPEC --host HOST</code> measures it.
        </p>
      ) : (
        <table className="list stack">
          <thead>
            <tr>
              <th scope="col">Experiments</th>
              <th scope="col">Workload</th>
              <th scope="col">Metric</th>
              <th scope="col">Outcome</th>
              <th scope="col">Rate</th>
              <th scope="col">95 % interval</th>
              <th scope="col">Undecided</th>
            </tr>
          </thead>
          <tbody>
            {rates.map((rate) => (
              <tr key={`${rate.spec} ${rate.workload} ${rate.metric} ${rate.slowed_percent}`}>
                <th scope="row">{rate.spec}</th>
                <td data-label="Workload">{rate.workload}</td>
                <td data-label="Metric">{rate.metric}</td>
                <td data-label="Outcome">
                  {rate.sentence}, on {rate.days} {rate.days === 1 ? "day" : "days"}
                </td>
                <td data-label="Rate">{rate.rate_percent.toFixed(1)} %</td>
                <td data-label="95 % interval">
                  {rate.ci_low_percent.toFixed(1)} to {rate.ci_high_percent.toFixed(1)} %
                </td>
                <td data-label="Undecided">{rate.undecided}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
