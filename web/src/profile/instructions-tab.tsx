/** A function's instructions on both sides, as the kernel patched them, with their samples. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { InstructionPart, InstructionRow, InstructionSum, Instructions } from "../api/types";
import { commonScale, counted, fixed, type Scale } from "../format/quantity";
import { Loaded } from "../ui/answers";
import { Tag } from "../ui/tag";
import { isSignificant } from "./colour";
import { FoldedLines, LinesChoice, Unfold } from "./folded-lines";
import { differs } from "./folded-rows";
import { Name } from "./inspector";
import { instructionsQuery } from "./query";
import type { TabProps } from "./tab";
import { bare, differenceText, intervalText, qText, signedBare } from "./words";

interface InstructionsTabProps extends TabProps {
  /** The part of the address that the service is asked with. */
  asked: string;
}

export function InstructionsTab(props: InstructionsTabProps) {
  const { asked, state } = props;
  const query = useQuery(instructionsQuery(asked, state.fn));
  return (
    <Loaded query={query}>{(table) => <Shown key={state.fn} table={table} {...props} />}</Loaded>
  );
}

function Shown({ table, ...props }: InstructionsTabProps & { table: Instructions }) {
  if (table.why_none !== "") return <None table={table} {...props} />;
  return <Table table={table} {...props} />;
}

/** Why there are none, and which functions have some. */
function None({ table, state, address }: InstructionsTabProps & { table: Instructions }) {
  return (
    <div className="panel inside none">
      <p>
        {table.why_none}{" "}
        {table.functions.length === 0
          ? "Each profiled pass of a boot keeps the code of the kernel's hottest functions, where the host has /proc/kcore."
          : "These have instructions:"}
      </p>
      {table.functions.length > 0 && (
        <ul className="hottest">
          {table.functions.map((name) => (
            <li key={name}>
              <Link to={address({ fn: name, lines: null })}>
                <Name>{name}</Name>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {state.fn !== "" && table.functions.length === 0 && (
        <p>
          What <Name>{state.fn}</Name> costs by itself is in the{" "}
          <Link to={address({ tab: "functions", q: state.fn })}>table of functions</Link>.
        </p>
      )}
    </div>
  );
}

function Table({ table, state, change, address }: InstructionsTabProps & { table: Instructions }) {
  const { parts, unit } = table;
  const figures = parts.flatMap(({ rows }) => rows.flatMap((row) => [row.a ?? 0, row.b ?? 0]));
  // One scale for the whole table: a column that changes its unit cannot be compared.
  const scale = commonScale(figures, unit);
  return (
    <section className="panel profile-panel" aria-labelledby="instructions">
      <header>
        <h2 id="instructions">
          Instructions of <Name>{table.function}</Name> <span className="soft">{scale.label}</span>
        </h2>
        <div className="controls">
          <label className="small">
            Function{" "}
            <select
              className="field"
              value={table.function}
              onChange={(event) => {
                change({ fn: event.target.value, lines: null }, false);
              }}
            >
              {table.functions.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <LinesChoice {...{ state, change }} />
        </div>
      </header>
      <Sums table={table} />
      <div className="scroll-x">
        <table className="list stack instructions">
          <thead>
            <tr>
              <th scope="col">A, {table.a}</th>
              <th scope="col">B, {table.b}</th>
              {["A", "B", "Difference", "95 % interval", "q"].map((words) => (
                <th key={words} scope="col" className="num">
                  {words}
                </th>
              ))}
            </tr>
          </thead>
          {parts.map((part, index) => (
            <Part
              key={index}
              {...{ part, scale }}
              named={parts.length > 1}
              all={state.lines === "all"}
            />
          ))}
        </table>
      </div>
      <footer className="inside small soft notes">
        <p>{table.skid}</p>
        <p>{whatCounts(table)}</p>
        <p>
          The code is what stood in memory while it ran, with alternatives, static calls and static
          keys as the kernel had patched them. Offsets are bytes after the function&apos;s start.
          Two instructions are alike without addresses and jump targets. q is over the instructions
          of this function. <Link to={address({ tab: "sandwich" })}>Callers and callees</Link>
        </p>
      </footer>
    </section>
  );
}

/** Which boots stand behind the figures, and which do not. */
function whatCounts(table: Instructions): string {
  const left = (missing: number, other: number) => {
    const why = [
      missing > 0 ? `${fixed(missing, 0)} without the function's code` : "",
      other > 0 ? `${fixed(other, 0)} that ran other code than most` : "",
    ].filter((part) => part !== "");
    return why.length === 0 ? "" : ` (left out: ${why.join(", ")})`;
  };
  const a = `${counted(table.boots_a, "boot")} of A${left(table.missing_a, table.other_code_a)}`;
  const b = `${counted(table.boots_b, "boot")} of B${left(table.missing_b, table.other_code_b)}`;
  return `Means of ${a} and ${b}.`;
}

const KINDS: Record<InstructionSum["kind"], string> = {
  both: "on both sides",
  new: "new in B",
  gone: "gone from A",
};

function Sums({ table }: { table: Instructions }) {
  return (
    <ul className="sums inside" aria-label="All together">
      {table.sums.map((sum) => (
        <li key={sum.kind} data-way={wayOf(sum)}>
          {counted(sum.instructions, "instruction")} {KINDS[sum.kind]}:{" "}
          <span className="difference">
            {sum.difference === null
              ? "unknown"
              : differenceText(sum.difference, sum.low ?? NaN, sum.high ?? NaN, table.unit)}
          </span>{" "}
          <span className="soft">q {qText(sum.q ?? NaN)}</span>
        </li>
      ))}
    </ul>
  );
}

type Judged = Pick<InstructionRow, "difference" | "q">;

function wayOf({ difference, q }: Judged): "more" | "less" | undefined {
  if (!isSignificant(q ?? NaN) || difference === null || difference === 0) return undefined;
  return difference > 0 ? "more" : "less";
}

interface PartProps {
  part: InstructionPart;
  /** Whether its name is said: one that stands alone is the function. */
  named: boolean;
  scale: Scale;
  all: boolean;
}

function Part({ part, named, scale, all }: PartProps) {
  const name = [...new Set([part.name_a, part.name_b])].filter((each) => each !== "").join(" / ");
  return (
    <tbody>
      {named && (
        <tr className="part">
          <th scope="rowgroup" colSpan={7}>
            <Name>{name}</Name>
            {part.name_a === "" && <Tag tone="void" text="new" />}
            {part.name_b === "" && <Tag tone="void" text="gone" />}
          </th>
        </tr>
      )}
      <FoldedLines
        {...{ differs, all }}
        rows={part.rows}
        line={(row, index) => <Instruction key={index} {...{ row, scale }} />}
        folded={(rows, unfold) => <Folded {...{ rows, scale, unfold }} />}
      />
    </tbody>
  );
}

interface FoldedProps {
  rows: readonly InstructionRow[];
  scale: Scale;
  unfold: () => void;
}

/** A run of instructions that are alike, as one line with their sums. */
function Folded({ rows, scale, unfold }: FoldedProps) {
  const sum = (of: (row: InstructionRow) => number | null) =>
    rows.reduce((all, row) => all + (of(row) ?? 0), 0);
  const [a, b] = [sum((row) => row.a), sum((row) => row.b)];
  return (
    <tr className="folded">
      <th scope="row" colSpan={2}>
        <Unfold {...{ rows, unfold }} />
      </th>
      <td className="num" data-label="Costs A">
        {bare(a, scale)}
      </td>
      <td className="num" data-label="Costs B">
        {bare(b, scale)}
      </td>
      <td className="num" data-label="Difference" data-by-chance="">
        {signedBare(b - a, scale)}
      </td>
      <td className="num" />
      <td className="num" />
    </tr>
  );
}

function Instruction({ row, scale }: { row: InstructionRow; scale: Scale }) {
  const figure = (value: number | null) => (value === null ? "unknown" : bare(value, scale));
  const chance = isSignificant(row.q ?? NaN) ? undefined : "";
  const alike = differs(row) ? undefined : "";
  return (
    <tr data-mark={row.mark === "" ? undefined : row.mark} data-alike={alike}>
      <Code side="A" place={row.place_a} text={row.text_a} mark={row.mark} />
      <Code
        side="B"
        place={row.place_b}
        text={row.text_b}
        mark={row.mark}
        same={row.text_a === row.text_b}
      />
      <td className="num" data-label="Costs A" title={counted(row.samples_a, "sample")}>
        {row.place_a === null ? "" : figure(row.a)}
      </td>
      <td className="num" data-label="Costs B" title={counted(row.samples_b, "sample")}>
        {row.place_b === null ? "" : figure(row.b)}
      </td>
      <td
        className="num difference"
        data-label="Difference"
        data-way={wayOf(row)}
        data-by-chance={chance}
      >
        {row.difference === null ? "unknown" : signedBare(row.difference, scale)}
      </td>
      <td className="num" data-label="Interval" data-by-chance={chance}>
        {typeof row.low !== "number" || typeof row.high !== "number"
          ? "–"
          : intervalText(row.low, row.high, scale)}
      </td>
      <td className="num" data-label="q" data-by-chance={chance}>
        {typeof row.q !== "number" ? (
          <span title="Too little of it to be judged">–</span>
        ) : (
          qText(row.q)
        )}
      </td>
    </tr>
  );
}

interface CodeProps {
  side: "A" | "B";
  place: number | null;
  text: string;
  mark: InstructionRow["mark"];
  /** Whether the other side says the same. */
  same?: boolean;
}

/** One instruction with its offset; a side that lacks it stays empty. */
function Code({ side, place, text, mark, same = false }: CodeProps) {
  if (place === null) return <td className="code" data-empty="" />;
  return (
    <td className="code" data-label={side} data-same={same ? "" : undefined}>
      <span>
        <span className="place">+{place.toString(16)}</span> <bdi className="mono">{text}</bdi>
        {mark !== "" && (
          <>
            {" "}
            <Tag tone="void" text={mark} />
          </>
        )}
      </span>
    </td>
  );
}
