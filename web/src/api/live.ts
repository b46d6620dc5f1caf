/** An experiment's live stream: progress into the query cache, log lines to a listener. */

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";
import { sessionKey } from "../login/session";
import { isLive, progressKey } from "./queries";
import type { LogEvent, Progress } from "./types";

export type Connection = "connecting" | "live" | "lost";

const REOPEN_AFTER_MS = 3_000;

/**
 * Follows the experiment while `enabled`. The browser reconnects by itself and sends the
 * last event's id; only a refused connection has to be opened again here.
 */
export function useLiveExperiment(
  id: number,
  enabled: boolean,
  onLog: (line: LogEvent) => void,
): Connection {
  const queries = useQueryClient();
  const [connection, setConnection] = useState<Connection>("connecting");
  const logged = useEffectEvent(onLog);

  const progressed = useEffectEvent((next: Progress) => {
    const before = queries.getQueryData<Progress>(progressKey(id));
    queries.setQueryData(progressKey(id), next);
    if (before?.boots_done !== next.boots_done || before.state !== next.state) {
      void queries.invalidateQueries({ queryKey: ["experiment", id] });
      void queries.invalidateQueries({ queryKey: ["case", id] });
    }
  });

  const refused = useEffectEvent(() => {
    // It does not say why: perhaps nobody is logged in any more.
    void queries.invalidateQueries({ queryKey: sessionKey });
  });

  useEffect(() => {
    if (!enabled) return;
    let source: EventSource;
    let timer = 0;

    const open = () => {
      source = new EventSource(`/api/experiments/${id}/events`);
      source.onopen = () => {
        setConnection("live");
      };
      source.onerror = () => {
        setConnection("lost");
        if (source.readyState !== EventSource.CLOSED) return;
        timer = window.setTimeout(open, REOPEN_AFTER_MS);
        refused();
      };
      source.addEventListener("progress", (event: MessageEvent<string>) => {
        const next = JSON.parse(event.data) as Progress;
        progressed(next);
        if (!isLive(next.state)) source.close();
      });
      source.addEventListener("log", (event: MessageEvent<string>) => {
        logged(JSON.parse(event.data) as LogEvent);
      });
    };

    open();
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [id, enabled]);

  return connection;
}
