/** Lets a revision's patches run, and has them measured. */

import { useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, data } from "../api/client";
import { seriesQuery } from "../api/queries";
import type { Revision, Series } from "../api/types";
import { counted } from "../format/quantity";
import { Action } from "./action";
import { useRights } from "./rights";

const STARTABLE: Revision["state"][] = ["approved", "failed", "set_aside", "nothing_runs_it"];

interface RevisionActionsProps {
  series: Series;
  revision: Revision;
}

export function RevisionActions({ series, revision }: RevisionActionsProps) {
  const { may } = useRights();
  const queries = useQueryClient();
  const path = { name: series.name, revision: revision.label };
  const settled = () =>
    Promise.all(
      [seriesQuery(series.name).queryKey, ["series"], ["home"], ["jobs"]].map((queryKey) =>
        queries.invalidateQueries({ queryKey }),
      ),
    );
  // Ordered once more as it is, nothing would be measured again.
  const everything = revision.state === "nothing_runs_it";
  const patches = counted(revision.patches.length, "patch", "patches");
  return (
    <div className="buttons">
      {revision.state === "waiting" && may("approve a series") && (
        <Action
          label="Approve"
          confirm="I looked at them: approve"
          run={() =>
            data(
              api.POST("/api/series/{name}/{revision}/approve", {
                params: { path },
                body: { digest: revision.digest },
              }),
            )
          }
          settled={settled}
        >
          <p>
            The {patches} of {revision.label}, from {revision.sender || "somebody"}, may then be
            built, and <strong>run as root</strong> on hosts of ours. Those patches alone (digest{" "}
            <code>{revision.digest.slice(0, 16)}</code>): others under the same label are refused.
          </p>
          <p className="soft">Nothing is built yet: that is the next step.</p>
        </Action>
      )}
      {STARTABLE.includes(revision.state) && revision.experiment_id === null && may("submit") && (
        <Action
          label={everything ? "Measure all cases" : "Build and measure"}
          run={() =>
            data(
              api.POST("/api/series/{name}/{revision}/start", {
                params: { path },
                body: { all_cases: everything },
              }),
            )
          }
          settled={settled}
        >
          <p>
            A worker builds kernels of the {patches} on {series.base}, and submits the experiment of{" "}
            {series.spec === "" ? (
              "its spec, which is not set yet"
            ) : (
              <code>experiments/series/{series.spec}.yml</code>
            )}
            . <Link to="/fleet?tab=jobs">Jobs</Link> show how far it is.
          </p>
          {everything && (
            <p>No case is known to run what it changes; all of them are measured all the same.</p>
          )}
        </Action>
      )}
      {revision.experiment_id !== null && revision.patches.length > 1 && may("submit") && (
        <Link
          className="button"
          to={`/regressions?tab=new-bisection&${new URLSearchParams({ series: series.name, revision: revision.label }).toString()}`}
        >
          Bisect…
        </Link>
      )}
    </div>
  );
}
