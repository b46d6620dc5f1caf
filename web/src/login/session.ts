/** Who the service takes this browser for, and how that begins and ends. */

import { queryOptions } from "@tanstack/react-query";
import { ApiError, api, data } from "../api/client";
import type { Session } from "../api/types";

export const sessionKey = ["session"] as const;

export const sessionQuery = () =>
  queryOptions({
    queryKey: sessionKey,
    queryFn: ({ signal }) => data(api.GET("/api/session", { signal })),
    staleTime: 60_000,
  });

export type Credential = { token: string } | { key: string };

export const logIn = (credential: Credential): Promise<Session> =>
  data(api.POST("/api/session", { body: credential }));

/** Ends the session; one that has ended already is as good. */
export async function logOut(): Promise<void> {
  // Whatever changes something needs a content type that no web form can send.
  const headers = { "Content-Type": "application/json" };
  const { response, error } = await api.DELETE("/api/session", { headers });
  if (response.ok || response.status === 401) return;
  throw new ApiError(response.status, error?.message ?? "Not logged out.", error?.hint ?? "");
}

const LINK_KEY = /^#key=([\w-]{1,200})$/;

/**
 * The key of the link that `mitigauge serve` prints, taken out of the address at once: it
 * is to stay neither there nor in the browser's history.
 */
export function takeLinkKey(): string | null {
  const key = LINK_KEY.exec(window.location.hash)?.[1];
  if (key === undefined) return null;
  const { pathname, search } = window.location;
  window.history.replaceState(null, "", pathname === "/login" ? "/" : pathname + search);
  return key;
}

export const MAY: Record<Session["role"], string> = {
  viewer: "may read",
  runner: "may read and submit, and cancel its own experiments",
  submitter: "may read and submit, and cancel own experiments",
  approver: "may read, submit, and cancel every experiment",
  admin: "may do everything",
};
