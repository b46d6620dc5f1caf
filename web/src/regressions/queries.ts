/** What the pages of regressions ask for. */

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, data } from "../api/client";
import type { RegressionState } from "../api/types";

export interface RegressionsAsked {
  state?: RegressionState[];
  owner?: string;
  workload?: string;
  find?: string;
}

export const regressionsKey = ["regressions"] as const;

export const regressionsQuery = (asked: RegressionsAsked) =>
  infiniteQueryOptions({
    queryKey: [...regressionsKey, asked],
    queryFn: ({ signal, pageParam: offset }) =>
      data(api.GET("/api/regressions", { params: { query: { ...asked, offset } }, signal })),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next,
    placeholderData: (before) => before,
  });

export const regressionQuery = (id: number) =>
  queryOptions({
    queryKey: ["regression", id],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/regressions/{regression_id}", {
          params: { path: { regression_id: id } },
          signal,
        }),
      ),
  });
