/** What can be done with a host: keep it, give it back, set it aside, use it again. */

import { useQueryClient } from "@tanstack/react-query";
import { api, data } from "../api/client";
import type { Host } from "../api/types";
import { counted } from "../format/quantity";
import { Action } from "./action";
import type { WantedField } from "./fields";
import { useRights } from "./rights";
import { Subscribe } from "./subscribe";

const HOURS: [string, string][] = [
  ["1", "1 hour"],
  ["4", "4 hours"],
  ["8", "8 hours"],
  ["24", "1 day"],
  ["72", "3 days"],
  ["168", "7 days"],
];
const REASON: WantedField = {
  name: "reason",
  label: "Why (everybody reads it)",
  required: true,
  most: 500,
};

/** An hour from now, as the service takes it. */
function hoursFromNow(hours: number): string {
  return new Date(Date.now() + hours * 3_600_000).toISOString();
}

export function HostActions({ host }: { host: Host }) {
  const { subject, may } = useRights();
  const queries = useQueryClient();
  const settled = () =>
    Promise.all(
      [["host"], ["hosts"], ["queue"], ["home"]].map((queryKey) =>
        queries.invalidateQueries({ queryKey }),
      ),
    );
  const path = { environment: host.environment, name: host.name };
  const waiting = host.queue?.waiting.length ?? 0;
  const holds = host.leased_by !== "" && (
    <p>
      It is in use by {host.leased_by} now: that run goes on to its end, and no other begins after
      it.
    </p>
  );
  const reserved = host.reserved_until !== null;
  const aside = host.set_aside_at !== null;
  const mine = reserved && host.reserved_by === subject;
  const breaks = may("set a host aside or break a reservation");
  return (
    <div className="buttons">
      <Subscribe offers={[{ kind: "host", subject: `${host.environment}/${host.name}` }]} />
      {aside && may("resume a host") && (
        <Action
          label="Use it again"
          run={() =>
            data(api.POST("/api/hosts/{environment}/{name}/resume", { params: { path }, body: {} }))
          }
          settled={settled}
        >
          <p>
            {host.name} was set aside: {host.set_aside_reason}. Its runs may begin at once
            {waiting > 0 && `; ${counted(waiting, "run")} ${waiting === 1 ? "waits" : "wait"}`}.
          </p>
        </Action>
      )}
      {reserved && (mine || breaks) && may("reserve a host") && (
        <Action
          label={mine ? "Give it back" : "End the reservation"}
          run={() =>
            data(
              api.POST("/api/hosts/{environment}/{name}/release", { params: { path }, body: {} }),
            )
          }
          settled={settled}
        >
          <p>
            {mine ? "You have" : `${host.reserved_by} has`} {host.name} for: {host.reserved_reason}.
            Runs may begin on it again at once.
          </p>
        </Action>
      )}
      {!reserved && may("reserve a host") && (
        <Action
          label="Reserve"
          fields={[
            { name: "hours", label: "For", kind: "choice", choices: HOURS, initial: "4" },
            REASON,
          ]}
          run={({ hours, reason = "" }) =>
            data(
              api.POST("/api/hosts/{environment}/{name}/reserve", {
                params: { path },
                body: { until: hoursFromNow(Number(hours)), reason },
              }),
            )
          }
          settled={settled}
        >
          <p>
            No run begins on {host.name} until then
            {waiting > 0 &&
              `; ${counted(waiting, "run")} that ${waiting === 1 ? "waits" : "wait"} for it ${waiting === 1 ? "stays" : "stay"} in its queue`}
            .
          </p>
          {holds}
        </Action>
      )}
      {!aside && breaks && (
        <Action
          label="Set aside"
          fields={[REASON]}
          run={({ reason = "" }) =>
            data(
              api.POST("/api/hosts/{environment}/{name}/set-aside", {
                params: { path },
                body: { reason },
              }),
            )
          }
          settled={settled}
        >
          <p>
            No run begins on {host.name} until somebody uses it again. Its runs wait, and none is
            lost.
          </p>
          {holds}
        </Action>
      )}
    </div>
  );
}
