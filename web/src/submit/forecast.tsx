/** What a spec would plan, host by host. */

import type { HostForecast, SpecForecast } from "../api/types";
import { counted, duration } from "../format/quantity";

export function Forecast({ forecast }: { forecast: SpecForecast }) {
  return (
    <>
      <p>
        <strong>
          Up to {counted(forecast.boots, "boot")} on {counted(forecast.hosts.length, "host")}
        </strong>
        {forecast.takes_s !== null &&
          `, at most about ${duration(forecast.takes_s)} once they are free`}
        . It ends earlier where everything is decided earlier.
      </p>
      <p className="soft">{forecast.question}</p>
      <ul className="takes">
        {forecast.hosts.map((host) => (
          <li key={host.host}>
            <strong>{host.host}</strong>: up to {counted(host.boots, "boot")}, {timeOf(host)}
            <Standing host={host} />
          </li>
        ))}
      </ul>
      <table className="list stack">
        <thead>
          <tr>
            <th scope="col">Comparison</th>
            <th scope="col">Arms</th>
            <th scope="col">Cases</th>
            <th scope="col">Blocks</th>
          </tr>
        </thead>
        <tbody>
          {forecast.comparisons.map((each) => (
            <tr key={each.name}>
              <th scope="row">{each.name}</th>
              <td data-label="Arms">{each.arms.join(", ")}</td>
              <td data-label="Cases">{each.cases}</td>
              <td data-label="Blocks">up to {each.blocks}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function timeOf(host: HostForecast): string {
  if (host.takes_s !== null)
    return `about ${duration(host.takes_s)} by the boots that it made before`;
  return `measuring alone ${duration(host.measuring_s)}; how long a boot takes there is not known yet`;
}

function Standing({ host }: { host: HostForecast }) {
  if (host.kept !== "") return <div className="small soft">No run begins on it: {host.kept}</div>;
  if (host.waiting === 0) return <div className="small faint">It is free.</div>;
  return (
    <div className="small soft">
      {counted(host.waiting, "run")} {host.waiting === 1 ? "has" : "have"} it or{" "}
      {host.waiting === 1 ? "waits" : "wait"} for it before.
    </div>
  );
}
