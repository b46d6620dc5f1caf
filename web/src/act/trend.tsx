/** Says something of a trend. */

import { useQueryClient } from "@tanstack/react-query";
import { api, data } from "../api/client";
import { trendQuery } from "../api/queries";
import { Action } from "./action";
import { useRights } from "./rights";

export function Annotate({ trendId, changes }: { trendId: number; changes: number[] }) {
  const { may } = useRights();
  const queries = useQueryClient();
  if (!may("triage regressions and trends")) return null;
  return (
    <Action
      label="Say something"
      fields={[
        { name: "text", label: "What you know of it", kind: "long", required: true, most: 2000 },
        ...(changes.length === 0
          ? []
          : [
              {
                name: "change",
                label: "Of",
                kind: "choice" as const,
                initial: "",
                choices: [
                  ["", "the whole trend"] as [string, string],
                  ...changes.map((id): [string, string] => [String(id), `change ${id}`]),
                ],
              },
            ]),
      ]}
      run={({ text = "", change = "" }) =>
        data(
          api.POST("/api/trends/{trend_id}/annotations", {
            params: { path: { trend_id: trendId } },
            body: { text, change_id: change === "" ? null : Number(change) },
          }),
        )
      }
      settled={() => queries.invalidateQueries({ queryKey: trendQuery(trendId).queryKey })}
    >
      <p>Everybody who reads the trend sees it, with your name and the time. It stays.</p>
    </Action>
  );
}
