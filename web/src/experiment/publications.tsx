/** Where an experiment's result went: KCIDB, patchwork, GitHub, and what each said. */

import { useQuery } from "@tanstack/react-query";
import { publicationsQuery } from "../api/queries";
import type { Publication } from "../api/types";
import { Stamp } from "../ui/age";
import { Tag } from "../ui/tag";
import { PUBLICATION_STATE, PUBLICATION_TARGET } from "../words";

/** Nothing where it went nowhere: most experiments are of no revision. */
export function Publications({ id }: { id: number }) {
  const { data: found } = useQuery(publicationsQuery(id));
  if (!found || found.length === 0) return null;
  return (
    <section className="panel" aria-labelledby="publications">
      <header>
        <h2 id="publications">Where it was published</h2>
      </header>
      <table className="list stack">
        <thead>
          <tr>
            <th scope="col">Target</th>
            <th scope="col">State</th>
            <th scope="col">It said</th>
            <th scope="col">Tries</th>
            <th scope="col">When</th>
          </tr>
        </thead>
        <tbody>
          {found.map((each) => (
            <Row key={each.target} of={each} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ of }: { of: Publication }) {
  const { label, meaning, tone } = PUBLICATION_STATE[of.state];
  const waits = of.ended_at === null;
  return (
    <tr>
      <th scope="row">{PUBLICATION_TARGET[of.target]}</th>
      <td>
        <Tag tone={tone} text={label} title={meaning} />
      </td>
      <td>{of.said === "" ? <span className="faint">–</span> : of.said}</td>
      <td>{of.tries === 1 ? "one try" : `${of.tries} tries`}</td>
      <td>
        {waits && "again at "}
        <Stamp at={of.ended_at ?? of.next_at} />
      </td>
    </tr>
  );
}
