/** The graph's twin: every function as a row of figures, sorted and searched. */

import { useMemo } from "react";
import { Link } from "wouter";
import { commonScale, type Scale } from "../format/quantity";
import { Choice } from "./choice";
import { isSignificant } from "./colour";
import type { Profile } from "./decode";
import { Name } from "./inspector";
import { PageButtons, pageOf } from "./page-buttons";
import { ranked, type Sort } from "./ranking";
import { understood } from "./search";
import type { MeasureName, ViewState } from "./state";
import type { TabProps } from "./tab";
import { bare, changeText, intervalText, qText, signedBare } from "./words";

const HEADINGS: readonly [Sort, string][] = [
  ["name", "Function"],
  ["self_a", "Self A"],
  ["self_b", "Self B"],
  ["total_a", "Total A"],
  ["total_b", "Total B"],
  ["difference", "Difference"],
  ["interval", "95 % interval"],
  ["q", "q"],
  ["change", "Change"],
];

/** Names and q begin at their low end, costs and differences at their high one. */
function firstWay(sort: Sort): string {
  return sort === "name" || sort === "q" ? sort : `-${sort}`;
}

function useRows(profile: Profile, state: ViewState, text: string): number[] {
  const { functions, meta } = profile;
  const { measure, sort, descending } = state;
  return useMemo(() => {
    const test = understood(text);
    const matching =
      typeof test === "function" ? Uint8Array.from(meta.names, (name) => Number(test(name))) : null;
    return ranked(functions, meta.names, {
      measure: functions[measure],
      ...{ sort, descending, matching },
    });
  }, [functions, meta.names, measure, sort, descending, text]);
}

export function FunctionTable(props: TabProps) {
  const { profile, state, text, change, address, instructions } = props;
  const { functions, meta } = profile;
  const rows = useRows(profile, state, text);
  const { page, first, end } = pageOf(state.page, rows.length);
  const shown = rows.slice(first, end);
  // One scale for the whole table: a column that changes its unit cannot be compared.
  const scale = commonScale([meta.a.total, meta.b.total], meta.unit);
  const sortBy = (sort: Sort) => {
    const now = (state.descending ? "-" : "") + state.sort;
    const turned = state.descending ? sort : `-${sort}`;
    const next = now.endsWith(sort) && state.sort === sort ? turned : firstWay(sort);
    change({ sort: next, page: null });
  };
  return (
    <section className="panel profile-panel" aria-labelledby="functions">
      <header>
        <h2 id="functions">
          Functions <span className="soft">{scale.label}</span>
        </h2>
        <div className="controls">
          <label className="small sort-field">
            Sort by{" "}
            <select
              className="field"
              value={state.sort}
              onChange={(event) => {
                change({ sort: firstWay(event.target.value as Sort), page: null });
              }}
            >
              {HEADINGS.map(([sort, words]) => (
                <option key={sort} value={sort}>
                  {words}
                </option>
              ))}
            </select>
          </label>
          <Choice<MeasureName>
            label="Difference of"
            options={[
              ["self", "self", "What the function costs by itself"],
              ["total", "total", "With all that it calls; recursion counted once"],
            ]}
            value={state.measure}
            choose={(of) => {
              change({ of: of === "self" ? null : of, page: null });
            }}
          />
        </div>
      </header>
      {rows.length === 0 ? (
        <p className="inside">
          {functions.symbol.length === 0
            ? "The service sent no functions for these profiles."
            : "No function's name matches the search. Clear it to see them all."}
        </p>
      ) : (
        <div className="scroll-x">
          <table className="list stack functions">
            <thead>
              <tr>
                {HEADINGS.map(([sort, words]) => (
                  <Heading key={sort} sort={sort} state={state} sortBy={sortBy}>
                    {words}
                  </Heading>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map((row) => (
                <FunctionRow key={row} {...{ profile, row, state, scale, address, instructions }} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <PageButtons {...{ page, change }} rows={rows.length} />
    </section>
  );
}

interface HeadingProps {
  sort: Sort;
  state: ViewState;
  sortBy: (sort: Sort) => void;
  children: string;
}

function Heading({ sort, state, sortBy, children }: HeadingProps) {
  const way = state.descending ? "descending" : "ascending";
  const sorted = state.sort === sort;
  return (
    <th
      scope="col"
      className={sort === "name" ? undefined : "num"}
      aria-sort={sorted ? way : undefined}
    >
      <button
        type="button"
        className="sorter"
        data-way={sorted ? way : undefined}
        onClick={() => {
          sortBy(sort);
        }}
      >
        {children}
      </button>
    </th>
  );
}

function way(a: number, b: number): "more" | "less" | undefined {
  if (a === b) return undefined;
  return b > a ? "more" : "less";
}

interface RowProps {
  profile: Profile;
  row: number;
  state: ViewState;
  scale: Scale;
  address: TabProps["address"];
  instructions: TabProps["instructions"];
}

function FunctionRow({ profile, row, state, scale, address, instructions }: RowProps) {
  const { functions, meta } = profile;
  const name = meta.names[functions.symbol[row] ?? 0] ?? "";
  const code = instructions(name);
  const measure = functions[state.measure];
  const at = (values: Float32Array) => values[row] ?? NaN;
  const [a, b, q] = [at(measure.a), at(measure.b), at(measure.q)];
  return (
    <tr aria-current={state.fn === name ? "true" : undefined}>
      <th scope="row">
        <Link to={address({ tab: "sandwich", fn: name, callers: null, callees: null })}>
          <Name>{name}</Name>
        </Link>
        {code !== null && (
          <>
            {" "}
            <Link className="small to-code" to={code} aria-label={`Instructions of ${name}`}>
              instructions
            </Link>
          </>
        )}
      </th>
      <td className="num" data-label="Self A">
        {bare(at(functions.self.a), scale)}
      </td>
      <td className="num" data-label="Self B">
        {bare(at(functions.self.b), scale)}
      </td>
      <td className="num" data-label="Total A">
        {bare(at(functions.total.a), scale)}
      </td>
      <td className="num" data-label="Total B">
        {bare(at(functions.total.b), scale)}
      </td>
      <td
        className="num difference"
        data-label="Difference"
        data-way={isSignificant(q) ? way(a, b) : undefined}
      >
        {signedBare(b - a, scale)}
      </td>
      <td className="num" data-label="Interval">
        {intervalText(at(measure.low), at(measure.high), scale)}
      </td>
      <td className="num" data-label="q">
        {qText(q)}
      </td>
      <td className="num" data-label="Change">
        {changeText(a, b)}
      </td>
    </tr>
  );
}
