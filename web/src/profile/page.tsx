/** The difference of two groups' profiles; what is shown and how is in the address. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import { ApiError } from "../api/client";
import { armsPath } from "../functions/address";
import { Answer, Loaded } from "../ui/answers";
import { NextCommands } from "../ui/empty";
import { CountedBadge, EmulatedBadge, EmulatedNotice } from "../ui/emulated";
import { Crumbs, Head, useTitle } from "../ui/page";
import { CountedPage } from "./counted-page";
import type { Profile } from "./decode";
import { ExactTab } from "./exact-tab";
import { FunctionTable } from "./function-table";
import { GraphTab } from "./graph-tab";
import { Groups } from "./groups";
import { InstructionsTab } from "./instructions-tab";
import { Keys } from "./keys";
import "./profile.css";
import { instructionsQuery, profileDiffQuery } from "./query";
import { SandwichTab } from "./sandwich-tab";
import { SearchField } from "./search-field";
import { Sides } from "./sides";
import { trail } from "./trail";
import { ARMS_TAB, dataQuery } from "./state";
import { type ProfileTab, ProfileTabs } from "./tabs";
import { DataControls } from "./controls";
import { useView } from "./use-view";

export function ProfileDiffPage() {
  const [query] = useSearchParams();
  const asked = dataQuery(query);
  if (asked === "") return <NothingAsked />;
  return <Asked asked={asked} />;
}

function NothingAsked() {
  useTitle("Profiles");
  return (
    <Answer title="No profiles chosen">
      <p>
        This page compares the profiles of two arms, A and B. Open an experiment, choose a case, and
        follow its link to the flame graph. Only cases whose workload says <code>profile:</code> in
        the spec have profiles.
      </p>
      <NextCommands
        next={[
          ["mitigauge demo --recorded", "shows a recorded experiment with profiles, at once"],
          [
            "mitigauge experiment submit experiments/lab-demo.yml",
            "plans one whose first case is profiled",
          ],
          ["mitigauge profile import --help", "says how to bring profiles of your own"],
        ]}
      />
      <p>
        Go to the <Link to="/experiments">list of experiments</Link>.
      </p>
    </Answer>
  );
}

function Asked({ asked }: { asked: string }) {
  const query = useQuery(profileDiffQuery(asked));
  const meta = query.data?.meta;
  useTitle(meta ? `${meta.title}: ${meta.a.label} and ${meta.b.label}` : "Profiles");
  const error = query.error instanceof ApiError ? query.error : null;
  if (error?.status === 404 && new URLSearchParams(asked).has("experiment"))
    return <CountedPage asked={asked} error={error} retry={() => void query.refetch()} />;
  return (
    <Loaded query={query}>
      {(profile) => (
        <div aria-busy={query.isPlaceholderData}>
          <Body profile={profile} />
          {query.isPlaceholderData && (
            <p className="arriving" role="status">
              Folding the profiles anew; until then the last answer stays.
            </p>
          )}
        </div>
      )}
    </Loaded>
  );
}

function Body({ profile }: { profile: Profile }) {
  const { meta } = profile;
  const { query, state, text, type, change, address } = useView();
  const empty = !(meta.a.total > 0) && !(meta.b.total > 0);
  const coded = useQuery(instructionsQuery(dataQuery(query), ""));
  const withCode = useMemo(() => new Set(coded.data?.functions), [coded.data]);
  const instructions = (fn: string) =>
    withCode.has(fn) ? address({ tab: "instructions", fn, lines: null }) : null;
  const tabAddress = (name: ProfileTab) => {
    if (name === ARMS_TAB) return armsPath(query);
    // Nothing was counted where profiles came from elsewhere.
    if (name === "exact" && meta.experiment === null) return null;
    return address({ tab: name === "graph" ? null : name });
  };
  const tab = { profile, state, text, change, address, instructions };
  return (
    <>
      <Crumbs trail={trail(meta)} />
      <Head
        title={meta.title}
        tags={
          <>
            {meta.emulated && <EmulatedBadge />}
            {meta.counted && <CountedBadge />}
          </>
        }
        lede={
          <>
            {meta.where === "off-cpu" ? "waiting" : meta.event}{" "}
            {meta.where === "guest" ? "in the guest on" : "on"}{" "}
            <Link to={`/hosts/${encodeURIComponent(meta.host)}`}>{meta.host}</Link>: what{" "}
            <bdi>{meta.b.label}</bdi> costs beside <bdi>{meta.a.label}</bdi>
          </>
        }
      />
      {meta.emulated && <EmulatedNotice counted={meta.counted} />}
      <section className="panel" aria-labelledby="groups">
        <header>
          <h2 id="groups">Groups</h2>
          <div className="controls">
            <Groups meta={meta} change={change} />
            <DataControls meta={meta} change={change} />
          </div>
        </header>
        <Sides meta={meta} />
      </section>
      {empty ? (
        <p className="panel inside">
          Neither group has a sample of {meta.event}. Look at the boots of this case: their profiles
          say what was recorded.
        </p>
      ) : (
        <>
          <div className="profile-tabs">
            <ProfileTabs here={state.tab} address={tabAddress} />
            <SearchField text={text} type={type} />
            <Keys />
          </div>
          {state.tab === "graph" && <GraphTab {...tab} />}
          {state.tab === "functions" && <FunctionTable {...tab} />}
          {state.tab === "sandwich" && <SandwichTab {...tab} />}
          {state.tab === "instructions" && <InstructionsTab {...tab} asked={dataQuery(query)} />}
          {state.tab === "exact" && <ExactTab {...tab} asked={dataQuery(query)} />}
        </>
      )}
    </>
  );
}
