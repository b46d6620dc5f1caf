/** The candidates of a bisection as a drawing without the page, and as a table. Pure. */

import type { Bisection } from "../api/types";
import type { Table } from "../picture/csv";
import type { DrawnRow, DrawnTable } from "../picture/table-drawing";
import { chance } from "./words";

const BAR = { width: 140, height: 10 };

function rowOf(words: string, more: string, probability: number | null): DrawnRow {
  return {
    cells: [
      { lines: [{ text: words }, ...(more === "" ? [] : [{ text: more, tone: "soft" } as const])] },
      {
        lines: [{ text: probability === null ? "not yet" : chance(probability) }],
        graphic: {
          ...BAR,
          marks: [
            { kind: "box", x: 0, y: 0, ...BAR, tone: "line", faint: true },
            { kind: "box", x: 0, y: 0, ...BAR, width: BAR.width * (probability ?? 0), tone: "ink" },
          ],
        },
      },
    ],
  };
}

/** A candidate that cannot be it has no probability left. */
function probabilityOf({ prior, probability }: Bisection["changes"][number]): number | null {
  return prior === 0 ? 0 : probability;
}

export function drawnCandidates(bisection: Bisection): DrawnTable {
  const head = (text: string) => ({ lines: [{ text, bold: true }] });
  const { none_probability: none, several_probability: several } = bisection;
  return {
    columns: [head("Change"), head("Probability")],
    rows: [
      ...bisection.changes.map((each) =>
        rowOf(`${each.position}. ${each.title}`, each.prior_why, probabilityOf(each)),
      ),
      ...(none === null ? [] : [rowOf("None of these", "", none)]),
      ...(several === null ? [] : [rowOf("More than one", "", several)]),
    ],
  };
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
