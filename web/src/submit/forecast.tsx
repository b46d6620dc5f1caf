/** What a spec would plan, host by host, or what is wrong with it. */

import type { RefObject } from "react";
import { ApiError } from "../api/client";
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

interface WhatIsWrongProps {
  error: Error;
  field: RefObject<HTMLTextAreaElement | null>;
}

/** The service's own words, with a way to the line that they name. */
export function WhatIsWrong({ error, field }: WhatIsWrongProps) {
  const lines = [
    ...new Set([...error.message.matchAll(/\bspec:(\d{1,6})\b/g)].map((m) => Number(m[1]))),
  ];
  return (
    <div className="problem" role="alert">
      <p className="said">{error.message}</p>
      {error instanceof ApiError && error.hint !== "" && <p className="small">{error.hint}</p>}
      {lines.length > 0 && (
        <p className="buttons">
          {lines.slice(0, 8).map((line) => (
            <button
              key={line}
              type="button"
              className="button"
              onClick={() => {
                if (field.current !== null) selectLine(field.current, line);
              }}
            >
              Go to line {line}
            </button>
          ))}
        </p>
      )}
    </div>
  );
}

function selectLine(field: HTMLTextAreaElement, line: number): void {
  const lines = field.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  field.focus();
  field.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  const height = field.scrollHeight / Math.max(1, lines.length);
  field.scrollTop = Math.max(0, (line - 4) * height);
}
