/** What whoever looks at the page may do. */

import { useQuery } from "@tanstack/react-query";
import { sessionQuery } from "../login/session";

export type Right =
  | "submit"
  | "cancel own"
  | "cancel any"
  | "resume a host"
  | "reserve a host"
  | "set a host aside or break a reservation"
  | "approve a series"
  | "triage regressions and trends"
  | "subscribe"
  | "see and end everybody's subscriptions";

export interface Rights {
  /** Empty: the service knows no name. */
  subject: string;
  may: (right: Right) => boolean;
  mayCancel: (owner: string) => boolean;
}

/** Of the session that the frame has asked for. */
export function useRights(): Rights {
  const { data: session } = useQuery({ ...sessionQuery(), enabled: false });
  const subject = session?.subject ?? "";
  const may = (right: Right) => session?.rights.includes(right) ?? false;
  return {
    subject,
    may,
    mayCancel: (owner) =>
      may("cancel any") || (subject !== "" && owner === subject && may("cancel own")),
  };
}
