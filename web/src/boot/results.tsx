import { Link } from "wouter";
import type { Boot, Result } from "../api/types";
import { commonScale, listed, quantity } from "../format/quantity";
import { TakenAgain } from "../ui/taken-again";
import { Tag } from "../ui/tag";
import { RESULT_STATE } from "../words";

/** Every case of the boot with its raw values; what went wrong is said where it did. */
export function Results({ boot }: { boot: Boot }) {
  if (boot.results.length === 0) return <p className="inside faint">Nothing was measured.</p>;
  return (
    <table className="list stack results">
      <thead>
        <tr>
          <th scope="col">Case</th>
          <th scope="col">State</th>
          <th scope="col">Metric</th>
          <th scope="col" className="num">
            Mean
          </th>
          <th scope="col">Iterations</th>
          <th scope="col">Warm-up</th>
          <th scope="col">Raw output</th>
        </tr>
      </thead>
      {boot.results.map((result) => (
        <ResultRows key={result.case_id} boot={boot} result={result} />
      ))}
    </table>
  );
}

function ResultRows({ boot, result }: { boot: Boot; result: Result }) {
  const metrics = Object.entries(result.metrics);
  const path = (metric: string) =>
    `/experiments/${boot.experiment_id}/cases/${result.case_id}?` +
    new URLSearchParams({ host: boot.host, metric }).toString();
  const rows = metrics.length === 0 ? [null] : metrics;
  return (
    <tbody>
      {rows.map((entry, i) => (
        <tr key={entry?.[0] ?? "none"}>
          {i === 0 && (
            <th scope="row" rowSpan={rows.length}>
              <Link to={path(entry?.[0] ?? "")}>{result.case}</Link>
              <Remarks result={result} />
            </th>
          )}
          {i === 0 && (
            <td rowSpan={rows.length} data-label="State">
              <div>
                <Tag tone={RESULT_STATE[result.state]} text={result.state.replace("_", " ")} />
              </div>
            </td>
          )}
          {entry === null ? (
            <td colSpan={4} className="faint">
              no values
            </td>
          ) : (
            <Values name={entry[0]} metric={entry[1]} />
          )}
          {i === 0 && (
            <td rowSpan={rows.length} data-label="Raw output">
              {result.raw_sha256 === null ? (
                <span className="faint">none</span>
              ) : (
                <a href={`/api/blobs/${result.raw_sha256}`} download className="mono">
                  {result.raw_sha256.slice(0, 12)}
                </a>
              )}
            </td>
          )}
        </tr>
      ))}
    </tbody>
  );
}

function Values({ name, metric }: { name: string; metric: Result["metrics"][string] }) {
  const every = [...metric.values, ...metric.warmup, ...metric.disturbed];
  const scale = commonScale(every, metric.unit);
  return (
    <>
      <td data-label="Metric">{name}</td>
      <td data-label="Mean" className="num">
        {quantity(metric.mean, metric.unit, scale)}
      </td>
      <td data-label="Iterations" className="raw-values">
        <div>
          {listed(metric.values, scale)}
          <TakenAgain values={metric.disturbed} scale={scale} />
        </div>
      </td>
      <td data-label="Warm-up" className="raw-values faint">
        {listed(metric.warmup, scale)}
      </td>
    </>
  );
}

function Remarks({ result }: { result: Result }) {
  const tools = Object.entries(result.tools).map(([tool, version]) => `${tool} ${version}`);
  return (
    <>
      {tools.length > 0 && <div className="faint small">{tools.join(", ")}</div>}
      {result.error !== "" && <div className="problem">{result.error}</div>}
      {result.lab_faults.map((fault, i) => (
        <div className="small soft" key={i}>
          lab fault:{" "}
          {Object.entries(fault)
            .map(([key, value]) => `${key} ${value}`)
            .join(", ")}
        </div>
      ))}
    </>
  );
}
