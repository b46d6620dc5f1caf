/** What the page of a new experiment asks for. */

import { queryOptions } from "@tanstack/react-query";
import { api, data } from "../api/client";
import { AS_YAML } from "../api/yaml";
import type { Experiment } from "../api/types";

export const specsQuery = () =>
  queryOptions({
    queryKey: ["specs"],
    queryFn: ({ signal }) => data(api.GET("/api/specs", { signal })),
    staleTime: Infinity,
  });

export const specQuery = (name: string) =>
  queryOptions({
    queryKey: ["specs", name],
    queryFn: ({ signal }) =>
      data(api.GET("/api/specs/{name}", { params: { path: { name } }, signal })),
    staleTime: Infinity,
  });

/** What a spec would plan; nothing is stored. */
export const forecastQuery = (text: string) =>
  queryOptions({
    queryKey: ["forecast", text],
    queryFn: ({ signal }) => data(api.POST("/api/forecasts", { ...AS_YAML, body: text, signal })),
    enabled: text.trim() !== "",
    staleTime: 30_000,
    gcTime: 60_000,
    retry: false,
    // What is wrong with a spec stays wrong.
    refetchInterval: false,
  });

export const submit = (text: string): Promise<Experiment> =>
  data(api.POST("/api/experiments", { ...AS_YAML, body: text }));
