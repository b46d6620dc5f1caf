/** What the pages of subscriptions ask for. */

import { queryOptions } from "@tanstack/react-query";
import { api, data } from "../api/client";

export const subscriptionsKey = ["subscriptions"] as const;

export const subscriptionsQuery = (everybody: boolean) =>
  queryOptions({
    queryKey: [...subscriptionsKey, everybody],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/subscriptions", {
          params: { query: everybody ? { everybody } : {} },
          signal,
        }),
      ),
  });

/** The secret of a webhook that was just made: nothing but this page's memory has it. */
export const secretKey = ["subscription secret"] as const;

export interface Secret {
  id: number;
  secret: string;
}
