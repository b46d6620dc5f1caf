/** One trend: its values over time, its changes with what changed then, what people said. */

import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import { Subscribe } from "../act/subscribe";
import { Annotate } from "../act/trend";
import { trendQuery } from "../api/queries";
import type { Trend, TrendChange, TrendPoint } from "../api/types";
import { counted, quantity } from "../format/quantity";
import { clock, day, stamp } from "../format/time";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";
import { CountedBadge, EmulatedBadge, EmulatedNotice } from "../ui/emulated";
import { Crumbs, Head, useTitle } from "../ui/page";
import { Accept } from "./accept";
import { outsideInWords, TrendPicture } from "./picture";
import { isWhole, rangeOf, within } from "./range";
import "./trends.css";
import { ChangeTags, classPath, Effect } from "./words";

const SHOWN_VALUES = 50;
const LAST_DAYS = [30, 90, 365];

export function TrendPage({ id }: { id: number }) {
  const query = useQuery(trendQuery(id));
  return <Loaded query={query}>{(trend) => <One trend={trend} />}</Loaded>;
}

function One({ trend }: { trend: Trend }) {
  useTitle(`${trend.case}, trend`);
  const counts = trend.clock === "counted";
  return (
    <>
      <Crumbs
        trail={[
          { text: "Regressions", to: "/regressions" },
          { text: "Trends", to: "/regressions?tab=trends" },
          { text: trend.host_class, to: classPath(trend) },
        ]}
      />
      <Head
        title={trend.case}
        tags={
          <>
            {trend.emulated && <EmulatedBadge />}
            {counts && <CountedBadge />}
          </>
        }
        lede={
          <>
            {trend.metric_title} ({trend.unit}, {trend.direction} is better),{" "}
            <span className="mono">{trend.mode}</span>
            {trend.line !== "" && `, ${trend.line}`} on {trend.host_class}, environment{" "}
            {trend.environment}
          </>
        }
      >
        <div className="buttons">
          <Subscribe
            offers={[
              {
                kind: "case",
                subject: `${trend.workload}/${trend.case}`,
                trend_id: trend.id,
              },
            ]}
          />
        </div>
      </Head>
      {trend.emulated && <EmulatedNotice counted={counts} />}
      <section className="panel" aria-labelledby="values">
        <header>
          <h2 id="values">Values</h2>
        </header>
        <p className="inside soft small">
          One value a run: the mean of an arm&rsquo;s boots, with its 95 % interval. Lines are
          levels; a shaded place is where a change lies (95 %).
          {trend.left_out > 0 && ` ${counted(trend.left_out, "older value")} left out.`}
        </p>
        <Picture trend={trend} />
        {trend.others.length > 0 && (
          <ul className="inside small cause-list">
            {trend.others.map((other) => (
              <li key={other.id}>
                <Link to={`/trends/${other.id}`}>Trend {other.id}</Link>: {other.why}
              </li>
            ))}
          </ul>
        )}
      </section>
      <Changes trend={trend} />
      <Said trend={trend} />
      <Values trend={trend} />
    </>
  );
}

/** The chart of the time that the address asks for. */
function Picture({ trend }: { trend: Trend }) {
  const [search, setSearch] = useSearchParams();
  const range = rangeOf(search);
  const shown = isWhole(range) ? trend : within(trend, range);
  const everything = search.get("scale") === "all";
  const show = (next: Record<string, string>) => {
    setSearch({
      ...next,
      ...(everything && { scale: "all" }),
    });
  };
  const showEverything = (wanted: boolean) => {
    setSearch((before) => {
      const after = new URLSearchParams(before);
      if (wanted) after.set("scale", "all");
      else after.delete("scale");
      return after;
    });
  };
  const outside = outsideInWords(shown);
  return (
    <div className="inside">
      <p className="buttons small trend-range on-screen">
        {isWhole(range) ? (
          <span className="faint">Draw over a part of the picture to see it larger.</span>
        ) : (
          <>
            <span className="soft">
              {counted(shown.values.length, "value")} from{" "}
              {range.from ? day(range.from) : "the first"} to{" "}
              {range.to ? day(range.to) : "the last"}
            </span>
            <button
              type="button"
              className="button"
              onClick={() => {
                show({});
              }}
            >
              All of it
            </button>
          </>
        )}
        {LAST_DAYS.map((days) => (
          <button
            key={days}
            type="button"
            className="button"
            onClick={() => {
              show({ from: new Date(Date.now() - days * 86_400_000).toISOString() });
            }}
          >
            {days} days
          </button>
        ))}
      </p>
      {outside !== "" && (
        <p className="buttons small trend-beyond">
          <label>
            <input
              type="checkbox"
              checked={everything}
              onChange={(event) => {
                showEverything(event.target.checked);
              }}
            />{" "}
            Scale of all values
          </label>
          {!everything && <span>{outside}</span>}
        </p>
      )}
      {shown.values.length === 0 ? (
        <p className="soft">No value is of that time.</p>
      ) : (
        <TrendPicture
          trend={shown}
          everything={everything}
          zoom={(from, to) => {
            show({ from, to });
          }}
        />
      )}
    </div>
  );
}

function Changes({ trend }: { trend: Trend }) {
  return (
    <section className="panel" aria-labelledby="changes">
      <header>
        <h2 id="changes">Changes</h2>
      </header>
      {trend.no_change !== "" && <Empty>{trend.no_change}</Empty>}
      {trend.changes.toReversed().map((change) => (
        <Change key={change.id} change={change} trend={trend} />
      ))}
      {trend.earlier.length > 0 && (
        <details className="inside">
          <summary>{counted(trend.earlier.length, "earlier version")}</summary>
          <ul className="cause-list small">
            {trend.earlier.map((change) => (
              <li key={`${change.id} ${change.version}`}>
                change {change.id}, version {change.version}: <Effect change={change} full />,{" "}
                {change.state} by {change.said_by}: {change.said}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** Days alone, unless both ends are of one day. */
function placeInTime({ earliest_at: earliest, latest_at: latest }: TrendChange): string {
  if (earliest === latest) return "this one";
  if (day(earliest) !== day(latest)) return `between ${day(earliest)} and ${day(latest)}`;
  return `between ${clock(earliest)} and ${clock(latest)} of ${day(latest)}`;
}

function Change({ change, trend }: { change: TrendChange; trend: Trend }) {
  return (
    <article className="trend-change" aria-label={`Change ${change.id}`}>
      <h3 className="buttons">
        <Effect change={change} full /> <ChangeTags change={change} />
      </h3>
      <p className="soft small">
        First value at the new level: {stamp(change.at)}
        {change.until !== null && `, until ${stamp(change.until)}`} (95 %: {placeInTime(change)}).{" "}
        {quantity(change.before, change.unit)} → {quantity(change.after, change.unit)},{" "}
        {change.values_before} and {change.values_after} values, on {change.hosts.join(", ")}.
      </p>
      {change.reason !== "" && (
        <p className="small">
          Version {change.version}: {change.reason}.
        </p>
      )}
      <div>
        <strong>Changed then:</strong>{" "}
        {change.causes.length === 0 ? (
          "nothing known changed"
        ) : (
          <ul className="cause-list">
            {change.causes.map((cause) => (
              <li key={`${cause.kind} ${cause.what} ${cause.host}`}>
                {cause.kind.replaceAll("_", " ")} <span className="mono">{cause.what}</span>
                {(cause.before !== "" || cause.after !== "") && (
                  <>
                    : <del>{cause.before}</del> → <ins>{cause.after}</ins>
                  </>
                )}
                {cause.host !== "" && <span className="faint"> on {cause.host}</span>}
              </li>
            ))}
          </ul>
        )}
      </div>
      <Links change={change} trend={trend} />
      <Accept change={change} />
    </article>
  );
}

function Links({ change, trend }: { change: TrendChange; trend: Trend }) {
  const at = trend.values.findIndex((value) => value.run_id === change.run_after);
  const [before, after] = [trend.values[at - 1], trend.values[at]];
  const diff = before && after && diffPath(before, after);
  return (
    <p className="buttons small">
      {before && (
        <Link to={`/experiments/${before.experiment_id}/cases/${before.case_id}`}>
          Boots before
        </Link>
      )}
      {after && (
        <Link to={`/experiments/${after.experiment_id}/cases/${after.case_id}`}>Boots after</Link>
      )}
      {diff && <Link to={diff}>Differential flame graph</Link>}
    </p>
  );
}

/** The profiles of both sides; null where one has none. */
function diffPath(before: TrendPoint, after: TrendPoint): string | null {
  if (!before.profiled || !after.profiled) return null;
  const search = new URLSearchParams({
    experiment: String(before.experiment_id),
    case: String(before.case_id),
    host: before.host,
    a: before.arm,
    b: after.arm,
    b_experiment: String(after.experiment_id),
    b_case: String(after.case_id),
    b_host: after.host,
  });
  return `/profiles?${search.toString()}`;
}

function Said({ trend }: { trend: Trend }) {
  return (
    <section className="panel" aria-labelledby="said">
      <header>
        <h2 id="said">What people said</h2>
        <Annotate trendId={trend.id} changes={trend.changes.map((change) => change.id)} />
      </header>
      {trend.annotations.length === 0 ? (
        <Empty next={[[`mitigauge trends annotate ${trend.id} "text"`, "adds something"]]}>
          Nobody has said anything of it.
        </Empty>
      ) : (
        <ul className="inside cause-list">
          {trend.annotations.map((each) => (
            <li key={each.id}>
              {each.text}{" "}
              <span className="faint small">
                {each.said_by}, {day(each.said_at)}
                {each.change_id !== null && `, of change ${each.change_id}`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Values({ trend }: { trend: Trend }) {
  const newest = trend.values.slice(-SHOWN_VALUES).toReversed();
  return (
    <section className="panel" aria-labelledby="table">
      <header>
        <h2 id="table">Newest values</h2>
      </header>
      <table className="list stack">
        <thead>
          <tr>
            <th scope="col">Ended</th>
            <th scope="col">Value</th>
            <th scope="col">95 %</th>
            <th scope="col">Boots</th>
            <th scope="col">Host</th>
            <th scope="col">Kernel</th>
          </tr>
        </thead>
        <tbody>
          {newest.map((value) => (
            <tr key={`${value.run_id} ${value.arm}`}>
              <th scope="row">
                <Link to={`/experiments/${value.experiment_id}/cases/${value.case_id}`}>
                  {stamp(value.at)}
                </Link>
              </th>
              <td data-label="Value">
                <span>
                  {quantity(value.value, trend.unit)}
                  {value.outlier && <span className="faint"> outlier</span>}
                </span>
              </td>
              <td data-label="95 %" className="nowrap">
                {value.low !== null && value.high !== null
                  ? `${quantity(value.low, trend.unit)} … ${quantity(value.high, trend.unit)}`
                  : "one boot"}
              </td>
              <td data-label="Boots">{value.boots}</td>
              <td data-label="Host">{value.host}</td>
              <td data-label="Kernel" className="mono">
                {value.kernel}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
