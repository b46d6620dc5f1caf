/** A function's lines with the runs between changes folded up, and the choice to see them all. */

import { Fragment, useState, type ReactNode } from "react";
import { counted } from "../format/quantity";
import { Choice } from "./choice";
import { runsOf } from "./folded-rows";
import type { TabProps } from "./tab";

export function LinesChoice({ state, change }: Pick<TabProps, "state" | "change">) {
  return (
    <Choice<"near" | "all">
      label="Instructions"
      options={[
        ["near", "near changes", "What is alike and far from a change is folded up"],
        ["all", "all"],
      ]}
      value={state.lines}
      choose={(lines) => {
        change({ lines: lines === "near" ? null : lines });
      }}
    />
  );
}

interface FoldedLinesProps<Row> {
  rows: readonly Row[];
  differs: (row: Row) => boolean;
  all: boolean;
  line: (row: Row, index: number) => ReactNode;
  /** One line that stands for several; what it is given opens them. */
  folded: (rows: readonly Row[], unfold: () => void) => ReactNode;
}

export function FoldedLines<Row>({ rows, differs, all, line, folded }: FoldedLinesProps<Row>) {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  return runsOf(rows, differs, all).map((run) => {
    const own = rows.slice(run.first, run.end);
    return (
      <Fragment key={run.first}>
        {run.folded && !open.has(run.first)
          ? folded(own, () => {
              setOpen(new Set([...open, run.first]));
            })
          : own.map((row, index) => line(row, run.first + index))}
      </Fragment>
    );
  });
}

interface UnfoldProps {
  rows: readonly { mark: string }[];
  unfold: () => void;
}

export function Unfold({ rows, unfold }: UnfoldProps) {
  const alike = rows.every(({ mark }) => mark === "") ? "alike" : "alike, or padding";
  return (
    <button type="button" className="fold" aria-expanded={false} onClick={unfold}>
      {counted(rows.length, "instruction")} {alike}
    </button>
  );
}
