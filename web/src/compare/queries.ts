/** Asks the service for two experiments beside each other, some hundred rows at a time. */

import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { api, data } from "../api/client";
import type { Asked } from "./address";

const ROWS_A_TIME = 300;

export const pairQuery = (asked: Asked & { a: number; b: number }) =>
  infiniteQueryOptions({
    queryKey: ["pair", asked],
    queryFn: ({ signal, pageParam }) =>
      data(
        api.GET("/api/pairs", {
          params: { query: { ...asked, offset: pageParam, limit: ROWS_A_TIME } },
          signal,
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next_offset,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
