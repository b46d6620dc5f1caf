/** Limits in force, and what they said of one experiment. */

import { queryOptions } from "@tanstack/react-query";
import { api, data } from "../api/client";
import { AS_YAML } from "../api/yaml";

export const limitsKey = ["limits"] as const;

export const limitFilesQuery = () =>
  queryOptions({
    queryKey: [...limitsKey, "files"],
    queryFn: ({ signal }) => data(api.GET("/api/limits", { signal })),
  });

export const limitFileQuery = (name: string) =>
  queryOptions({
    queryKey: [...limitsKey, "file", name],
    queryFn: ({ signal }) =>
      data(api.GET("/api/limits/{name}", { params: { path: { name } }, signal })),
    // It is being changed: what somebody else sets meanwhile does not replace what is typed.
    refetchInterval: false,
  });

export const experimentLimitsQuery = (id: number) =>
  queryOptions({
    queryKey: [...limitsKey, "of", id],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/experiments/{experiment_id}/limits", {
          params: { path: { experiment_id: id } },
          signal,
        }),
      ),
  });

export const setLimits = (text: string) =>
  data(
    api.PUT("/api/limits/{name}", {
      ...AS_YAML,
      params: { path: { name: nameIn(text) } },
      body: text,
    }),
  );

export const removeLimits = (name: string) =>
  data(api.DELETE("/api/limits/{name}", { params: { path: { name } } }));

export const judgeAnew = (id: number) =>
  data(
    api.POST("/api/experiments/{experiment_id}/limits/anew", {
      params: { path: { experiment_id: id } },
      body: {},
    }),
  );

/** The name that a file gives itself; without one the service says what is missing. */
export function nameIn(text: string): string {
  const found = /^limits:[ \t]*["']?([A-Za-z0-9][A-Za-z0-9._-]{0,62})["']?[ \t]*(?:#.*)?$/m;
  return found.exec(text)?.[1] ?? "limits";
}
