/** What an operation runs on both sides, to the instruction, as an emulator counted it. */

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, type ReactNode } from "react";
import type { ExactSide, ExactTable } from "../api/types";
import { counted, fixed } from "../format/quantity";
import { Loaded } from "../ui/answers";
import { CountedMark, EmulatedMark } from "../ui/emulated";
import { ExactBill } from "./exact-bill";
import { ExactFootprint } from "./exact-footprint";
import { ExactFunctions } from "./exact-functions";
import { ExactLines } from "./exact-lines";
import { answerText, apartText, nanoseconds, wayOf, wholeText } from "./exact-words";
import "./exact.css";
import type { Meta } from "./decode";
import { exactQuery } from "./query";
import type { TabProps } from "./tab";
import { differenceText } from "./words";

export interface ExactProps extends Omit<TabProps, "profile"> {
  /** The part of the address that the service is asked with. */
  asked: string;
}

export function ExactTab({ profile, ...props }: ExactProps & Pick<TabProps, "profile">) {
  if (profile.meta.experiment === null)
    return <p className="panel inside">Imported profiles have no exact counts.</p>;
  return <ExactOfCase {...props} sampled={profile.meta} />;
}

/** `sampled`: what the profiles that stand on the same page are totals of. */
export function ExactOfCase({ sampled, ...props }: ExactProps & { sampled?: Meta }) {
  const { asked, state } = props;
  const query = useQuery(exactQuery(asked, state.fn));
  const lines = useInSight(state.fn);
  return (
    <Loaded query={query}>
      {(table) =>
        table.why_none === "" ? (
          <div className="exact" aria-busy={query.isPlaceholderData}>
            <Answer table={table}>{sampled && <Sampled meta={sampled} />}</Answer>
            <div className="exact-beside" data-chosen={state.fn === "" ? undefined : ""}>
              <ExactFunctions table={table} {...props} />
              {state.fn !== "" && (
                <ExactLines key={state.fn} ref={lines} table={table} {...props} />
              )}
            </div>
            <ExactFootprint table={table} />
            <ExactBill table={table} />
          </div>
        ) : (
          <None why={table.why_none} />
        )
      }
    </Loaded>
  );
}

/** Brings what was chosen into sight where it stands below a long list; not as the page opens. */
function useInSight(chosen: string) {
  const section = useRef<HTMLElement>(null);
  const last = useRef(chosen);
  useEffect(() => {
    if (last.current === chosen) return;
    last.current = chosen;
    if (!window.matchMedia("(min-width: 1200px)").matches) section.current?.scrollIntoView();
  }, [chosen]);
  return section;
}

function None({ why }: { why: string }) {
  return (
    <div className="panel inside none">
      <p>{why}</p>
      <p>To have them counted:</p>
      <ul className="plain-list">
        <li>
          start the lab hosts with <code>mitigauge lab up</code>, without <code>--no-exact</code>;
        </li>
        <li>
          choose a workload whose <code>workload.yml</code> says <code>exact: true</code>, on a host
          in counted time;
        </li>
        <li>
          run it with <code>mitigauge experiment submit SPEC</code>: the first two boots of each arm
          are counted, and none later.
        </li>
      </ul>
    </div>
  );
}

/** The other figure of the page, and what sets it apart from the counted one. */
function Sampled({ meta: { a, b, unit } }: { meta: Meta }) {
  return (
    <p>
      The groups above are sampled: their totals, and the difference of{" "}
      {differenceText(b.total - a.total, NaN, NaN, unit)}, are an estimate of the same operations.
      What stands here is counted.
    </p>
  );
}

function Answer({ table, children }: { table: ExactTable; children: ReactNode }) {
  return (
    <section className="panel profile-panel" aria-labelledby="exact">
      <header>
        <h2 id="exact">Exact counts</h2>
        <span className="controls">
          <EmulatedMark />
          <CountedMark />
        </span>
      </header>
      <p className="exact-answer inside">
        <strong data-way={wayOf(table.exact ?? table.difference)}>{answerText(table)}</strong>{" "}
        <span className="soft">
          in <bdi>{table.b.label}</bdi>, compared with <bdi>{table.a.label}</bdi>; with all that ran
          beside it {wholeText(table)}
        </span>
      </p>
      <Sides table={table} />
      <footer className="inside small soft notes">
        <p>
          Instructions an operation. Nothing is sampled. <em>In each operation</em> is what every
          operation of every boot runs, the same number of times; <em>beside it</em> is the rest, as
          timer interrupts. Each instruction takes 2 ns of counted time, so that their sum is the
          time that was measured.
        </p>
        {children}
        {[table.a, table.b].map((side, index) => (
          <Missing key={index} side={side} />
        ))}
      </footer>
    </section>
  );
}

function Missing({ side }: { side: ExactSide }) {
  if (side.missing.length === 0) return null;
  return (
    <p>
      Boots of <bdi>{side.label}</bdi> without counts: {side.missing.join("; ")}.
    </p>
  );
}

const OF_SIDES: readonly [string, (side: ExactSide) => string][] = [
  ["In each operation", (side) => fixed(side.steady, 0)],
  ["Beside it", (side) => fixed(side.instructions - side.steady, 2)],
  ["Counted time", (side) => nanoseconds(side.counted_ns)],
  ["Measured time", (side) => nanoseconds(side.measured_ns)],
  ["Apart", apartText],
  ["Boots", (side) => counted(side.boots, "boot")],
];

function Sides({ table }: { table: ExactTable }) {
  return (
    <div className="scroll-x">
      <table className="list stack sides exact-sides" aria-label="Both sides">
        <thead>
          <tr>
            <th scope="col">Arm</th>
            {OF_SIDES.map(([words]) => (
              <th key={words} scope="col" className="num">
                {words}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(["a", "b"] as const).map((letter) => (
            <tr key={letter}>
              <th scope="row">
                {letter.toUpperCase()} <bdi className="mono">{table[letter].label}</bdi>
              </th>
              {OF_SIDES.map(([words, text]) => (
                <td key={words} className="num" data-label={words}>
                  {text(table[letter])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
