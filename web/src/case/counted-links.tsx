/** Where the exact counts of a case without profiles are. */

import { Link } from "wouter";
import type { Case, Row } from "../api/types";
import { profilePath } from "../experiment/paths";

/** To what each arm's operations run, to the instruction; a profile has the same as a tab. */
export function CountedLinks({ view, row }: { view: Case; row: Row }) {
  const baseline = view.arms.find((arm) => arm.is_baseline);
  const measured = row.cells.filter((cell) => cell.state === "measured").map((c) => c.arm_id);
  const others = view.arms.filter((arm) => measured.includes(arm.id) && !arm.is_baseline);
  if (baseline === undefined || others.length === 0) return null;
  return (
    <p className="table-link">
      <span className="faint small">Instructions of an operation, as they were counted:</span>{" "}
      {others.map((arm) => (
        <Link
          className="button"
          key={arm.id}
          to={`${profilePath(view.experiment_id, row, baseline.name, arm.name)}&tab=exact`}
        >
          <span className="mono">{arm.name}</span> against{" "}
          <span className="mono">{baseline.name}</span>
        </Link>
      ))}
    </p>
  );
}
