/** Which rows are shown and in which order; every choice is a change of the address. */

import { useMemo, useRef } from "react";
import type { Comparison } from "../api/types";
import { counted, fixed } from "../format/quantity";
import { useKey } from "../ui/use-key";
import {
  choices,
  DIFFERING,
  isFiltered,
  NO_FILTER,
  outcomeCounts,
  OUTCOMES,
  type MatrixQuery,
  type Outcome,
  type Sort,
} from "./query";

/** Changes of the address; "" takes a value out of it. */
export type Change = (changes: Record<string, string>) => void;

const OUTCOME_WORDS: Record<Outcome, string> = {
  worse: "worse",
  better: "better",
  same: "same",
  undecided: "undecided",
  not_effective: "not effective",
  no_data: "no data",
};

const SORT_WORDS: readonly [Sort, string][] = [
  ["plan", "as planned"],
  ["effect", "largest effect first"],
  ["worst", "worst first"],
  ["best", "best first"],
];

interface FilterProps {
  comparisons: Comparison[];
  query: MatrixQuery;
  change: Change;
  type: (text: string) => void;
}

/** Fewer rows are found by looking. */
const TEXT_FROM_ROWS = 12;

/** What a small matrix needs: its metrics, and from some rows on a text to find. */
export function SmallFilters({ comparisons, query, change, type }: FilterProps) {
  const rows = comparisons.reduce((all, comparison) => all + comparison.rows.length, 0);
  const { secondary } = choices(comparisons);
  const text = rows >= TEXT_FROM_ROWS || query.text !== "";
  if (!secondary && !text) return null;
  return (
    <div className="filters">
      {secondary && <Metrics query={query} change={change} />}
      {text && <TextField text={query.text} type={type} />}
    </div>
  );
}

export function LargeFilters(props: FilterProps & { shown: number }) {
  const { comparisons, query, change, type, shown } = props;
  const offered = useMemo(() => choices(comparisons), [comparisons]);
  const all = comparisons.reduce((sum, comparison) => sum + comparison.rows.length, 0);
  return (
    <div className="filters" role="search" aria-label="Rows of the matrices">
      <TextField text={query.text} type={type} />
      {offered.secondary && <Metrics query={query} change={change} />}
      <Picked label="Workload" of="workload" values={offered.workloads} {...{ query, change }} />
      <Picked label="Host" of="host" values={offered.hosts} {...{ query, change }} />
      <Picked label="Arm" of="arm" values={offered.arms} {...{ query, change }} />
      <label className="small picked">
        Order{" "}
        <select
          className="field"
          value={query.sort}
          onChange={(event) => {
            change({ sort: event.target.value === "plan" ? "" : event.target.value });
          }}
        >
          {SORT_WORDS.map(([sort, words]) => (
            <option key={sort} value={sort}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <Outcomes {...{ comparisons, query, change }} />
      <span className="soft small shown" role="status">
        {shown === all ? counted(all, "row") : `${fixed(shown, 0)} of ${counted(all, "row")}`}
      </span>
      {isFiltered(query) && <ClearButton change={change} type={type} />}
    </div>
  );
}

export function ClearButton({ change, type }: Pick<FilterProps, "change" | "type">) {
  return (
    <button
      type="button"
      className="button"
      onClick={() => {
        type("");
        change(NO_FILTER);
      }}
    >
      Clear the filter
    </button>
  );
}

function Metrics({ query, change }: Pick<FilterProps, "query" | "change">) {
  return (
    <div className="segments" role="group" aria-label="Metrics">
      {[false, true].map((value) => (
        <button
          type="button"
          key={String(value)}
          aria-pressed={query.all === value}
          onClick={() => {
            change({ metrics: value ? "all" : "" });
          }}
        >
          {value ? "All metrics" : "Primary metrics"}
        </button>
      ))}
    </div>
  );
}

function TextField({ text, type }: { text: string; type: (text: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  useKey("/", () => field.current?.focus());
  return (
    <input
      ref={field}
      className="field"
      type="search"
      placeholder="Filter cases"
      aria-label="Filter cases"
      aria-keyshortcuts="/"
      value={text}
      onChange={(event) => {
        type(event.target.value);
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") type("");
      }}
    />
  );
}

interface PickedProps extends Pick<FilterProps, "query" | "change"> {
  label: string;
  of: "workload" | "host" | "arm";
  values: string[];
}

/** One of a few values, or any; nothing where there is no choice. */
function Picked({ label, of, values, query, change }: PickedProps) {
  const chosen = query[of];
  if (values.length < 2 && chosen === "") return null;
  return (
    <label className="small picked">
      {label}{" "}
      <select
        className="field"
        value={chosen}
        onChange={(event) => {
          change({ [of]: event.target.value });
        }}
      >
        <option value="">any</option>
        {/* A link may name what this experiment does not have. */}
        {[...new Set([...values, ...(chosen === "" ? [] : [chosen])])].map((value) => (
          <option key={value} value={value}>
            {value}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Verdicts to show, with how many rows have each; "only what differs" is two of them at once. */
function Outcomes({ comparisons, query, change }: Omit<FilterProps, "type">) {
  const counts = useMemo(() => outcomeCounts(comparisons, query), [comparisons, query]);
  const { outcomes } = query;
  const show = (wanted: readonly Outcome[]) => {
    change({ verdict: wanted.join(",") });
  };
  const differing =
    outcomes.length === DIFFERING.length && DIFFERING.every((o) => outcomes.includes(o));
  const offered = OUTCOMES.filter((outcome) => counts.has(outcome) || outcomes.includes(outcome));
  return (
    <>
      <div className="segments" role="group" aria-label="Verdicts">
        {offered.map((outcome) => {
          const on = outcomes.includes(outcome);
          return (
            <button
              type="button"
              key={outcome}
              aria-pressed={on}
              onClick={() => {
                show(on ? outcomes.filter((o) => o !== outcome) : [...outcomes, outcome]);
              }}
            >
              {OUTCOME_WORDS[outcome]} <span className="count">{counts.get(outcome) ?? 0}</span>
            </button>
          );
        })}
      </div>
      <button
        type="button"
        className="button"
        aria-pressed={differing}
        title="Rows in which an arm is worse or better than the baseline"
        onClick={() => {
          show(differing ? [] : DIFFERING);
        }}
      >
        Only what differs
      </button>
    </>
  );
}
