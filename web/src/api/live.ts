/** An experiment's progress, asked for again and again for as long as it runs. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { isLive, progressQuery } from "./queries";
import type { Progress } from "./types";

export type Connection = "connecting" | "live" | "lost";

/** What happened is seen within three seconds, the answer's time among them. */
const EVERY_MS = 2_000;

export function useLiveExperiment(id: number): {
  progress: Progress | undefined;
  connection: Connection;
} {
  const queries = useQueryClient();
  const query = useQuery({
    ...progressQuery(id),
    refetchInterval: ({ state: { data } }) =>
      data === undefined || isLive(data.state) ? EVERY_MS : false,
  });
  const { data: progress } = query;

  const standing = progress === undefined ? null : `${progress.state} ${progress.boots_done}`;
  const before = useRef(standing);
  useEffect(() => {
    if (before.current !== null && before.current !== standing) {
      void queries.invalidateQueries({ queryKey: ["experiment", id] });
      void queries.invalidateQueries({ queryKey: ["case", id] });
    }
    before.current = standing;
  }, [queries, id, standing]);

  const connection = query.isError ? "lost" : progress === undefined ? "connecting" : "live";
  return { progress, connection };
}
