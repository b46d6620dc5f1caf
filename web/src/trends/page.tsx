/** Trends, the newest change first: of all hosts, or of one class. */

import { naturally } from "../format/natural";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { trendClassesQuery, trendsQuery } from "../api/queries";
import type { TrendClass, TrendSummary } from "../api/types";
import { counted, fixed, quantity } from "../format/quantity";
import { day } from "../format/time";
import { Answer, Loaded } from "../ui/answers";
import { Empty, NextCommands } from "../ui/empty";
import { CountedMark, EmulatedMark, MarkedOnce } from "../ui/emulated";
import { More } from "../ui/more";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { useAddress } from "../ui/use-address";
import { useSearch } from "../ui/use-search";
import { Sparkline } from "./sparkline";
import "./trends.css";
import { About, ChangeTags, ClassLink, classPath, Effect } from "./words";

/** More of them take more room than the list. */
const MOST_LINKS = 8;
const ALL = "/regressions?tab=trends";

/** Of the class that the address names, else of all. */
export function TrendsPage() {
  const [search] = useAddress();
  const [environment, hostClass] = [search.get("environment"), search.get("class")];
  useTitle(hostClass === null ? "Trends" : `${hostClass}, trends`);
  const classes = useQuery(trendClassesQuery());
  const one = classes.data?.find(
    (each) => each.environment === environment && each.host_class === hostClass,
  );
  return (
    <>
      <Head
        title={hostClass ?? "Trends"}
        tabs={<PlaceTabs of="regressions" here="trends" />}
        lede={hostClass === null ? OF_ALL : one && ofClass(one)}
      />
      <Loaded query={classes} part>
        {(known) =>
          known.length === 0 ? (
            <NoneYet />
          ) : hostClass !== null && one === undefined ? (
            <NoSuchClass hostClass={hostClass} />
          ) : (
            <Trends classes={known} one={one} />
          )
        }
      </Loaded>
    </>
  );
}

const OF_ALL = "One value a run: the mean of an arm's boots. The newest change comes first.";

function ofClass({ environment, hosts }: TrendClass) {
  return (
    <>
      environment {environment}; {hosts.join(", ")}. <Link to={ALL}>All trends</Link>
    </>
  );
}

function NoSuchClass({ hostClass }: { hostClass: string }) {
  return (
    <Answer title="Not found" part>
      <p>There is no host class {hostClass} with trends.</p>
      <p>
        <Link to={ALL}>All trends</Link>
      </p>
    </Answer>
  );
}

function NoneYet() {
  return (
    <Answer title="No trend yet" part>
      <p>
        A trend begins with the first run that ends: one value for each host class, case, metric and
        mode. A worker takes in what ends.
      </p>
      <NextCommands
        next={[
          ["mitigauge demo --recorded", "loads a recorded experiment"],
          ["mitigauge trends update", "takes in runs that ended before"],
        ]}
      />
    </Answer>
  );
}

interface TrendsProps {
  classes: TrendClass[];
  one: TrendClass | undefined;
}

function Trends({ classes, one }: TrendsProps) {
  const [search, changeTo] = useAddress();
  const change = (name: string, value: string) => {
    changeTo(name, value || null);
  };
  const [typed, type] = useSearch(search.get("find") ?? "", (text) => {
    change("find", text);
  });
  const changed = search.get("changed") === "1";
  const workload = search.get("workload") ?? "";
  const query = useInfiniteQuery(
    trendsQuery({
      ...(one && { environment: one.environment, host_class: one.host_class }),
      ...(workload !== "" && { workload }),
      ...(search.get("find") && { find: search.get("find") ?? "" }),
      ...(changed && { changed }),
    }),
  );
  const workloads = naturally(new Set((one ? [one] : classes).flatMap((c) => c.workloads)));
  return (
    <>
      {!one && classes.length <= MOST_LINKS && <Classes classes={classes} />}
      <div className="filters" role="search" aria-label="Trends">
        <label className="small picked">
          Find{" "}
          <input
            className="field"
            type="search"
            value={typed}
            placeholder="case, metric or mode"
            onChange={(event) => {
              type(event.target.value);
            }}
          />
        </label>
        {!one && classes.length > MOST_LINKS && <ClassChoice classes={classes} />}
        <label className="small picked">
          Workload{" "}
          <select
            className="field"
            value={workload}
            onChange={(event) => {
              change("workload", event.target.value);
            }}
          >
            <option value="">all</option>
            {workloads.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <div className="segments" role="group" aria-label="Which trends">
          {[false, true].map((only) => (
            <button
              key={String(only)}
              type="button"
              aria-pressed={changed === only}
              onClick={() => {
                change("changed", only ? "1" : "");
              }}
            >
              {only ? "Changed" : "All"}
            </button>
          ))}
        </div>
        <span className="soft small shown" role="status">
          {query.data && counted(query.data.pages[0]?.total ?? 0, "trend")}
        </span>
      </div>
      <Loaded query={query} part>
        {({ pages }) => (
          <List
            trends={pages.flatMap((page) => page.trends)}
            more={query.hasNextPage ? () => void query.fetchNextPage() : null}
            busy={query.isFetchingNextPage}
          />
        )}
      </Loaded>
    </>
  );
}

function Classes({ classes }: { classes: TrendClass[] }) {
  return (
    <ul className="classes" aria-label="Host classes">
      {classes.map((each) => (
        <li key={classPath(each)}>
          <ClassLink {...each} />{" "}
          <span className="faint small">
            {each.environment}; {counted(each.trends, "trend")}, {fixed(each.changed, 0)} changed
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Where they are too many for links. */
function ClassChoice({ classes }: { classes: TrendClass[] }) {
  const [, go] = useLocation();
  return (
    <label className="small picked">
      Host class{" "}
      <select
        className="field"
        value=""
        onChange={(event) => {
          if (event.target.value !== "") go(event.target.value);
        }}
      >
        <option value="">all {classes.length}</option>
        {classes.map((each) => (
          <option key={classPath(each)} value={classPath(each)}>
            {each.host_class}, {each.environment} ({each.trends})
          </option>
        ))}
      </select>
    </label>
  );
}

interface ListProps {
  trends: TrendSummary[];
  more: (() => void) | null;
  busy: boolean;
}

function List({ trends, more, busy }: ListProps) {
  return (
    <div className="panel">
      {trends.length === 0 ? (
        <Empty>No trend is like that.</Empty>
      ) : (
        <MarkedOnce of={trends}>
          <table className="list stack trends">
            <thead>
              <tr>
                <th scope="col">Case</th>
                <th scope="col">Host class</th>
                <th scope="col">Newest change</th>
                <th scope="col">Since</th>
                <th scope="col">Level</th>
                <th scope="col">Values</th>
              </tr>
            </thead>
            <tbody>
              {trends.map((trend) => (
                <Row key={trend.id} trend={trend} />
              ))}
            </tbody>
          </table>
        </MarkedOnce>
      )}
      <More more={more} busy={busy}>
        More trends
      </More>
    </div>
  );
}

function Row({ trend }: { trend: TrendSummary }) {
  const { change } = trend;
  return (
    <tr>
      <th scope="row">
        <Link to={`/trends/${trend.id}`}>
          <strong>{trend.case}</strong>
        </Link>
        <About trend={trend} />
      </th>
      <td data-label="Host class">
        <div>
          <ClassLink {...trend} />
          <div className="buttons">
            {trend.emulated && <EmulatedMark />}
            {trend.clock === "counted" && <CountedMark />}
          </div>
        </div>
      </td>
      <td data-label="Change">
        {!change ? (
          <span className="faint">none</span>
        ) : (
          <div>
            <Effect change={change} />
            <ChangeTags change={change} />
          </div>
        )}
      </td>
      <td data-label="Since">{change && <span className="nowrap">{day(change.at)}</span>}</td>
      <td data-label="Level" className="nowrap">
        {trend.level !== null && quantity(trend.level, trend.unit)}
      </td>
      <td data-label="Values">
        <div>
          <Sparkline values={trend.sparkline} />
          <span className="faint small"> {trend.values}</span>
        </div>
      </td>
    </tr>
  );
}
