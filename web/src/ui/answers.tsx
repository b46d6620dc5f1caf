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

export function Answer({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="answer">
      <h1>{title}</h1>
      {children}
    </div>
  );
}

export function NotFound({ what }: { what: string }) {
  useTitle("Not found");
  return (
    <Answer title="Not found">
      <p>{what}</p>
      <p>
        Go to the <Link to="/experiments">list of experiments</Link> or the{" "}
        <Link to="/hosts">hosts</Link>.
      </p>
    </Answer>
  );
}

function headline(error: ApiError): string {
  if (error.status === 0) return "The service does not answer";
  if (error.status === 503) return "The service is not ready";
  return "The service could not answer";
}

/** Why there is no page: what the service said, and the way out. */
export function Failure({ error, retry }: { error: Error; retry: () => void }) {
  useTitle("Problem");
  if (!(error instanceof ApiError)) throw error;
  if (error.status === 404) return <NotFound what={`${error.message} ${error.hint}`} />;
  const away = error.status === 0 || error.status === 503;
  return (
    <Answer title={headline(error)}>
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

/** The page of a query's data; while there is none, why. */
export function Loaded<T>({
  query,
  children,
}: {
  query: Query<T>;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) return <Failure error={query.error} retry={() => void query.refetch()} />;
  return <Loading />;
}
