/** A function's instructions on both sides, with how often an operation runs each. */

import type { RefObject } from "react";
import type { ExactLine, ExactTable } from "../api/types";
import { signed } from "../format/quantity";
import { Tag } from "../ui/tag";
import { ExactBar } from "./exact-bar";
import { LEAST, lineDiffers, runsText, wayOf } from "./exact-words";
import { FoldedLines, LinesChoice, Unfold } from "./folded-lines";
import { Name } from "./inspector";
import type { TabProps } from "./tab";

interface ExactLinesProps extends Omit<TabProps, "profile"> {
  table: ExactTable;
  ref: RefObject<HTMLElement | null>;
}

export function ExactLines({ table, state, change, ref }: ExactLinesProps) {
  const there = table.function === state.fn;
  return (
    <section
      ref={ref}
      className="panel profile-panel exact-lines"
      aria-labelledby="exact-lines"
      tabIndex={0}
    >
      <header>
        <h2 id="exact-lines">
          Instructions of <Name>{state.fn}</Name> <span className="soft">runs an operation</span>
        </h2>
        <div className="controls">
          <LinesChoice {...{ state, change }} />
          <button
            type="button"
            className="button"
            onClick={() => {
              change({ fn: null, lines: null }, false);
            }}
          >
            Close
          </button>
        </div>
      </header>
      {there && table.instructions.length > 0 && (
        <Lines table={table} all={state.lines === "all"} />
      )}
      {there && table.instructions.length === 0 && <NoLines table={table} />}
      {!there && (
        <p className="inside" role="status">
          Reading the instructions.
        </p>
      )}
    </section>
  );
}

function NoLines({ table }: { table: ExactTable }) {
  const ran = table.functions.some((row) => row.function === table.function);
  return (
    <p className="inside">
      {ran
        ? "It runs too seldom: instructions are kept of functions that run at least one in four operations. Its sum is in the table of functions."
        : "No operation runs it on either side. What is inlined counts in its callers: choose one of them in the table of functions."}
    </p>
  );
}

function Lines({ table, all }: { table: ExactTable; all: boolean }) {
  const rows = table.instructions;
  const repeated = rows.some(({ repeats_a: a, repeats_b: b }) => a > 0 || b > 0);
  const most = rows.reduce((so_far, { a, b }) => Math.max(so_far, Math.abs(b - a)), 0);
  return (
    <div className="scroll-x">
      <table className="list exact-code">
        <thead>
          <tr>
            <th scope="col" className="wide">
              Place A
            </th>
            <th scope="col">Place B</th>
            <th scope="col">Instruction</th>
            <th scope="col" className="wide">
              <span className="visually-hidden">Difference as a bar</span>
            </th>
            {["A", "B"].map((words) => (
              <th key={words} scope="col" className="num">
                {words}
              </th>
            ))}
            {repeated && (
              <th
                scope="col"
                className="num"
                title="Runs in which a string instruction repeated itself"
              >
                Of them repeats
              </th>
            )}
            <th scope="col" className="num wide">
              Difference
            </th>
          </tr>
        </thead>
        <tbody>
          <FoldedLines
            {...{ rows, all }}
            differs={lineDiffers}
            line={(row, index) => <Line key={index} {...{ row, most, repeated }} />}
            folded={(some, unfold) => <Folded rows={some} {...{ unfold, repeated }} />}
          />
        </tbody>
      </table>
    </div>
  );
}

interface FoldedProps {
  rows: readonly ExactLine[];
  unfold: () => void;
  /** Whether there is a column of repeats. */
  repeated: boolean;
}

/** Instructions that are alike, as one line with their sums. */
function Folded({ rows, unfold, repeated }: FoldedProps) {
  const [a, b] = [sum(rows, "a"), sum(rows, "b")];
  return (
    <tr className="folded">
      <td className="wide" />
      <th scope="row" colSpan={2}>
        <Unfold {...{ rows, unfold }} />
      </th>
      <td className="wide" />
      <td className="num">{runsText(a)}</td>
      <td className="num">{runsText(b)}</td>
      {repeated && <td />}
      <td className="num wide" data-by-chance="">
        {differenceText(b - a)}
      </td>
    </tr>
  );
}

/** To a thousandth, so that sums of fractions read as they are. */
function sum(rows: readonly ExactLine[], side: "a" | "b"): number {
  return Math.round(rows.reduce((all, row) => all + row[side], 0) * 1000) / 1000;
}

function repeatsText({ repeats_a: a, repeats_b: b }: ExactLine): string {
  if (a === 0 && b === 0) return "";
  return a === b ? runsText(a) : `${runsText(a)}, ${runsText(b)}`;
}

/** Nothing where there is none: what differs is to lead the eye. */
function differenceText(difference: number): string {
  if (Math.abs(difference) < 0.0005) return "";
  return signed(difference, Math.abs(difference % 1) < 0.0005 ? 0 : 3);
}

interface LineProps {
  row: ExactLine;
  most: number;
  repeated: boolean;
}

function Line({ row, most, repeated }: LineProps) {
  const difference = row.b - row.a;
  const sure = Math.abs(difference) >= LEAST;
  return (
    <tr data-mark={row.mark === "" ? undefined : row.mark}>
      <Place place={row.place_a} wide />
      <Place place={row.place_b} />
      <td className="code">
        <Text row={row} />
      </td>
      <td className="wide">{sure && <ExactBar difference={difference} most={most} />}</td>
      <td className="num">{row.place_a === null ? "" : runsText(row.a)}</td>
      <td className="num">{row.place_b === null ? "" : runsText(row.b)}</td>
      {repeated && <td className="num">{repeatsText(row)}</td>}
      <td
        className="num difference wide"
        data-way={sure ? wayOf(difference) : undefined}
        data-by-chance={sure ? undefined : ""}
      >
        {differenceText(difference)}
      </td>
    </tr>
  );
}

interface PlaceProps {
  place: number | null;
  /** Whether it is left out where there is no room. */
  wide?: boolean;
}

function Place({ place, wide = false }: PlaceProps) {
  return (
    <td className={wide ? "mono faint wide" : "mono faint"}>
      {place === null ? "" : `+${place.toString(16)}`}
    </td>
  );
}

/** What the instruction is on each side; once where both say the same. */
function Text({ row }: { row: ExactLine }) {
  const texts = [row.text_a, row.text_b].filter((text) => text !== "");
  return (
    <>
      {[...new Set(texts)].map((text, index) => (
        <bdi key={index} className="mono">
          {index > 0 && <span className="faint">in B </span>}
          {text}
        </bdi>
      ))}
      {row.mark !== "" && (
        <>
          {" "}
          <Tag tone="void" text={row.mark} />
        </>
      )}
    </>
  );
}
