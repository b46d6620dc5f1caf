/** Which instructions are shown: those near a change, with the runs between them folded up. */

import type { InstructionRow } from "../api/types";
import { isSignificant } from "./colour";

/** Instructions shown on either side of a change. */
const AROUND = 4;
/** A shorter run than this is not worth a line that stands for it. */
const SHORTEST_FOLD = 4;

/** A run of rows: shown, or standing folded. `end` is behind the last. */
export interface Run {
  first: number;
  end: number;
  folded: boolean;
}

/** What fills the room behind a jump, and never runs. */
export function isPadding(row: InstructionRow): boolean {
  return (row.text_b === "" ? row.text_a : row.text_b) === "int3";
}

export function differs(row: InstructionRow): boolean {
  return (row.mark !== "" && !isPadding(row)) || isSignificant(row.q ?? NaN);
}

/** All rows in runs; where nothing differs, or `all` is asked for, one run that is shown. */
export function runsOf<Row>(
  rows: readonly Row[],
  differs: (row: Row) => boolean,
  all: boolean,
): Run[] {
  const changes = rows.flatMap((row, index) => (differs(row) ? [index] : []));
  if (rows.length === 0) return [];
  if (all || changes.length === 0) return [{ first: 0, end: rows.length, folded: false }];
  const runs: Run[] = [];
  let done = 0;
  for (const index of changes) {
    const from = Math.max(index - AROUND, 0);
    const to = Math.min(index + AROUND + 1, rows.length);
    const gap = from - done;
    if (gap >= SHORTEST_FOLD) runs.push({ first: done, end: from, folded: true });
    const last = runs.at(-1);
    if (gap >= SHORTEST_FOLD || last === undefined) {
      runs.push({ first: gap >= SHORTEST_FOLD ? from : done, end: to, folded: false });
    } else last.end = Math.max(last.end, to);
    done = Math.max(done, to);
  }
  const last = runs.at(-1);
  if (rows.length - done >= SHORTEST_FOLD)
    runs.push({ first: done, end: rows.length, folded: true });
  else if (last !== undefined) last.end = rows.length;
  return runs;
}
