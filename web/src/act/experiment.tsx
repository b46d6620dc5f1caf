/** What can be done with an experiment: stop it, or run it again. */

import { useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, data } from "../api/client";
import { experimentQuery, isLive, progressQuery } from "../api/queries";
import type { Experiment, ExperimentState } from "../api/types";
import { Action } from "./action";
import { useRights } from "./rights";

interface ExperimentActionsProps {
  experiment: Experiment;
  state: ExperimentState;
  done: number;
}

export function ExperimentActions({ experiment, state, done }: ExperimentActionsProps) {
  const { may, mayCancel } = useRights();
  const queries = useQueryClient();
  const { id } = experiment;
  return (
    <>
      {may("submit") && (
        <Link className="button" to={`/experiments?tab=new&from=${id}`}>
          Run again…
        </Link>
      )}
      {isLive(state) && mayCancel(experiment.submitted_by) && (
        <Action
          label="Cancel"
          confirm="Cancel it"
          run={() =>
            data(
              api.POST("/api/experiments/{experiment_id}/cancel", {
                params: { path: { experiment_id: id } },
                body: {},
              }),
            )
          }
          settled={() =>
            Promise.all([
              queries.invalidateQueries({ queryKey: experimentQuery(id).queryKey }),
              queries.invalidateQueries({ queryKey: progressQuery(id).queryKey }),
            ])
          }
        >
          <p>
            {done === 0
              ? "None of its boots was made."
              : `${done} of its boots are made: they and their verdicts stay.`}{" "}
            What runs now is stopped, its hosts are put back as they were, and they are free for
            others afterwards. It cannot be gone on with.
          </p>
        </Action>
      )}
    </>
  );
}
