/** Asks the service for the difference of two profiles. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { ApiError, data } from "../api/client";
import type { ExactTable, Instructions } from "../api/types";
import { decode, PayloadError, type Profile } from "./decode";

async function bytes(path: string, signal: AbortSignal) {
  const response = await fetch(path, { signal });
  if (response.ok) return { data: await response.arrayBuffer(), response };
  const error: unknown = await response.json().catch(() => null);
  return { error, response };
}

async function profileOf(path: string, signal: AbortSignal): Promise<Profile> {
  const buffer = await data(bytes(path, signal));
  try {
    return decode(buffer);
  } catch (error) {
    if (!(error instanceof PayloadError)) throw error;
    throw new ApiError(
      200,
      `What the service sent is not a difference of profiles. ${error.message}`,
      "Reload the page: it may be older than the service.",
    );
  }
}

/** A profile does not change; while another basis is on its way, the last one stays. */
export const profileDiffQuery = (query: string) =>
  queryOptions({
    queryKey: ["profile diff", query],
    queryFn: ({ signal }) => profileOf(`/api/profiles/diff?${query}`, signal),
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });

async function json(path: string, signal: AbortSignal) {
  const response = await fetch(path, { signal });
  const body: unknown = await response.json().catch(() => null);
  return response.ok ? { data: body, response } : { error: body, response };
}

/** The instructions of a function; of none, the functions that have some. */
export const instructionsQuery = (asked: string, fn: string) =>
  queryOptions({
    queryKey: ["instructions", asked, fn],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams(asked);
      query.set("function", fn);
      return data(
        json(`/api/profiles/instructions?${query.toString()}`, signal),
      ) as Promise<Instructions>;
    },
    staleTime: Infinity,
  });

const OF_CASES = ["experiment", "case", "host", "a", "b", "b_experiment", "b_case", "b_host"];

function ofCases(asked: string, more: readonly string[] = []): URLSearchParams {
  const taken = [...OF_CASES, ...more];
  return new URLSearchParams(
    [...new URLSearchParams(asked)].filter(([name]) => taken.includes(name)),
  );
}

/** Exact counts of both arms, with the instructions of a function; meanwhile the last ones stay. */
export const exactQuery = (asked: string, fn: string) => {
  const query = ofCases(asked);
  query.set("function", fn);
  const of = query.toString();
  return queryOptions({
    queryKey: ["exact", of],
    queryFn: ({ signal }) => data(json(`/api/profiles/exact?${of}`, signal)) as Promise<ExactTable>,
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
};
