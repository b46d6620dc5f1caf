/** Requests that came by mail: those that wait for a person, with their mails. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Action } from "../act/action";
import { useRights } from "../act/rights";
import { api, data } from "../api/client";
import { mailRequestQuery, mailRequestsQuery } from "../api/queries";
import type { MailRequest } from "../api/types";
import { Age } from "../ui/age";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { Tag } from "../ui/tag";
import { useAddress } from "../ui/use-address";

const TONE = {
  waiting: "void",
  accepted: "busy",
  refused: "bad",
  done: "good",
  ignored: "quiet",
} as const;

export function RequestsPage() {
  useTitle("Requests by mail");
  const [search, change] = useAddress();
  const all = search.get("show") === "all";
  const query = useQuery(mailRequestsQuery(!all));
  return (
    <>
      <Head
        title="Requests by mail"
        tabs={<PlaceTabs of="series" here="requests" />}
        lede="Whose sender a key proves is carried out by itself; the others wait until somebody has looked at them."
      >
        <div className="segments" role="group" aria-label="Which requests">
          {[false, true].map((every) => (
            <button
              key={String(every)}
              type="button"
              aria-pressed={all === every}
              onClick={() => {
                change("show", every ? "all" : null);
              }}
            >
              {every ? "All" : "Waiting"}
            </button>
          ))}
        </div>
      </Head>
      <Loaded query={query} part>
        {(requests) => (
          <section className="panel" aria-labelledby="requests">
            <header>
              <h2 id="requests">{all ? "All requests" : "Waiting for a person"}</h2>
              <span className="faint small">newest first</span>
            </header>
            {requests.length === 0 && (
              <Empty>
                {all ? "No mail has asked for anything yet." : "None waits for a person."}
              </Empty>
            )}
            {requests.map((request) => (
              <Item key={request.id} request={request} />
            ))}
          </section>
        )}
      </Loaded>
    </>
  );
}

function Item({ request }: { request: MailRequest }) {
  const [open, setOpen] = useState(false);
  return (
    <article className="revision" aria-labelledby={`request-${request.id}`}>
      <div className="revision-head">
        <h3 id={`request-${request.id}`}>{request.subject || `Request ${request.id}`}</h3>
        <Tag tone={TONE[request.state]} text={request.state} />
        <span className="soft">{request.why}</span>
      </div>
      <p>
        <code>{request.line}</code> from {request.sender},{" "}
        {request.about === "" ? "about no series that is stored" : `about ${request.about}`},{" "}
        <Age at={request.received_at} />
      </p>
      <details
        onToggle={(event) => {
          setOpen(event.currentTarget.open);
        }}
      >
        <summary>The mail</summary>
        {open && <Mail id={request.id} />}
      </details>
      {request.state === "waiting" && <Decide request={request} />}
    </article>
  );
}

function Mail({ id }: { id: number }) {
  const query = useQuery(mailRequestQuery(id));
  return (
    <Loaded query={query}>
      {(whole) => (
        <>
          <pre className="raw" tabIndex={0} aria-label="The mail as it came">
            {whole.mail}
          </pre>
          {whole.cut && <p className="faint small">It is longer: the rest is not shown.</p>}
        </>
      )}
    </Loaded>
  );
}

function Decide({ request }: { request: MailRequest }) {
  const { may } = useRights();
  const queries = useQueryClient();
  if (!may("approve a series")) return <p className="faint small">An approver decides about it.</p>;
  const params = { path: { request_id: request.id } };
  const settled = () =>
    Promise.all(
      [["requests"], ["request"], ["home"], ["series"]].map((queryKey) =>
        queries.invalidateQueries({ queryKey }),
      ),
    );
  return (
    <div className="buttons">
      <Action
        label="Approve"
        confirm="I looked at it: carry it out"
        run={() =>
          data(
            api.POST("/api/requests/{request_id}/approve", {
              params,
              body: { digest: request.mail_sha256 },
            }),
          )
        }
        settled={settled}
      >
        <p>
          <code>{request.line}</code> is carried out as if its sender were proven: a diff in the
          mail <strong>runs as root</strong> on hosts of ours, and {request.sender} is answered.
        </p>
        <p className="soft">Nothing proves that {request.sender} wrote it. Read the mail before.</p>
      </Action>
      <Action
        label="Leave alone"
        run={() => data(api.POST("/api/requests/{request_id}/ignore", { params, body: {} }))}
        settled={settled}
      >
        <p>It is not carried out and gets no answer. What is measured already goes on.</p>
      </Action>
    </div>
  );
}
