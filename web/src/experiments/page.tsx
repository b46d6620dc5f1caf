/** Experiments: those that the address asks for, a page at a time. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { experimentsQuery, isLive } from "../api/queries";
import type { ExperimentPage, ExperimentSummary } from "../api/types";
import { comparePath } from "../compare/address";
import { BOUND, counted, percent } from "../format/quantity";
import { Age } from "../ui/age";
import { Answer, Loaded } from "../ui/answers";
import { NextCommands } from "../ui/empty";
import { CountedMark, EmulatedMark, MarkedOnce } from "../ui/emulated";
import { Head, useTitle } from "../ui/page";
import { RecordedTag } from "../ui/recorded";
import { PlaceTabs } from "../ui/tabs";
import { ExperimentTag } from "../ui/tag";
import { useScrollPlace } from "../ui/use-scroll-place";
import { type Asked, askedBy, changed, type Filter, FILTERS, filtersOf, pageOf } from "./filter";
import { FilterBar } from "./filter-bar";
import "./experiments.css";

const MOST_TICKED = 2;

export function ExperimentsPage() {
  useTitle("Experiments");
  const [search, setSearch] = useSearchParams();
  const asked = askedBy(search);
  // Kept while the list is filtered and turned over: both may stand on other pages.
  const [ticked, setTicked] = useState<ExperimentSummary[]>([]);
  const query = useQuery({ ...experimentsQuery(asked), placeholderData: keepPreviousData });
  useScrollPlace(query.data !== undefined);
  const change = (name: string, value: string) => {
    setSearch((before) => changed(before, name, value), { replace: true });
  };
  const filters = filtersOf(asked);
  const clear = () => {
    setSearch(new URLSearchParams(asked.sort && { sort: asked.sort }), { replace: true });
  };
  return (
    <>
      <Head
        title="Experiments"
        tabs={<PlaceTabs of="experiments" here="experiments" />}
        lede={query.data && lede(query.data, filters.length > 0)}
      >
        <div className="buttons">
          <Link className="button" to="/experiments?tab=new">
            New experiment…
          </Link>
        </div>
      </Head>
      <Loaded query={query} part>
        {(page) =>
          page.total === 0 && filters.length === 0 && !query.isPlaceholderData ? (
            <NoneYet />
          ) : (
            <>
              <FilterBar asked={asked} change={change} clear={filters.length > 0 ? clear : null} />
              {page.experiments.length === 0 ? (
                <NoneLikeThat asked={asked} filters={filters} page={page} change={change} />
              ) : (
                <div className="panel" style={{ marginTop: 0 }} aria-busy={query.isPlaceholderData}>
                  <ExperimentTable
                    experiments={page.experiments}
                    ticked={ticked.map((each) => each.id)}
                    byEffect={{
                      to: `/experiments?${changed(search, "sort", "effect").toString()}`,
                      isSorted: asked.sort === "effect",
                    }}
                    tick={(of) => {
                      setTicked((before) =>
                        before.some((each) => each.id === of.id)
                          ? before.filter((each) => each.id !== of.id)
                          : [...before, of].slice(-MOST_TICKED),
                      );
                    }}
                  />
                  <Pages page={page} search={search} />
                </div>
              )}
              <Ticked
                ticked={ticked}
                clear={() => {
                  setTicked([]);
                }}
              />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function lede(page: ExperimentPage, filtered: boolean): string {
  const live = page.experiments.filter((e) => isLive(e.state)).length;
  const found = counted(page.total, "experiment") + (filtered ? " like that" : "");
  return `${found}${live > 0 ? `, ${live} under way on this page` : ""}`;
}

interface NoneProps {
  asked: Asked;
  filters: Filter[];
  page: ExperimentPage;
  change: (name: string, value: string) => void;
}

/** Which filters to take away, each by a button. */
function NoneLikeThat({ asked, filters, page, change }: NoneProps) {
  if (page.total > 0)
    return (
      <div className="panel" style={{ marginTop: 0 }}>
        <div className="inside empty">
          <p className="soft">There are {counted(page.total, "experiment")}, but no such page.</p>
          <p>
            <button
              type="button"
              className="button"
              onClick={() => {
                change("page", "1");
              }}
            >
              First page
            </button>
          </p>
        </div>
      </div>
    );
  return (
    <div className="panel" style={{ marginTop: 0 }} role="status">
      <div className="inside empty">
        <p className="soft">No experiment is like that. Take one of these away:</p>
        <p className="buttons">
          {filters.map((name) => (
            <button
              key={name}
              type="button"
              className="button"
              onClick={() => {
                change(name, "");
              }}
            >
              {FILTERS[name]} {String(asked[name])}
            </button>
          ))}
        </p>
      </div>
    </div>
  );
}

/** Where in the whole list one is, and the ways to the pages beside it. */
function Pages({ page, search }: { page: ExperimentPage; search: URLSearchParams }) {
  const number = pageOf(search);
  const first = page.offset + 1;
  const last = page.offset + page.experiments.length;
  const to = (other: number) => {
    const text = changed(search, "page", String(other)).toString();
    return `/experiments${text && `?${text}`}`;
  };
  const isSorted = (search.get("sort") ?? "newest") !== "newest";
  const top = () => {
    window.scrollTo(0, 0);
  };
  return (
    <nav className="inside pages" aria-label="Pages">
      {number > 1 && (
        <Link to={to(number - 1)} className="button" onClick={top}>
          {isSorted ? "Previous" : "Newer"}
        </Link>
      )}
      <span className="soft" role="status">
        {first}–{last} of {page.total}
      </span>
      {page.next_offset !== null && (
        <Link to={to(number + 1)} className="button" onClick={top}>
          {isSorted ? "Next" : "Older"}
        </Link>
      )}
    </nav>
  );
}

function NoneYet() {
  return (
    <Answer title="No experiment yet" part>
      <p>An experiment boots hosts into each mode, proves the mode, measures, and compares.</p>
      <NextCommands
        next={[
          ["mitigauge demo --recorded", "shows one that was recorded, at once"],
          [
            "mitigauge experiment submit experiments/lab-demo.yml",
            "plans the same on emulated hosts of this machine",
          ],
          ["mitigauge worker", "carries out what is planned"],
        ]}
      />
      <p className="faint">It shows up here by itself.</p>
    </Answer>
  );
}

/** What is ticked, and the way to see it as one matrix. */
function Ticked({ ticked, clear }: { ticked: ExperimentSummary[]; clear: () => void }) {
  const [a, b] = ticked;
  return (
    <div className="ticked" role="status">
      {a && (
        <>
          <span className="ticked-names">
            {a.name} {a.id}
            {b ? ` and ${b.name} ${b.id}` : ": tick another one, or"}
          </span>
          <Link className="button" to={comparePath(a.id, b?.id)}>
            {b ? "Compare" : "Compare with…"}
          </Link>
          <button type="button" className="button" onClick={clear}>
            Untick
          </button>
        </>
      )}
    </div>
  );
}

interface TableProps {
  experiments: ExperimentSummary[];
  /** Ids of those that are chosen to be compared, two at most. */
  ticked?: number[];
  tick?: (experiment: ExperimentSummary) => void;
  /** The address in which the worst come first, and whether they do. */
  byEffect?: { to: string; isSorted: boolean };
}

export function ExperimentTable({ experiments, ticked = [], tick, byEffect }: TableProps) {
  const headlines = experiments.some((e) => e.headline !== "");
  const effects = experiments.some((e) => e.worst_effect_percent != null);
  return (
    <MarkedOnce of={experiments}>
      <table className="list stack experiments">
        <thead>
          <tr>
            <th scope="col">Experiment</th>
            <th scope="col">State</th>
            <th scope="col">Boots</th>
            {headlines && <th scope="col">Verdicts</th>}
            {effects && (
              <th scope="col" aria-sort={byEffect?.isSorted ? "descending" : undefined}>
                {byEffect ? <Link to={byEffect.to}>Worst effect</Link> : "Worst effect"}
              </th>
            )}
            <th scope="col">Hosts</th>
            <th scope="col">Submitted</th>
          </tr>
        </thead>
        <tbody>
          {experiments.map((e) => (
            <tr key={e.id}>
              <th scope="row" className={tick && "with-tick"}>
                {tick && (
                  <label className="tick">
                    <input
                      type="checkbox"
                      aria-label={`Compare ${e.name}, ${e.id}`}
                      checked={ticked.includes(e.id)}
                      disabled={ticked.length >= MOST_TICKED && !ticked.includes(e.id)}
                      onChange={() => {
                        tick(e);
                      }}
                    />
                  </label>
                )}
                <div>
                  <Link to={`/experiments/${e.id}`}>
                    <strong>{e.name}</strong>
                  </Link>
                  <div className="soft">{e.question}</div>
                </div>
              </th>
              <td data-label="State">
                <div className="buttons state">
                  <ExperimentTag state={e.state} />
                  {e.emulated && <EmulatedMark />}
                  <RecordedTag recorded={e.recorded} />
                  {e.counted && <CountedMark />}
                </div>
              </td>
              <td data-label="Boots">
                <div className="boots">
                  <span className="nowrap">
                    {e.boots_done} of {e.boots_total}
                  </span>
                  {e.boots_left_out > 0 && (
                    <span className="faint small nowrap">{e.boots_left_out} left out</span>
                  )}
                  {isLive(e.state) && (
                    <progress
                      value={e.boots_done}
                      max={Math.max(1, e.boots_total)}
                      aria-label={`Boots done of ${e.name}`}
                    />
                  )}
                </div>
              </td>
              {headlines && <td data-label="Verdicts">{e.headline}</td>}
              {effects && (
                <td data-label="Worst effect" className="nowrap">
                  {e.worst_effect_percent == null
                    ? ""
                    : `${BOUND[e.worst_bound].sign}${percent(e.worst_effect_percent)}`}
                </td>
              )}
              <td data-label="Hosts">
                <div className="hosts">
                  {e.hosts.map((host) => (
                    <span key={host}>{host}</span>
                  ))}
                </div>
              </td>
              <td data-label="Submitted">
                <Age at={e.created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </MarkedOnce>
  );
}
