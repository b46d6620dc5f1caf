/** What the pages ask for, and how long an answer stays fresh. */

import {
  infiniteQueryOptions,
  keepPreviousData,
  QueryCache,
  QueryClient,
  queryOptions,
} from "@tanstack/react-query";
import type { Asked as ExperimentsAsked } from "../experiments/filter";
import { ROWS_A_PAGE, type Asked as FunctionsAsked } from "../functions/address";
import type { ProposalAsked } from "../bisect/request";
import { sessionKey } from "../login/session";
import { ApiError, api, data } from "./client";
import type {
  BisectionState,
  ExperimentState,
  HostState,
  JobState,
  RevisionState,
  StudyState,
} from "./types";
import type { TableQuery } from "../tables/paths";
import type { Narrowed } from "../ui/list-filter";

/** Whether more is to come from the experiment. */
export function isLive(state: ExperimentState): boolean {
  return state === "queued" || state === "running";
}

const RETRY_EVERY_MS = 5_000;

/** A service that is down or not ready is asked again until it answers. */
function retryWhileAway(error: Error | null): number | false {
  const away = error instanceof ApiError && (error.status === 0 || error.status === 503);
  return away ? RETRY_EVERY_MS : false;
}

export function makeQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        // Logged out meanwhile: then the page that says how to get in takes over.
        const unknown = error instanceof ApiError && error.status === 401;
        if (unknown && query.queryKey[0] !== sessionKey[0])
          void client.invalidateQueries({ queryKey: sessionKey });
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: false,
        refetchInterval: (query) => retryWhileAway(query.state.error),
      },
    },
  });
  return client;
}

/** A page of the list. */
export const experimentsQuery = (asked: ExperimentsAsked) =>
  queryOptions({
    queryKey: ["experiments", asked],
    queryFn: ({ signal }) =>
      data(api.GET("/api/experiments", { params: { query: asked }, signal })),
    refetchInterval: (query) =>
      retryWhileAway(query.state.error) ||
      (query.state.data?.experiments.some((e) => isLive(e.state)) ? 5_000 : 30_000),
  });

/** What the list can be filtered by. */
export const choicesQuery = () =>
  queryOptions({
    queryKey: ["experiment choices"],
    queryFn: ({ signal }) => data(api.GET("/api/experiments/choices", { signal })),
    staleTime: 60_000,
  });

/** What has each of some words; only spaces ask for nothing. */
export const findQuery = (q: string, limit: number) =>
  queryOptions({
    queryKey: ["find", q, limit],
    queryFn: ({ signal }) =>
      data(api.GET("/api/search", { params: { query: { q, limit } }, signal })),
    enabled: q.trim() !== "",
    staleTime: 10_000,
  });

export const experimentQuery = (id: number) =>
  queryOptions({
    queryKey: ["experiment", id],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/experiments/{experiment_id}", {
          params: { path: { experiment_id: id } },
          signal,
        }),
      ),
  });

/** Under the experiment's key, so that what makes that stale makes its matrices stale too. */
export const matricesQuery = (id: number) =>
  queryOptions({
    queryKey: ["experiment", id, "matrix"],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/experiments/{experiment_id}/matrix", {
          params: { path: { experiment_id: id } },
          signal,
        }),
      ),
  });

export const progressKey = (id: number) => ["progress", id] as const;

export const progressQuery = (id: number) =>
  queryOptions({
    queryKey: progressKey(id),
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/experiments/{experiment_id}/progress", {
          params: { path: { experiment_id: id } },
          signal,
        }),
      ),
  });

/** Log lines after an event's id, oldest first. */
export const fetchLog = (id: number, after: number, limit: number) =>
  data(
    api.GET("/api/experiments/{experiment_id}/log", {
      params: { path: { experiment_id: id }, query: { after, limit } },
    }),
  );

export const fetchReport = (id: number, format: "text" | "markdown") =>
  data(
    api.GET("/api/experiments/{experiment_id}/report", {
      params: { path: { experiment_id: id }, query: { format } },
      parseAs: "text",
    }),
  );

/** Under the experiment's key, so that what makes that stale makes this stale too. */
export const tableQuery = (id: number, kind: string, asked: TableQuery) =>
  queryOptions({
    queryKey: ["experiment", id, "table", kind, asked],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/experiments/{experiment_id}/tables/{kind}", {
          params: { path: { experiment_id: id, kind }, query: parametersOf(asked) },
          signal,
        }),
      ),
  });

export const fetchTable = (id: number, kind: string, asked: TableQuery, suffix: "txt" | "md") =>
  data(
    api.GET("/api/experiments/{experiment_id}/tables/{kind}.{suffix}", {
      params: { path: { experiment_id: id, kind, suffix }, query: parametersOf(asked) },
      parseAs: "text",
    }),
  );

function parametersOf({ case: caseId, other, ...words }: TableQuery) {
  return {
    ...words,
    ...(caseId !== undefined && { case: Number(caseId) }),
    ...(other !== undefined && { other: Number(other) }),
  };
}

/** Without a host it is the first one that has the case. */
export const caseQuery = (id: number, caseId: number, host: string | null) =>
  queryOptions({
    queryKey: ["case", id, caseId, host],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/experiments/{experiment_id}/cases/{case_id}", {
          params: { path: { experiment_id: id, case_id: caseId }, query: { host } },
          signal,
        }),
      ),
  });

/** What was read of the host once a second beside a case. */
export const collectedQuery = (id: number, caseId: number, host: string) =>
  queryOptions({
    queryKey: ["collected", id, caseId, host],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/experiments/{experiment_id}/cases/{case_id}/collected", {
          params: { path: { experiment_id: id, case_id: caseId }, query: { host } },
          signal,
        }),
      ),
  });

/** What a case tells besides its metrics; under the case's key, so that both get stale together. */
export const detailsQuery = (id: number, caseId: number, host: string) =>
  queryOptions({
    queryKey: ["case", id, caseId, host, "details"],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/experiments/{experiment_id}/cases/{case_id}/details", {
          params: { path: { experiment_id: id, case_id: caseId }, query: { host } },
          signal,
        }),
      ),
  });

export const caseProfilesQuery = (id: number, caseId: number, host: string) =>
  queryOptions({
    queryKey: ["case profiles", id, caseId, host],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/profiles/case", {
          params: { query: { experiment: id, case: caseId, host } },
          signal,
        }),
      ),
  });

/** A page of a case's functions over all arms. */
export const functionsQuery = (of: FunctionsAsked) => {
  const query = {
    ...{ experiment: of.experiment, case: of.case, host: of.host, where: of.where },
    ...{ basis: of.basis, measure: of.measure, sort: of.sort, arm: of.arm, search: of.search },
    ...{ upwards: of.upwards, offset: (of.page - 1) * ROWS_A_PAGE, limit: ROWS_A_PAGE },
  };
  return queryOptions({
    queryKey: ["functions over arms", query],
    queryFn: ({ signal }) =>
      data(api.GET("/api/profiles/functions", { params: { query }, signal })),
  });
};

export const profileGroupsQuery = (
  id: number,
  caseId: number,
  where: "host" | "guest" | "off-cpu",
) =>
  queryOptions({
    queryKey: ["profile groups", id, caseId, where],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/profiles/groups", {
          params: { query: { experiment: id, case: caseId, where } },
          signal,
        }),
      ),
  });

export const claimsQuery = (id: number) =>
  queryOptions({
    queryKey: ["claims", id],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/experiments/{experiment_id}/claims", {
          params: { path: { experiment_id: id } },
          signal,
        }),
      ),
  });

export const publicationsQuery = (id: number) =>
  queryOptions({
    queryKey: ["publications", id],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/experiments/{experiment_id}/publications", {
          params: { path: { experiment_id: id } },
          signal,
        }),
      ),
  });

export const bootQuery = (id: number) =>
  queryOptions({
    queryKey: ["boot", id],
    queryFn: ({ signal }) =>
      data(api.GET("/api/boots/{boot_id}", { params: { path: { boot_id: id } }, signal })),
  });

export const hostsQuery = (asked: Narrowed<HostState> = {}) =>
  queryOptions({
    queryKey: ["hosts", asked],
    queryFn: ({ signal }) => data(api.GET("/api/hosts", { params: { query: asked }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });

export const queueQuery = () =>
  queryOptions({
    queryKey: ["queue"],
    queryFn: ({ signal }) => data(api.GET("/api/queue", { signal })),
    refetchInterval: 30_000,
  });

export const hostQuery = (name: string, environment: string | null) =>
  queryOptions({
    queryKey: ["host", name, environment],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/hosts/{name}", {
          params: { path: { name }, query: environment === null ? {} : { environment } },
          signal,
        }),
      ),
  });

export const seriesListQuery = (asked: Narrowed<RevisionState> = {}) =>
  queryOptions({
    queryKey: ["series", asked],
    queryFn: ({ signal }) => data(api.GET("/api/series", { params: { query: asked }, signal })),
    placeholderData: keepPreviousData,
  });

export const seriesQuery = (name: string) =>
  queryOptions({
    queryKey: ["series", name],
    queryFn: ({ signal }) =>
      data(api.GET("/api/series/{name}", { params: { path: { name } }, signal })),
  });

/** The patch of a revision, from 1, as it is applied; *digest*: another text has another. */
export const patchTextQuery = (name: string, revision: string, position: number, digest: string) =>
  queryOptions({
    queryKey: ["patch text", name, revision, position, digest],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/series/{name}/{revision}/patches/{position}", {
          params: { path: { name, revision, position } },
          parseAs: "text",
          signal,
        }),
      ),
    staleTime: Infinity,
  });

export const lineQuery = (name: string) =>
  queryOptions({
    queryKey: ["series", name, "line"],
    queryFn: ({ signal }) =>
      data(api.GET("/api/series/{name}/line", { params: { path: { name } }, signal })),
  });

/** Whether a study will not change by itself any more. */
export function isOver(state: StudyState): boolean {
  return state === "done" || state === "failed" || state === "cancelled";
}

/** Under the series' key, so that what makes that stale makes this stale too. */
export const studiesQuery = (name: string, revision: string) =>
  queryOptions({
    queryKey: ["series", name, "studies", revision],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/series/{name}/{revision}/studies", {
          params: { path: { name, revision } },
          signal,
        }),
      ),
    refetchInterval: (query) =>
      retryWhileAway(query.state.error) ||
      (query.state.data?.some((each) => !isOver(each.state)) ? 5_000 : false),
  });

/** Whether a bisection may still change. */
const goesOn = (state: BisectionState) => state === "running";

export const bisectionsQuery = (asked: Narrowed<BisectionState> = {}) =>
  queryOptions({
    queryKey: ["bisections", asked],
    queryFn: ({ signal }) => data(api.GET("/api/bisections", { params: { query: asked }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: (query) =>
      retryWhileAway(query.state.error) ||
      (query.state.data?.some((each) => goesOn(each.state)) ? 10_000 : 30_000),
  });

export const bisectionQuery = (id: number) =>
  queryOptions({
    queryKey: ["bisection", id],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/bisections/{bisection_id}", {
          params: { path: { bisection_id: id } },
          signal,
        }),
      ),
    refetchInterval: (query) =>
      retryWhileAway(query.state.error) ||
      (query.state.data !== undefined && goesOn(query.state.data.state) ? 5_000 : false),
  });

const jobGoesOn = (state: JobState) => state === "queued" || state === "running";

export const jobsQuery = (asked: Narrowed<JobState> = {}) =>
  queryOptions({
    queryKey: ["jobs", asked],
    queryFn: ({ signal }) => data(api.GET("/api/jobs", { params: { query: asked }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: (query) =>
      retryWhileAway(query.state.error) ||
      (query.state.data?.some((each) => jobGoesOn(each.state)) ? 5_000 : 30_000),
  });

export const jobQuery = (id: number) =>
  queryOptions({
    queryKey: ["job", id],
    queryFn: ({ signal }) =>
      data(api.GET("/api/jobs/{job_id}", { params: { path: { job_id: id } }, signal })),
    refetchInterval: (query) =>
      retryWhileAway(query.state.error) ||
      (query.state.data !== undefined && jobGoesOn(query.state.data.state) ? 2_000 : false),
  });

export const workersQuery = () =>
  queryOptions({
    queryKey: ["workers"],
    queryFn: ({ signal }) => data(api.GET("/api/workers", { signal })),
    refetchInterval: (query) => retryWhileAway(query.state.error) || 15_000,
  });

/** *model*: only processors with this in what they are called; empty: all. */
export const pricesQuery = (model: string) =>
  queryOptions({
    queryKey: ["prices", model],
    queryFn: ({ signal }) =>
      data(api.GET("/api/prices", { params: { query: model === "" ? {} : { model } }, signal })),
    placeholderData: keepPreviousData,
  });

/** What is undecided of an experiment that is over. */
export const undecidedQuery = (id: number) =>
  queryOptions({
    queryKey: ["undecided", id],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/experiments/{experiment_id}/undecided", {
          params: { path: { experiment_id: id } },
          signal,
        }),
      ),
  });

export const errorRatesQuery = () =>
  queryOptions({
    queryKey: ["error rates"],
    queryFn: ({ signal }) => data(api.GET("/api/error-rates", { signal })),
  });

/** Published tables with what prices predict of them: files, which stand still. */
export const priceTablesQuery = () =>
  queryOptions({
    queryKey: ["price tables"],
    queryFn: ({ signal }) => data(api.GET("/api/prices/tables", { signal })),
    staleTime: Infinity,
  });

export const weeklyListQuery = () =>
  queryOptions({
    queryKey: ["weekly"],
    queryFn: ({ signal }) => data(api.GET("/api/weekly", { signal })),
  });

export const weeklyQuery = (week: string) =>
  queryOptions({
    queryKey: ["weekly", week],
    queryFn: ({ signal }) =>
      data(api.GET("/api/weekly/{week}", { params: { path: { week } }, signal })),
  });

export interface TrendFilter {
  environment?: string;
  host_class?: string;
  workload?: string;
  find?: string;
  changed?: boolean;
}

/** The list a page at a time, the newest change first. */
export const trendsQuery = (filter: TrendFilter) =>
  infiniteQueryOptions({
    queryKey: ["trends", filter],
    queryFn: ({ signal, pageParam: offset }) =>
      data(api.GET("/api/trends", { params: { query: { ...filter, offset } }, signal })),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next,
  });

export const trendQuery = (id: number) =>
  queryOptions({
    queryKey: ["trend", id],
    queryFn: ({ signal }) =>
      data(api.GET("/api/trends/{trend_id}", { params: { path: { trend_id: id } }, signal })),
  });

export const trendClassesQuery = () =>
  queryOptions({
    queryKey: ["trends", "classes"],
    queryFn: ({ signal }) => data(api.GET("/api/trends/classes", { signal })),
  });

/** A bisection that fits a regression or a cell; it starts nothing. */
export const proposalQuery = (asked: ProposalAsked) =>
  queryOptions({
    queryKey: ["bisection proposal", asked],
    queryFn: ({ signal }) =>
      data(api.GET("/api/bisections/proposal", { params: { query: asked }, signal })),
  });

export const kernelsQuery = () =>
  queryOptions({
    queryKey: ["kernels"],
    queryFn: ({ signal }) => data(api.GET("/api/kernels", { signal })),
    refetchInterval: 30_000,
  });

export const mailRequestsQuery = (waiting: boolean) =>
  queryOptions({
    queryKey: ["requests", waiting],
    queryFn: ({ signal }) =>
      data(api.GET("/api/requests", { params: { query: { waiting } }, signal })),
    refetchInterval: 30_000,
  });

export const mailRequestQuery = (id: number) =>
  queryOptions({
    queryKey: ["request", id],
    queryFn: ({ signal }) =>
      data(api.GET("/api/requests/{request_id}", { params: { path: { request_id: id } }, signal })),
  });

/** The patch of a bisection's candidate, from 1. */
export const patchQuery = (bisection: number, position: number) =>
  queryOptions({
    queryKey: ["bisection patch", bisection, position],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/bisections/{bisection_id}/patches/{position}", {
          params: { path: { bisection_id: bisection, position } },
          parseAs: "text",
          signal,
        }),
      ),
    staleTime: Infinity,
  });
