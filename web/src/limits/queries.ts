/** What the limits of its spec said of an experiment. */

import { queryOptions } from "@tanstack/react-query";
import { api, data } from "../api/client";

export const experimentLimitsQuery = (id: number) =>
  queryOptions({
    queryKey: ["limits", id],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/experiments/{experiment_id}/limits", {
          params: { path: { experiment_id: id } },
          signal,
        }),
      ),
  });
