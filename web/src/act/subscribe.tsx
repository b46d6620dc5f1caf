/** Subscribes whoever looks at the page to what it is about. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, data } from "../api/client";
import type { NewSubscription, SubscriptionKind } from "../api/types";
import { secretKey, subscriptionsKey, subscriptionsQuery } from "../subscriptions/queries";
import { subject } from "../subscriptions/words";
import { Action } from "./action";
import type { Values, WantedField } from "./fields";
import { useRights } from "./rights";

/** What may be subscribed to from a page. */
export interface Offer {
  kind: SubscriptionKind;
  subject?: string;
  trend_id?: number;
}

const HOW: [string, string][] = [
  ["mail", "mail"],
  ["webhook", "webhook"],
];
const WHEN: [string, string][] = [
  ["digest", "in one digest: by mail a day’s, else of 15 minutes"],
  ["at once", "at once"],
];

export function Subscribe({ offers }: { offers: Offer[] }) {
  const { may } = useRights();
  if (!may("subscribe")) return null;
  return <Offered offers={offers} />;
}

function Offered({ offers }: { offers: Offer[] }) {
  const queries = useQueryClient();
  const [, go] = useLocation();
  const [done, setDone] = useState(false);
  const { data: mine = [] } = useQuery(subscriptionsQuery(false));
  const before = mine.find((each) => each.way === "mail")?.to ?? "";
  const run = async (values: Values) => {
    const added = await data(api.POST("/api/subscriptions", { body: wanted(offers, values) }));
    setDone(true);
    if (added.secret === "") return;
    queries.setQueryData(secretKey, { id: added.subscription.id, secret: added.secret });
    go("/?tab=subscriptions");
  };
  return (
    <>
      <Action
        label="Subscribe"
        fields={fields(offers, before)}
        run={run}
        settled={() => queries.invalidateQueries({ queryKey: subscriptionsKey })}
      >
        <p>
          You are told what happens from now on
          {offers.length === 1 && offers[0] !== undefined && <> with the {named(offers[0])}</>},
          until you end it on the page Subscriptions.
        </p>
      </Action>
      {done && (
        <span role="status" className="small">
          <Link to="/?tab=subscriptions">Subscribed</Link>
        </span>
      )}
    </>
  );
}

function named(of: Offer): string {
  return subject({ kind: of.kind, subject: of.subject ?? "" });
}

function fields(offers: Offer[], address: string): WantedField[] {
  const of: WantedField = {
    name: "of",
    label: "Of",
    kind: "choice",
    initial: "0",
    choices: offers.map((offer, at): [string, string] => [String(at), named(offer)]),
  };
  return [
    ...(offers.length > 1 ? [of] : []),
    { name: "how", label: "By", kind: "choice", initial: "mail", choices: HOW },
    {
      name: "address",
      label: "To",
      initial: address,
      required: true,
      most: 2000,
      placeholder: "you@example.org, or the webhook’s https://…",
    },
    { name: "when", label: "When", kind: "choice", initial: "digest", choices: WHEN },
  ];
}

function wanted(offers: Offer[], values: Values): NewSubscription {
  const offer = offers[Number(values.of ?? "0")];
  if (offer === undefined) throw new Error("nothing was chosen");
  const how = values.how ?? "mail";
  return {
    kind: offer.kind,
    subject: offer.trend_id === undefined ? (offer.subject ?? "") : "",
    trend_id: offer.trend_id ?? null,
    way: how === "mail" ? "mail" : "webhook",
    address: values.address ?? "",
    at_once: values.when === "at once",
  };
}
