/** A case's functions over all arms: self or total cost, each against the baseline. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useLocation, useSearchParams } from "wouter";
import { functionsQuery } from "../api/queries";
import type { Functions } from "../api/types";
import { counted, fixed } from "../format/quantity";
import { profilePath } from "../experiment/paths";
import { Choice } from "../profile/choice";
import { ARMS_TAB } from "../profile/state";
import { ProfileTabs } from "../profile/tabs";
import { Loaded, NotFound } from "../ui/answers";
import { CountedBadge, EmulatedBadge, EmulatedNotice } from "../ui/emulated";
import { Empty } from "../ui/empty";
import { Crumbs, Head, useTitle } from "../ui/page";
import { useSearch } from "../ui/use-search";
import {
  asked,
  pairOf,
  ROWS_A_PAGE,
  type Asked,
  type Basis,
  type Change,
  type Measure,
  type Where,
} from "./address";
import "./functions.css";
import { scaleOf, Table } from "./table";

export function FunctionsPage() {
  const [address] = useSearchParams();
  const view = asked(address);
  if (view === null) {
    return <NotFound what="The address names no case on a host: come here from a case's page." />;
  }
  return <Asking view={view} />;
}

function Asking({ view }: { view: Asked }) {
  const query = useQuery({ ...functionsQuery(view), placeholderData: keepPreviousData });
  useTitle(query.data ? `Functions, ${query.data.case}` : "");
  return <Loaded query={query}>{(functions) => <Body view={view} functions={functions} />}</Loaded>;
}

interface BodyProps {
  view: Asked;
  functions: Functions;
}

function Body({ view, functions }: BodyProps) {
  const [, navigate] = useLocation();
  const change: Change = (changes, replace = false) => {
    const next = new URLSearchParams(window.location.search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === "") next.delete(name);
      else next.set(name, value);
    }
    // Another order or choice begins at its first page.
    if (!("page" in changes)) next.delete("page");
    navigate(`?${next.toString()}`, { replace });
  };
  const [address] = useSearchParams();
  const pair = pairOf(address, functions.arms);
  const row = { case_id: functions.case_id, host: functions.host };
  const there = new URLSearchParams({ host: functions.host }).toString();
  return (
    <>
      <Crumbs
        trail={[
          { text: "Experiments", to: "/experiments" },
          { text: functions.experiment, to: `/experiments/${functions.experiment_id}` },
          {
            text: functions.case,
            to: `/experiments/${functions.experiment_id}/cases/${functions.case_id}?${there}`,
          },
        ]}
      />
      <Head
        title="Functions over arms"
        lede={`${functions.case} on ${functions.host}: what each function costs in every arm, and how it differs from the baseline.`}
        tags={
          <>
            {functions.emulated && <EmulatedBadge />}
            {functions.counted && <CountedBadge />}
          </>
        }
      />
      {functions.emulated && <EmulatedNotice counted={functions.counted} />}
      {pair !== null && (
        <div className="profile-tabs">
          <ProfileTabs
            here={ARMS_TAB}
            address={(tab) => {
              if (tab === ARMS_TAB) return `?${address.toString()}`;
              const path = profilePath(functions.experiment_id, row, ...pair);
              return tab === "graph" ? path : `${path}&tab=${tab}`;
            }}
          />
        </div>
      )}
      {functions.event === "" ? <NoProfiles /> : <Panel {...{ view, functions, change }} />}
    </>
  );
}

function NoProfiles() {
  return (
    <section className="panel" aria-label="Functions">
      <Empty
        next={[
          ["profile: true", "for a workload in the spec adds a profiled pass to each boot"],
          ["mitigauge worker", "boots, measures and then profiles what is planned"],
        ]}
      >
        No boot of this case has a profile yet.
      </Empty>
    </section>
  );
}

const BASES: Record<Basis, [string, string]> = {
  operation: ["per operation", "Cost of one operation: what is added shows as added"],
  share: ["share", "Percent of everything: what is added makes the rest look cheaper"],
  raw: ["raw", "As it was sampled"],
};

function Panel({ view, functions, change }: BodyProps & { change: Change }) {
  const [text, type] = useSearch(view.search, (typed) => {
    change({ search: typed }, true);
  });
  const bases = functions.bases.filter((basis): basis is Basis => basis in BASES);
  const baseline = functions.arms.find((arm) => arm.is_baseline);
  return (
    <section className="panel" aria-labelledby="functions">
      <header>
        <h2 id="functions">
          Functions <span className="soft">{scaleOf(functions).label}</span>
        </h2>
        <div className="controls">
          {functions.systems.length > 1 && (
            <Choice<Where>
              label="System"
              options={[
                ["host", "host", "Profiles of the host"],
                ["guest", "guest", "Profiles that the guest recorded"],
              ]}
              value={view.where}
              choose={(where) => {
                change({ where: where === "host" ? "" : where });
              }}
            />
          )}
          {bases.length > 1 && (
            <Choice<Basis>
              label="Basis"
              options={bases.map((basis) => [basis, ...BASES[basis]])}
              value={functions.basis as Basis}
              choose={(basis) => {
                change({ basis: basis === bases[0] ? "" : basis });
              }}
            />
          )}
          <Choice<Measure>
            label="Cost of"
            options={[
              ["self", "self", "What the function costs by itself"],
              ["total", "total", "With all that it calls; recursion counted once"],
            ]}
            value={view.measure}
            choose={(of) => {
              change({ of: of === "self" ? "" : of });
            }}
          />
          <input
            className="field"
            type="search"
            placeholder="Filter functions"
            aria-label="Filter functions"
            maxLength={200}
            value={text}
            onChange={(event) => {
              type(event.target.value);
            }}
          />
        </div>
      </header>
      {baseline?.profiles === 0 ? (
        <p className="inside soft">
          The baseline {baseline.arm} has no profile: there is nothing to compare with.
        </p>
      ) : functions.functions.length === 0 ? (
        <p className="inside soft">
          No function&apos;s name matches the search. Clear it to see them all.
        </p>
      ) : (
        <Table {...{ view, functions, change }} />
      )}
      <Pages {...{ view, functions, change }} />
      <p className="inside faint small">
        {functions.event};{" "}
        {functions.arms.map((a) => `${a.arm}: ${counted(a.profiles, "profile")}`).join(", ")}.
        Intervals are 95 %, over boots; q is over the functions of all arms together, grey where
        above 5 %. Bars share one scale.
      </p>
    </section>
  );
}

function Pages({ view, functions, change }: BodyProps & { change: Change }) {
  const pages = Math.max(1, Math.ceil(functions.found / ROWS_A_PAGE));
  const shown = functions.functions.length;
  if (functions.found === 0) return null;
  const button = (to: number, text: string) => (
    <button
      type="button"
      className="button"
      disabled={to < 1 || to > pages}
      onClick={() => {
        change({ page: to === 1 ? "" : String(to) });
      }}
    >
      {text}
    </button>
  );
  return (
    <nav className="pages inside small" aria-label="Pages of functions">
      <span role="status">
        {shown === 0
          ? "0"
          : `${fixed(functions.offset + 1, 0)}–${fixed(functions.offset + shown, 0)}`}{" "}
        of {counted(functions.found, "function")}
      </span>
      <div className="buttons">
        {button(view.page - 1, "Previous")}
        {button(view.page + 1, "Next")}
      </div>
    </nav>
  );
}
