/** What can be done with a cell that is worse: file it as a regression, or bisect it. */

import { useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { api, data } from "../api/client";
import type { Arm, Case, Row } from "../api/types";
import { Action } from "./action";
import { useRights } from "./rights";

interface CellActionsProps {
  view: Case;
  row: Row;
  arm: Arm;
}

export function CellActions({ view, row, arm }: CellActionsProps) {
  const { may, subject } = useRights();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const verdict = row.cells.find((cell) => cell.arm_id === arm.id)?.verdict;
  const files = may("triage regressions and trends");
  if (verdict !== "worse" || !(files || may("submit"))) return null;
  const cell = {
    experiment: String(view.experiment_id),
    case: String(view.case_id),
    host: view.host,
    arm: arm.name,
    metric: row.metric,
  };
  return (
    <div className="buttons">
      {files && (
        <Action
          label="File a regression"
          confirm="File it"
          fields={[
            { name: "owner", label: "Owner (empty: nobody yet)", initial: subject, most: 130 },
            { name: "bug", label: "Bug", placeholder: "https://…", most: 500 },
            { name: "note", label: "Note", kind: "long", most: 4000 },
          ]}
          run={async ({ owner = "", bug = "", note = "" }) => {
            const filed = await data(
              api.POST("/api/regressions", {
                body: {
                  experiment_id: view.experiment_id,
                  case_id: view.case_id,
                  host: view.host,
                  arm: arm.name,
                  metric: row.metric,
                  owner,
                  bug,
                  note,
                },
              }),
            );
            go(`/regressions/${filed.id}`);
          }}
          settled={() =>
            Promise.all(
              [["regressions"], ["home"]].map((queryKey) =>
                queries.invalidateQueries({ queryKey }),
              ),
            )
          }
        >
          <p>
            {view.case} in <span className="mono">{arm.name}</span> on {view.host} gets a page of
            its own with state, owner and history, until somebody says what became of it.
          </p>
        </Action>
      )}
      {may("submit") && (
        <Link
          className="button"
          to={`/regressions?tab=new-bisection&${new URLSearchParams(cell).toString()}`}
        >
          Bisect…
        </Link>
      )}
    </div>
  );
}
