/** What an event costs those who run behind it, and whether that tells mixed sets of branches. */

import type { PriceMachine } from "../api/types";
import { PredictionTable } from "./predictions";
import { branchesText, intervalText } from "./words";

interface AftermathProps {
  of: PriceMachine["aftermaths"][number];
  machine: string;
}

export function Aftermath({ of, machine }: AftermathProps) {
  return (
    <>
      <p className="small soft">
        Behind {of.title !== of.event && `${of.title} `}
        <code>{of.event}</code>, each branch that runs first costs more:{" "}
        {of.refills.map(({ branches, cost }, at) => (
          <span key={branches}>
            {at > 0 && "; "}
            {branches} {intervalText(cost)}
          </span>
        ))}
        . Mixed sets, which these are not made of:
      </p>
      <PredictionTable
        label={`Branches behind ${of.event}, ${machine}`}
        of="Branches behind it"
        rows={of.working_sets.map((each) => [branchesText(each.branches), each])}
      />
    </>
  );
}
