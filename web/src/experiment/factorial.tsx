/** What each knob costs, where a comparison turned several together. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { tableQuery } from "../api/queries";
import type { Experiment } from "../api/types";
import { tablePath } from "../tables/paths";
import { SectionPanel } from "../tables/section";
import { Loaded } from "../ui/answers";

const KIND = "factorial";

export function FactorialCosts({ experiment }: { experiment: Experiment }) {
  const has = experiment.comparisons.some((comparison) => comparison.factorial);
  const query = useQuery({ ...tableQuery(experiment.id, KIND, {}), enabled: has });
  if (!has) return null;
  return (
    <Loaded query={query}>
      {(view) => (
        <>
          {view.sections.map((section) => (
            <SectionPanel
              key={section.title}
              section={{ ...section, tables: section.tables.slice(0, 1) }}
            >
              <div className="buttons">
                <Link className="button" to={tablePath(experiment.id, KIND)}>
                  Each case in its unit
                </Link>
                <Link className="button" to={tablePath(experiment.id, "matrix")}>
                  Every arm
                </Link>
              </div>
            </SectionPanel>
          ))}
        </>
      )}
    </Loaded>
  );
}
