/** How often this host's doubled arms were called better or worse: false alarms, measured. */

import type { Host } from "../api/types";

export function FalseAlarms({ rates }: { rates: Host["aa"] }) {
  return (
    <section className="panel" aria-labelledby="false-alarms">
      <header>
        <h2 id="false-alarms">False alarms</h2>
        <span className="faint small">
          verdicts on a baseline booted twice a block; better or worse is false
        </span>
      </header>
      {rates.length === 0 ? (
        <p className="inside faint">
          None counted yet: write <code>aa: true</code> into a comparison of a spec.
        </p>
      ) : (
        <table className="list stack">
          <thead>
            <tr>
              <th scope="col">Workload</th>
              <th scope="col">Metric</th>
              <th scope="col">Rate</th>
              <th scope="col">95 % interval</th>
              <th scope="col">Alarms</th>
              <th scope="col">Undecided</th>
            </tr>
          </thead>
          <tbody>
            {rates.map((rate) => (
              <tr key={`${rate.workload} ${rate.metric}`}>
                <th scope="row">{rate.workload}</th>
                <td data-label="Metric">{rate.metric}</td>
                <td data-label="Rate">{rate.rate_percent.toFixed(1)} %</td>
                <td data-label="95 % interval">
                  {rate.ci_low_percent.toFixed(1)} to {rate.ci_high_percent.toFixed(1)} %
                </td>
                <td data-label="Alarms">
                  {rate.alarms} of {rate.comparisons} on {rate.days}{" "}
                  {rate.days === 1 ? "day" : "days"}
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
