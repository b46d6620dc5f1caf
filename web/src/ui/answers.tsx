/** What stands in for a page while it loads, or when it cannot be shown. */

import type { ReactNode } from "react";
import { Link } from "wouter";
import { ApiError } from "../api/client";
import { useTitle } from "./page";

/** Shown only when loading takes longer than 200 ms. */
export function Loading() {
  return (
    <div className="skeleton" role="status">
      <div />
      <div />
      <div />
      <span className="visually-hidden">Loading</span>
    </div>
  );
}

/** Below a heading it is a part of the page, and has neither the page's heading nor its title. */
interface Below {
  part?: boolean;
}

interface AnswerProps extends Below {
  title: string;
  children: ReactNode;
}

export function Answer({ title, part = false, children }: AnswerProps) {
  return (
    <div className="answer">
      {part ? <h2>{title}</h2> : <h1>{title}</h1>}
      {children}
    </div>
  );
}

export function NotFound({ what, part = false }: Below & { what: string }) {
  useTitle(part ? null : "Not found", { instead: true });
  return (
    <Answer title="Not found" part={part}>
      <p>{what}</p>
      <p>
        Go to the <Link to="/experiments">list of experiments</Link> or the{" "}
        <Link to="/fleet">hosts</Link>.
      </p>
    </Answer>
  );
}

function headline(error: ApiError): string {
  if (error.status === 0) return "The service does not answer";
  if (error.status === 503) return "The service is not ready";
  return "The service could not answer";
}

interface FailureProps extends Below {
  error: Error;
  retry: () => void;
}

/** Why there is no page: what the service said, and the way out. */
export function Failure({ error, retry, part = false }: FailureProps) {
  useTitle(part ? null : "Problem", { instead: true });
  if (!(error instanceof ApiError)) throw error;
  if (error.status === 404) return <NotFound what={`${error.message} ${error.hint}`} part={part} />;
  const away = error.status === 0 || error.status === 503;
  return (
    <Answer title={headline(error)} part={part}>
      <div role="alert">
        {error.status !== 0 && <p>{error.message}</p>}
        {error.hint !== "" && <p>{error.hint}</p>}
      </div>
      <p className="buttons">
        <button type="button" className="button" onClick={retry}>
          Try again
        </button>
        {away && <span className="faint">Asked again every 5 s by itself.</span>}
      </p>
    </Answer>
  );
}

interface Query<T> {
  data: T | undefined;
  error: Error | null;
  refetch: () => unknown;
}

interface LoadedProps<T> extends Below {
  query: Query<T>;
  children: (data: T) => ReactNode;
}

/** The page of a query's data; while there is none, why. */
export function Loaded<T>({ query, part = false, children }: LoadedProps<T>) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error)
    return <Failure error={query.error} retry={() => void query.refetch()} part={part} />;
  return <Loading />;
}
