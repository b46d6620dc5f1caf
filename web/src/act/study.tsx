/** Asks something about a revision beside its experiment. */

import { useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, data } from "../api/client";
import { seriesQuery } from "../api/queries";
import type { Revision, Series, StudyKind } from "../api/types";
import { Action } from "./action";
import { useRights } from "./rights";

// The service refuses a study of patches that may not run.
const ASKABLE: Revision["state"][] = ["approved", "building", "measuring", "nothing_runs_it"];

const QUESTION: Record<StudyKind, string> = {
  "patch-cost": "What does each patch cost?",
  selection: "Which mitigation is chosen where?",
  variants: "Which revision costs least?",
};

/** Whether anything can be asked about a revision. */
export function isAskable(revision: Revision): boolean {
  return ASKABLE.includes(revision.state);
}

interface AskStudyProps {
  series: Series;
  revision: Revision;
  kind: StudyKind;
  /** It was asked before, and that is over. */
  anew?: boolean;
}

export function AskStudy({ series, revision, kind, anew = false }: AskStudyProps) {
  const { may } = useRights();
  const queries = useQueryClient();
  if (!isAskable(revision) || !may("submit")) return null;
  return (
    <Action
      label={anew ? "Ask anew" : QUESTION[kind]}
      confirm={anew ? "Ask anew" : "Ask"}
      run={() =>
        data(
          api.POST("/api/series/{name}/{revision}/studies/{kind}", {
            params: { path: { name: series.name, revision: revision.label, kind } },
            body: {},
          }),
        )
      }
      settled={() =>
        Promise.all(
          [seriesQuery(series.name).queryKey, ["home"], ["jobs"]].map((queryKey) =>
            queries.invalidateQueries({ queryKey }),
          ),
        )
      }
    >
      {anew && <p>What is said now is replaced by what comes of it.</p>}
      {kind === "patch-cost" && <OfCost series={series} />}
      {kind === "selection" && <OfSelection revision={revision} />}
      {kind === "variants" && <OfVariants revision={revision} />}
      <p className="soft">
        <Link to="/fleet?tab=jobs">Jobs</Link> show how far it is.
      </p>
    </Action>
  );
}

function OfCost({ series }: { series: Series }) {
  return (
    <>
      <p>
        A worker builds a kernel after each patch, then one of each patch alone that costs
        something. Experiments count what the cases of{" "}
        {series.spec === "" ? (
          "its spec, which is not set yet,"
        ) : (
          <code>experiments/series/{series.spec}.yml</code>
        )}{" "}
        run on each kernel.
      </p>
      <p className="soft">Every kernel is a build of its own: it may take hours.</p>
    </>
  );
}

function OfVariants({ revision }: { revision: Revision }) {
  return (
    <p>
      A worker builds {revision.label} and the newest other revisions that may run on the same base,
      retests with a diff too. An experiment counts what each runs; one that does less of what
      protects is out, the others are ranked.
    </p>
  );
}

function OfSelection({ revision }: { revision: Revision }) {
  return (
    <p>
      A worker builds the base and {revision.label}, and boots both on emulated processors, under
      each option and each <code>mitigations=</code> of the spec that knows the series.
    </p>
  );
}
