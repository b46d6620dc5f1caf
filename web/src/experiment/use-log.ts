import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { fetchLog } from "../api/queries";
import type { LogEvent } from "../api/types";

const SHOWN = 300;

/** Lines without doubles, by id, the newest `SHOWN` of them. */
export function merged(older: readonly LogEvent[], newer: readonly LogEvent[]): LogEvent[] {
  const byId = new Map([...older, ...newer].map((line) => [line.id, line]));
  return [...byId.values()].sort((a, b) => a.id - b.id).slice(-SHOWN);
}

/**
 * The last log lines: those before `lastEventId` are asked for once when `wanted`, later
 * ones are added as they come.
 */
export function useLog(id: number, lastEventId: number | undefined, wanted: boolean) {
  const [arrived, setArrived] = useState<LogEvent[]>([]);
  const { data } = useQuery({
    queryKey: ["log", id],
    queryFn: () => fetchLog(id, Math.max(0, (lastEventId ?? 0) - SHOWN), SHOWN),
    enabled: wanted && lastEventId !== undefined,
    staleTime: Infinity,
    gcTime: 0,
  });
  return {
    lines: merged(data ?? [], arrived),
    add: (line: LogEvent) => {
      setArrived((lines) => merged(lines, [line]));
    },
  };
}
