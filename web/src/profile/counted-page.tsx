/** Exact counts of a case that was counted and not profiled: the page without samples. */

import { useQuery } from "@tanstack/react-query";
import { Failure, Loading } from "../ui/answers";
import { CountedBadge, EmulatedBadge, EmulatedNotice } from "../ui/emulated";
import { Crumbs, Head, useTitle } from "../ui/page";
import { ExactOfCase } from "./exact-tab";
import { exactQuery } from "./query";
import { trail } from "./trail";
import { useView } from "./use-view";

interface CountedPageProps {
  asked: string;
  /** Why there are no profiles: said where there are no counts either. */
  error: Error;
  retry: () => void;
}

export function CountedPage({ asked, error, retry }: CountedPageProps) {
  const { state, text, change, address } = useView();
  const counts = useQuery(exactQuery(asked, ""));
  const table = counts.data;
  useTitle(table ? `${table.title}: exact counts` : "Profiles");
  if (counts.isPending) return <Loading />;
  if (table === undefined || (table.why_none !== "" && state.tab !== "exact"))
    return <Failure error={error} retry={retry} />;
  const place = new URLSearchParams(asked);
  return (
    <>
      <Crumbs
        trail={trail({
          title: table.title,
          host: table.host,
          experiment: place.get("experiment"),
          case: place.get("case"),
        })}
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
        address={address}
        instructions={() => null}
      />
    </>
  );
}
