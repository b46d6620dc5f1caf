/** Exact counts of a case that was counted and not profiled: the page without samples. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useLocation, useSearchParams } from "wouter";
import { Failure, Loading } from "../ui/answers";
import { CountedBadge, EmulatedBadge, EmulatedNotice } from "../ui/emulated";
import { Crumbs, Head, useTitle } from "../ui/page";
import { useSearch } from "../ui/use-search";
import { ExactOfCase } from "./exact-tab";
import { exactQuery } from "./query";
import { changed, viewState, type Changes } from "./state";

interface CountedPageProps {
  asked: string;
  /** Why there are no profiles: said where there are no counts either. */
  error: Error;
  retry: () => void;
}

export function CountedPage({ asked, error, retry }: CountedPageProps) {
  const [query] = useSearchParams();
  const [, navigate] = useLocation();
  const state = useMemo(() => viewState(query), [query]);
  const change = (changes: Changes, replace = true) => {
    const now = new URLSearchParams(window.location.search);
    navigate(`?${changed(now, changes).toString()}`, { replace });
  };
  const [text] = useSearch(state.search, (q) => {
    change({ q, page: null });
  });
  const counts = useQuery(exactQuery(asked, ""));
  const table = counts.data;
  useTitle(table ? `${table.title}: exact counts` : "Profiles");
  if (counts.isPending) return <Loading />;
  if (table === undefined || (table.why_none !== "" && state.tab !== "exact"))
    return <Failure error={error} retry={retry} />;
  const { experiment, case: of } = Object.fromEntries(new URLSearchParams(asked));
  return (
    <>
      <Crumbs
        trail={[
          { text: "Experiments", to: "/experiments" },
          { text: `Experiment ${experiment ?? ""}`, to: `/experiments/${experiment ?? ""}` },
          {
            text: table.title,
            to: `/experiments/${experiment ?? ""}/cases/${of ?? ""}?${new URLSearchParams({ host: table.host }).toString()}`,
          },
        ]}
      />
      <Head
        title={table.title}
        tags={
          <>
            <EmulatedBadge />
            <CountedBadge />
          </>
        }
        lede={
          <>
            exact counts on {table.host}: what <bdi>{table.b.label}</bdi> runs beside{" "}
            <bdi>{table.a.label}</bdi>; this case was not profiled
          </>
        }
      />
      <EmulatedNotice counted />
      <ExactOfCase
        asked={asked}
        state={state}
        text={text}
        change={change}
        address={(changes) => `?${changed(query, changes).toString()}`}
        instructions={() => null}
      />
    </>
  );
}
