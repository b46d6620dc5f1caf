/** How subscriptions are put in words. */

import type { Subscription, SubscriptionKind } from "../api/types";

export const OF: Record<SubscriptionKind, string> = {
  "my-regressions": "my regressions",
  "new-regressions": "new regressions of nobody",
  series: "series",
  case: "regressions of the case",
  host: "host",
  week: "weekly reports",
};

/** What it is of. */
export function subject(of: Pick<Subscription, "kind" | "subject">): string {
  return of.subject === "" ? OF[of.kind] : `${OF[of.kind]} ${of.subject}`;
}

/** By which way and how often. */
export function how(of: Subscription): string {
  const period = of.way === "mail" ? "a digest a day" : "a digest in 15 minutes";
  return `${of.way}, ${of.at_once ? "at once" : period}`;
}
