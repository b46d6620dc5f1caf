/** What the first page asks for. */

import { queryOptions } from "@tanstack/react-query";
import { api, data } from "../api/client";

export const homeKey = ["home"] as const;

export const homeQuery = () =>
  queryOptions({
    queryKey: homeKey,
    queryFn: ({ signal }) => data(api.GET("/api/home", { signal })),
    refetchInterval: 15_000,
  });
