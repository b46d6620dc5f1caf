/** Functions by what an operation runs of them more or less in B. */

import { useMemo } from "react";
import { Link } from "wouter";
import type { ExactFunction, ExactTable } from "../api/types";
import { counted } from "../format/quantity";
import { Tag } from "../ui/tag";
import { ExactBar } from "./exact-bar";
import {
  countText,
  differenceOf,
  endsText,
  functionDiffers,
  isSure,
  nameOf,
  wayOf,
} from "./exact-words";
import { Name } from "./inspector";
import { PageButtons, pageOf } from "./page-buttons";
import { understood } from "./search";
import type { TabProps } from "./tab";

interface ExactFunctionsProps extends Omit<TabProps, "profile"> {
  table: ExactTable;
}

const FIGURES = ["A", "B", "Difference", "95 % interval"];

function matching(rows: readonly ExactFunction[], text: string): readonly ExactFunction[] {
  const test = understood(text);
  if (typeof test !== "function") return rows;
  return rows.filter((row) => test(nameOf(row)) || test(row.was));
}

export function ExactFunctions({ table, state, text, change, address }: ExactFunctionsProps) {
  const all = state.rows === "all";
  const listed = useMemo(
    () => matching(all ? table.functions : table.functions.filter(functionDiffers), text),
    [table.functions, all, text],
  );
  const boots = Math.min(table.a.boots, table.b.boots);
  const { page, first, end } = pageOf(state.page, listed.length);
  const most = listed.reduce((so_far, row) => Math.max(so_far, Math.abs(row.difference)), 0);
  return (
    <section className="panel profile-panel" aria-labelledby="exact-functions">
      <header>
        <h2 id="exact-functions">
          Functions <span className="soft">instructions an operation</span>
        </h2>
        <label className="small greying">
          <input
            type="checkbox"
            checked={all}
            onChange={(event) => {
              change({ rows: event.target.checked ? "all" : null, page: null });
            }}
          />{" "}
          all functions
        </label>
      </header>
      {listed.length === 0 ? (
        <p className="inside">
          {text.trim() === ""
            ? "Every function runs the same number of instructions on both sides."
            : "No function's name matches the search. Clear it to see them all."}
        </p>
      ) : (
        <div className="scroll-x">
          <table className="list stack functions exact-functions">
            <thead>
              <tr>
                <th scope="col">Function</th>
                <th scope="col">
                  <span className="visually-hidden">Difference as a bar</span>
                </th>
                {FIGURES.map((words) => (
                  <th key={words} scope="col" className="num">
                    {words}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {listed.slice(first, end).map((row) => (
                <Row
                  key={`${row.module} ${row.function}`}
                  {...{ row, most, boots }}
                  chosen={row.function !== "" && row.function === state.fn}
                  to={address({ fn: row.function, lines: null })}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <PageButtons {...{ page, change }} rows={listed.length} />
      {table.left_out > 0 && (
        <p className="inside small soft">
          {counted(table.left_out, "function")} of the least difference{" "}
          {table.left_out === 1 ? "is" : "are"} not listed.
        </p>
      )}
    </section>
  );
}

interface RowProps {
  row: ExactFunction;
  most: number;
  /** Of the side with fewer. */
  boots: number;
  chosen: boolean;
  /** The address that shows its instructions. */
  to: string;
}

function Row({ row, most, boots, chosen, to }: RowProps) {
  const sure = isSure(row, boots);
  const ends = endsText(row.low, row.high);
  return (
    <tr aria-current={chosen ? "true" : undefined}>
      <th scope="row">
        {row.function === "" ? (
          <Name>{nameOf(row)}</Name>
        ) : (
          <Link to={to}>
            <Name>{row.function}</Name>
          </Link>
        )}
        <About row={row} />
      </th>
      <td>
        <ExactBar difference={row.exact ?? row.difference} most={most} byChance={!sure} />
      </td>
      <td className="num" data-label="A">
        {countText(row.a)}
      </td>
      <td className="num" data-label="B">
        {countText(row.b)}
      </td>
      <td
        className="num difference"
        data-label="Difference"
        data-way={sure ? wayOf(row.exact ?? row.difference) : undefined}
      >
        {differenceOf(row)}
      </td>
      <td className="num" data-label={ends === "" ? undefined : "Interval"}>
        {ends}
      </td>
    </tr>
  );
}

/** Where the function is from, and what became of it. */
function About({ row }: { row: ExactFunction }) {
  return (
    <>
      {row.module !== "kernel" && row.function !== "" && (
        <span className="faint small"> {row.module}</span>
      )}
      {row.mark !== "" && (
        <>
          {" "}
          <Tag tone="void" text={row.mark} />
        </>
      )}
      {row.was !== "" && (
        <span className="faint small">
          {" "}
          was <Name>{row.was}</Name>
        </span>
      )}
    </>
  );
}
