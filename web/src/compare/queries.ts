/** Asks the service for two experiments beside each other, some hundred rows at a time. */

import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { api, data } from "../api/client";
import type { Asked } from "./address";

/** The first ones soon, the others while they are read. */
const FIRST_ROWS = 100;
const ROWS_A_TIME = 500;

export const pairQuery = (asked: Asked & { a: number; b: number }) =>
  infiniteQueryOptions({
    queryKey: ["pair", asked],
    queryFn: ({ signal, pageParam }) =>
      data(
        api.GET("/api/pairs", {
          params: {
            query: {
              ...asked,
              offset: pageParam,
              limit: pageParam === 0 ? FIRST_ROWS : ROWS_A_TIME,
            },
          },
          signal,
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next_offset,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
