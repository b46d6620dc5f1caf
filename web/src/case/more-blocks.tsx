/** The blocks that would decide a cell, and a button that orders them. */

import { useQuery } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { Action } from "../act/action";
import { useRights } from "../act/rights";
import { api, data } from "../api/client";
import { undecidedQuery } from "../api/queries";
import { counted, fixed } from "../format/quantity";

interface MoreBlocksProps {
  experiment: number;
  caseId: number;
  host: string;
  arm: string;
  metric: string;
}

export function MoreBlocks({ experiment, caseId, host, arm, metric }: MoreBlocksProps) {
  const { data: said } = useQuery(undecidedQuery(experiment));
  const cell = said?.cells.find(
    (each) =>
      each.case_id === caseId && each.host === host && each.arm === arm && each.metric === metric,
  );
  const { may } = useRights();
  if (said === undefined || cell === undefined) return null;
  return (
    <>
      <p>{cell.outlook}</p>
      {may("submit") && <Order experiment={experiment} blocks={cell.needed} hours={said.hours} />}
    </>
  );
}

interface OrderProps {
  experiment: number;
  /** Blocks that decide it; null: more than there are. */
  blocks: number | null;
  /** Of the whole order, at the pace of the experiment before. */
  hours: number | null;
}

function Order({ experiment, blocks, hours }: OrderProps) {
  const [, go] = useLocation();
  return (
    <p>
      <Action
        label="Measure with more blocks"
        fields={[
          {
            name: "blocks",
            label: "Blocks, 1 to 64",
            kind: "number",
            required: true,
            least: 1,
            most: 64,
            initial: blocks === null ? "64" : String(blocks),
          },
        ]}
        run={async ({ blocks: wanted = "" }) => {
          const again = await data(
            api.POST("/api/experiments/{experiment_id}/again", {
              params: { path: { experiment_id: experiment } },
              body: { blocks: Number(wanted) },
            }),
          );
          go(`/experiments/${again.id}`);
        }}
        settled={() => undefined}
      >
        <p>
          Submits the spec of this experiment once more: blocks are planned before the first boot,
          as the error rates depend on it.
          {blocks !== null && hours !== null && (
            <>
              {" "}
              At the pace of this one {counted(blocks, "block")} take some {fixed(hours, 1)} h.
            </>
          )}
        </p>
      </Action>
    </p>
  );
}
