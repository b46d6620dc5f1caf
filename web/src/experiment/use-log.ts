import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { fetchLog } from "../api/queries";
import type { LogEvent } from "../api/types";

const SHOWN = 300;

/** Lines without doubles, by id, the newest `SHOWN` of them. */
export function merged(older: readonly LogEvent[], newer: readonly LogEvent[]): LogEvent[] {
  const byId = new Map([...older, ...newer].map((line) => [line.id, line]));
  return [...byId.values()].sort((a, b) => a.id - b.id).slice(-SHOWN);
}

/** The last log lines, asked for while `wanted`, and those behind them whenever one was written. */
export function useLog(id: number, lastEventId: number | undefined, wanted: boolean): LogEvent[] {
  const queries = useQueryClient();
  const queryKey = ["log", id] as const;
  const last = lastEventId ?? 0;
  const { data, isFetching, refetch } = useQuery({
    queryKey,
    queryFn: async () => {
      const before = queries.getQueryData<LogEvent[]>(queryKey) ?? [];
      const after = before.at(-1)?.id ?? Math.max(0, last - SHOWN);
      return merged(before, await fetchLog(id, after, SHOWN));
    },
    enabled: wanted && lastEventId !== undefined,
    staleTime: Infinity,
    gcTime: 0,
  });
  const isBehind = wanted && data !== undefined && (data.at(-1)?.id ?? 0) < last;
  useEffect(() => {
    if (isBehind && !isFetching) void refetch();
  }, [isBehind, isFetching, refetch]);
  return data ?? [];
}
