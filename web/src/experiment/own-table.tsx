/** The table that answers an experiment's question, where that is not the matrix. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { tableQuery } from "../api/queries";
import type { Experiment } from "../api/types";
import { tablePath } from "../tables/paths";
import { SectionPanel } from "../tables/section";
import { Loaded } from "../ui/answers";

const OWN = [
  {
    kind: "factorial",
    fits: (comparison: Experiment["comparisons"][number]) => comparison.factorial,
    link: "Each case in its unit",
  },
  {
    kind: "ranking",
    fits: (comparison: Experiment["comparisons"][number]) => comparison.tournament,
    link: "As a page of its own",
  },
] as const;

/** What each knob costs, where a comparison turned several; which arm is best, of a tournament. */
export function OwnTables({ experiment }: { experiment: Experiment }) {
  return OWN.filter(({ fits }) => experiment.comparisons.some((each) => fits(each))).map(
    ({ kind, link }) => <OwnTable key={kind} {...{ experiment, kind, link }} />,
  );
}

interface Props {
  experiment: Experiment;
  kind: string;
  link: string;
}

function OwnTable({ experiment, kind, link }: Props) {
  const query = useQuery(tableQuery(experiment.id, kind, {}));
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
                <Link className="button" to={tablePath(experiment.id, kind)}>
                  {link}
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
