/** Stops a bisection. */

import { useQueryClient } from "@tanstack/react-query";
import { api, data } from "../api/client";
import { bisectionQuery } from "../api/queries";
import type { Bisection } from "../api/types";
import { Action } from "./action";
import { useRights } from "./rights";

export function BisectionActions({ bisection }: { bisection: Bisection }) {
  const { mayCancel } = useRights();
  const queries = useQueryClient();
  if (bisection.state !== "running" || !mayCancel(bisection.submitted_by)) return null;
  return (
    <div className="buttons">
      <Action
        label="Cancel"
        confirm="Cancel it"
        run={() =>
          data(
            api.POST("/api/bisections/{bisection_id}/cancel", {
              params: { path: { bisection_id: bisection.id } },
              body: {},
            }),
          )
        }
        settled={() =>
          Promise.all([
            queries.invalidateQueries({ queryKey: bisectionQuery(bisection.id).queryKey }),
            queries.invalidateQueries({ queryKey: ["bisections"] }),
          ])
        }
      >
        <p>
          It has made {bisection.boots} of the {bisection.budget_boots} boots that it may; what it
          learned so far stays. The experiment that it waits for is stopped, too. It cannot be gone
          on with.
        </p>
      </Action>
    </div>
  );
}
