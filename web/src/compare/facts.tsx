/** What differs between two experiments, and what is alike. */

import type { PairFact } from "../api/types";
import { counted } from "../format/quantity";

export function Facts({ facts }: { facts: PairFact[] }) {
  const differing = facts.filter((fact) => fact.differs);
  const alike = facts.filter((fact) => !fact.differs);
  return (
    <section className="panel" aria-labelledby="pair-facts">
      <header>
        <h2 id="pair-facts">What differs between them</h2>
        <span className="faint small">
          {differing.length} of {counted(facts.length, "fact")}
        </span>
      </header>
      {differing.length === 0 ? (
        <p className="inside soft">Nothing that is recorded: kernels, modes, hosts and budgets.</p>
      ) : (
        <table className="list stack pair-facts">
          <thead>
            <tr>
              <th scope="col">Fact</th>
              <th scope="col">A</th>
              <th scope="col">B</th>
            </tr>
          </thead>
          <tbody>
            {differing.map((fact) => (
              <tr key={fact.what}>
                <th scope="row">{fact.what}</th>
                <td data-label="A">{fact.a}</td>
                <td data-label="B">{fact.b}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {alike.length > 0 && (
        <details className="alike">
          <summary className="inside small">
            {counted(alike.length, "fact")} that {alike.length === 1 ? "is" : "are"} alike
          </summary>
          <dl className="facts inside">
            {alike.map((fact) => (
              <div key={fact.what} style={{ display: "contents" }}>
                <dt>{fact.what}</dt>
                <dd>{fact.a}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </section>
  );
}
