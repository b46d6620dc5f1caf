/** How far verdicts agree where the same two arms were compared again, for everybody to see. */

import { useQuery } from "@tanstack/react-query";
import { stabilityQuery } from "../api/queries";
import type { TrendStability } from "../api/types";
import { fixed } from "../format/quantity";
import { Empty } from "../ui/empty";

export function StabilityPanel() {
  const query = useQuery(stabilityQuery());
  return (
    <section className="panel" aria-labelledby="stability">
      <header>
        <h2 id="stability">Alert stability</h2>
      </header>
      <p className="inside soft small">
        The same two arms compared again on the same class of hosts: how far a verdict and the next
        one say the same.
      </p>
      {query.data?.length === 0 && (
        <Empty
          next={[
            [
              "mitigauge experiment submit SPEC",
              "measures the same two kernels again, with the spec of an experiment that is over",
            ],
          ]}
        >
          No pair yet: no two arms were compared twice on one class of hosts.
        </Empty>
      )}
      {query.data !== undefined && query.data.length > 0 && <Stabilities rows={query.data} />}
    </section>
  );
}

function Stabilities({ rows }: { rows: TrendStability[] }) {
  return (
    <table className="list stack">
      <thead>
        <tr>
          <th scope="col">Host class</th>
          <th scope="col">Workload</th>
          <th scope="col">Agree</th>
          <th scope="col">Pairs</th>
          <th scope="col">Opposite</th>
          <th scope="col">One undecided</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={`${row.environment} ${row.host_class} ${row.workload}`}>
            <th scope="row">
              {row.host_class} <span className="faint">{row.environment}</span>
            </th>
            <td data-label="Workload">{row.workload === "" ? "all" : row.workload}</td>
            <td data-label="Agree">
              <span>
                {fixed(row.agreed_percent, 1)} %{" "}
                <span className="soft">
                  95 % [{fixed(row.ci_low_percent, 1)}, {fixed(row.ci_high_percent, 1)}]
                </span>
              </span>
            </td>
            <td data-label="Pairs">{row.pairs}</td>
            <td data-label="Opposite">{row.opposite}</td>
            <td data-label="Undecided">{row.undecided}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
