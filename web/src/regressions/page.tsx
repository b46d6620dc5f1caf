/** Regressions: what became worse, whose it is, and what became of it. */

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Subscribe } from "../act/subscribe";
import type { RegressionState, RegressionSummary } from "../api/types";
import { counted } from "../format/quantity";
import { day } from "../format/time";
import { sessionQuery } from "../login/session";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";
import { More } from "../ui/more";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { useAddress } from "../ui/use-address";
import { useSearch } from "../ui/use-search";
import { REGRESSION_STATE } from "../words";
import { regressionsQuery, type RegressionsAsked } from "./queries";
import "./regressions.css";
import { MarkedOnce } from "../ui/emulated";
import {
  FreshBootsWord,
  OPEN,
  OVER,
  Owner,
  RegressionEffect,
  RegressionLink,
  RegressionTag,
} from "./words";

const EVERY: RegressionState[] = [...OPEN, ...OVER];

function statesOf(text: string | null): RegressionState[] {
  if (text === null || text === "open") return OPEN;
  if (text === "all") return [];
  return EVERY.filter((state) => state === text);
}

function asked(search: URLSearchParams): RegressionsAsked {
  const state = statesOf(search.get("state"));
  const owner = search.get("owner");
  const workload = search.get("workload");
  const find = search.get("find");
  return {
    ...(state.length > 0 && { state }),
    ...(owner !== null && { owner }),
    ...(workload !== null && { workload }),
    ...(find !== null && find.trim() !== "" && { find }),
  };
}

export function RegressionsPage() {
  useTitle("Regressions");
  const [search, change] = useAddress();
  const { data: session } = useQuery({ ...sessionQuery(), enabled: false });
  const query = useInfiniteQuery(regressionsQuery(asked(search)));
  const [typed, type] = useSearch(search.get("find") ?? "", (text) => {
    change("find", text === "" ? null : text);
  });
  const owner = search.get("owner");
  const counts = query.data?.pages[0]?.counts ?? {};
  return (
    <>
      <Head
        title="Regressions"
        tabs={<PlaceTabs of="regressions" here="regressions" />}
        lede="One for each lasting change for the worse of a primary metric, and each cell that a person filed. The open come first, of these the newest."
      >
        <div className="buttons">
          <Subscribe offers={[{ kind: "new-regressions" }, { kind: "my-regressions" }]} />
        </div>
      </Head>
      <div className="filters" role="search" aria-label="Regressions">
        <label className="small picked">
          Find{" "}
          <input
            className="field"
            type="search"
            value={typed}
            maxLength={200}
            placeholder="case, metric, mode, class or bug"
            onChange={(event) => {
              type(event.target.value);
            }}
          />
        </label>
        <label className="small picked">
          State{" "}
          <select
            className="field"
            value={search.get("state") ?? "open"}
            onChange={(event) => {
              change("state", event.target.value === "open" ? null : event.target.value);
            }}
          >
            <option value="open">open</option>
            <option value="all">all</option>
            {EVERY.map((state) => (
              <option key={state} value={state}>
                {REGRESSION_STATE[state].label}
                {counts[state] ? ` (${counts[state]})` : ""}
              </option>
            ))}
          </select>
        </label>
        <div className="segments" role="group" aria-label="Whose">
          {[
            [null, "Everybody’s"],
            ["", "Nobody’s"],
            ...(session && session.subject !== "" ? [[session.subject, "Mine"] as const] : []),
          ].map(([value, label]) => (
            <button
              key={label}
              type="button"
              aria-pressed={owner === value}
              onClick={() => {
                change("owner", value ?? null);
              }}
            >
              {label}
            </button>
          ))}
        </div>
        <span className="soft small shown" role="status">
          {query.data && counted(query.data.pages[0]?.total ?? 0, "regression")}
        </span>
      </div>
      <Loaded query={query} part>
        {({ pages }) => (
          <List
            regressions={pages.flatMap((page) => page.regressions)}
            filtered={search.size > 0}
            more={query.hasNextPage ? () => void query.fetchNextPage() : null}
            busy={query.isFetchingNextPage}
          />
        )}
      </Loaded>
    </>
  );
}

interface ListProps {
  regressions: RegressionSummary[];
  filtered: boolean;
  more: (() => void) | null;
  busy: boolean;
}

function List({ regressions, filtered, more, busy }: ListProps) {
  return (
    <div className="panel">
      {regressions.length === 0 ? (
        <Empty
          next={
            filtered
              ? []
              : [
                  ["mitigauge trends update", "looks for changes in what was measured before"],
                  ["mitigauge regression file", "takes a cell of an experiment for one"],
                ]
          }
        >
          {filtered ? "No regression is like that." : "Nothing is open."}
        </Empty>
      ) : (
        <RegressionTable regressions={regressions} />
      )}
      <More more={more} busy={busy}>
        More regressions
      </More>
    </div>
  );
}

export function RegressionTable({ regressions }: { regressions: RegressionSummary[] }) {
  return (
    <MarkedOnce of={regressions}>
      <table className="list stack regressions">
        <thead>
          <tr>
            <th scope="col">Case</th>
            <th scope="col">Effect</th>
            <th scope="col">State</th>
            <th scope="col">Owner</th>
            <th scope="col">Since</th>
          </tr>
        </thead>
        <tbody>
          {regressions.map((each) => (
            <tr key={each.id}>
              <th scope="row">
                <RegressionLink of={each} />
              </th>
              <td data-label="Effect">
                <RegressionEffect of={each} />
              </td>
              <td data-label="State">
                <span>
                  <RegressionTag state={each.state} />
                  <FreshBootsWord of={each} />
                </span>
              </td>
              <td data-label="Owner">
                <Owner of={each} />
              </td>
              <td data-label="Since" className="nowrap">
                {day(each.happened_at)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </MarkedOnce>
  );
}
