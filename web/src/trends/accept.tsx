/** Takes a change as it is, with the reason; for those whose role allows that. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Refused } from "../act/action";
import { useAct } from "../act/use-act";
import { api, data } from "../api/client";
import { trendQuery } from "../api/queries";
import type { TrendChange } from "../api/types";
import { sessionQuery } from "../login/session";

const MOST = 2000;

interface Said {
  text: string;
  expected: boolean;
}

export function Accept({ change }: { change: TrendChange }) {
  const { data: session } = useQuery({ ...sessionQuery(), enabled: false });
  if (change.state !== "open") return null;
  if (!session?.rights.includes("approve a series"))
    return (
      <p className="faint small">
        <code>mitigauge trends accept {change.id} &quot;why&quot;</code> takes it as it is.
      </p>
    );
  return <Form change={change} />;
}

function Form({ change }: { change: TrendChange }) {
  const [said, setSaid] = useState<Said>({ text: "", expected: false });
  const queries = useQueryClient();
  const field = useId();
  const accepting = useAct({
    run: (body: Said) =>
      data(
        api.POST("/api/trends/changes/{change_id}/accept", {
          params: { path: { change_id: change.id } },
          body,
        }),
      ),
    // Refused, too, it may be that somebody else accepted it meanwhile.
    settled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: trendQuery(change.trend_id).queryKey }),
        queries.invalidateQueries({ queryKey: ["trends"] }),
      ]),
  });
  return (
    <form
      className="accept"
      onSubmit={(event) => {
        event.preventDefault();
        accepting.act(said);
      }}
    >
      <label htmlFor={field}>Why it is taken as it is</label>
      <input
        id={field}
        className="field"
        value={said.text}
        maxLength={MOST}
        required
        onChange={(event) => {
          setSaid({ ...said, text: event.target.value });
        }}
      />
      <label className="small">
        <input
          type="checkbox"
          checked={said.expected}
          onChange={(event) => {
            setSaid({ ...said, expected: event.target.checked });
          }}
        />{" "}
        it was known to come
      </label>
      <button
        type="submit"
        className="button"
        disabled={accepting.begun || said.text.trim() === ""}
      >
        Accept
      </button>
      <Refused error={accepting.error} />
    </form>
  );
}
