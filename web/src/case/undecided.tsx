/** What it takes to decide a cell that is undecided. */

import { useQuery } from "@tanstack/react-query";
import { experimentQuery, isLive } from "../api/queries";
import type { Case, Cell, Row } from "../api/types";
import { isMeasured } from "../experiment/scale";
import { counted, detectable, fixed } from "../format/quantity";
import { MoreBlocks } from "./more-blocks";

interface UndecidedProps {
  view: Case;
  row: Row;
  cell: Cell;
}

/** Nothing where there is a verdict, or nothing to judge. */
export function Undecided({ view, row, cell }: UndecidedProps) {
  const { data: experiment } = useQuery(experimentQuery(view.experiment_id));
  if (!isMeasured(cell) || (cell.verdict ?? "undecided") !== "undecided") return null;
  const goesOn = experiment !== undefined && isLive(experiment.state);
  return (
    <div className="small undecided" data-testid="undecided">
      <p>
        <strong>Real or noise cannot be told</strong> with {counted(cell.blocks, "block")}.{" "}
        {tellable(cell)} {sameWithin(row)}
      </p>
      {goesOn ? (
        <p className="soft">The experiment goes on: further blocks may decide it.</p>
      ) : (
        <MoreBlocks
          experiment={view.experiment_id}
          caseId={view.case_id}
          host={row.host}
          arm={view.arms.find((arm) => arm.id === cell.arm_id)?.name ?? ""}
          metric={row.metric}
        />
      )}
    </div>
  );
}

function tellable(cell: Cell): string {
  if (typeof cell.mde_percent !== "number") return "How large a change would show is not known.";
  return `They show a change of ${detectable(cell.mde_percent)} or more; a smaller one takes more blocks.`;
}

/** What counts as no difference, where that was set. */
function sameWithin(row: Row): string {
  const margin = row.delta_percent;
  if (typeof margin !== "number" || margin <= 0) return "";
  const digits = Number.isInteger(margin) ? 0 : 1;
  return `“Same” needs the whole interval within ±${fixed(margin, digits)} %.`;
}
