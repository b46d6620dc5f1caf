/** Shows the pages to those whom the service lets in, and to others how to get in. */

import { useQuery } from "@tanstack/react-query";
import { useEffect, useEffectEvent, type ReactNode } from "react";
import { ApiError } from "../api/client";
import { Failure, Loading } from "../ui/answers";
import { LogInPage } from "./page";
import { sessionQuery } from "./session";
import { useLogIn } from "./use-log-in";

function isUnknown(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 401;
}

interface GateProps {
  /** Of the link by which this page was opened. */
  linkKey: string | null;
  /** Whether somebody who may read without it wants to log in. */
  asking: boolean;
  onDone: () => void;
  children: ReactNode;
}

/** The address stays as it is, so that one comes to the page that one wanted. */
export function Gate({ linkKey, asking, onDone, children }: GateProps) {
  const entering = useLogIn(onDone);
  const enter = useEffectEvent(() => {
    if (linkKey !== null) entering.mutate({ key: linkKey });
  });
  useEffect(() => {
    enter();
  }, []);
  const opened = linkKey === null || entering.isSuccess || entering.isError;
  const session = useQuery({ ...sessionQuery(), enabled: opened });

  if (!opened) return <Loading />;
  const logIn = <LogInPage why={entering.error} onDone={onDone} />;
  if (asking) return logIn;
  if (isUnknown(session.error)) return logIn;
  if (session.data !== undefined) return <>{children}</>;
  if (session.error !== null)
    return <Failure error={session.error} retry={() => void session.refetch()} />;
  return <Loading />;
}
