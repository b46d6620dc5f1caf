/** The candidates of a bisection as a table of figures. Pure. */

import type { Bisection } from "../api/types";
import type { Table } from "../picture/csv";

/** A candidate that cannot be it has no probability left. */
function probabilityOf({ prior, probability }: Bisection["changes"][number]): number | null {
  return prior === 0 ? 0 : probability;
}

export function candidateTable(bisection: Bisection): Table {
  const { none_probability: none, several_probability: several } = bisection;
  return {
    columns: ["position", "change", "name", "probability", "prior", "why", "files"],
    rows: [
      ...bisection.changes.map((each) => [
        ...[each.position, each.title, each.name, probabilityOf(each), each.prior, each.prior_why],
        each.files.join(" "),
      ]),
      [null, "none of these", "", none, null, "", ""],
      [null, "several", "", several, null, "", ""],
    ],
  };
}
