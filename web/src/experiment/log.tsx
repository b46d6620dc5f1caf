/** The event log's end, growing while the experiment runs. */

import type { LogEvent } from "../api/types";
import { clock } from "../format/time";
import { Empty } from "../ui/empty";
import type { Connection } from "../api/live";

const CONNECTION: Record<Connection, string> = {
  connecting: "connecting",
  live: "live",
  lost: "connection lost, trying again",
};

interface LogProps {
  lines: LogEvent[];
  live: boolean;
  connection: Connection;
  open: boolean;
  onToggle: (open: boolean) => void;
}

export function Log({ lines, live, connection, open, onToggle }: LogProps) {
  return (
    <details
      className="panel"
      open={open}
      onToggle={(event) => {
        onToggle(event.currentTarget.open);
      }}
    >
      <summary>
        <h2>Log</h2>
        {live && <span className="faint">{CONNECTION[connection]}</span>}
      </summary>
      {lines.length === 0 ? (
        <Empty
          next={live ? [["mitigauge worker", "carries out what is planned, and logs it"]] : []}
        >
          Nothing has been logged{live && " yet"}.
        </Empty>
      ) : (
        <ol className="log" tabIndex={0} aria-label="Log, newest first">
          {lines.toReversed().map((line) => (
            <li key={line.id}>
              <time dateTime={line.at}>{clock(line.at)}</time>
              <span className="log-host">{line.host}</span>
              <span className="log-kind">{line.kind}</span>
              <span>{line.text}</span>
            </li>
          ))}
        </ol>
      )}
    </details>
  );
}
