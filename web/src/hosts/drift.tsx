/** When a host became another machine, and what of it changed then. */

import type { Host } from "../api/types";
import { Stamp } from "../ui/age";
import { Changes } from "./changes";

type Drift = Host["drift"][number];

export function DriftPanel({ drift }: { drift: Drift[] }) {
  return (
    <section className="panel" aria-labelledby="drift">
      <header>
        <h2 id="drift">When it changed</h2>
        <span className="faint small">
          figures from before and after such a moment are of two different machines
        </span>
      </header>
      {drift.length === 0 ? (
        <p className="inside faint">
          Never: all its boots showed the same processor, microcode, firmware and packages.
        </p>
      ) : (
        drift.map((each) => (
          <div className="fingerprint" key={each.at}>
            <h3>
              <Stamp at={each.at} />
              {each.back && <span className="faint"> as it was before</span>}
            </h3>
            <Changes changed={each.changed} />
          </div>
        ))
      )}
    </section>
  );
}
