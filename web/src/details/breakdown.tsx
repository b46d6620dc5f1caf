/** Figures by something that a pass has several of: one row or one figure of it at a time. */

import type { DetailArm, DetailBreakdown } from "../api/types";
import { ArmMark } from "../case/shape";
import { commonScale, type Scale } from "../format/quantity";
import { useChoice } from "./address";
import { Figure } from "./figure";

interface BreakdownProps {
  breakdown: DetailBreakdown;
  arms: DetailArm[];
}

type Line = DetailBreakdown["lines"][number];

const values = (lines: readonly Line[]) =>
  lines.flatMap((line) => line.cells.map((cell) => cell.value ?? 0));

export function Breakdown({ breakdown, arms }: BreakdownProps) {
  const byRow = breakdown.choose === "row";
  const told = new Set(breakdown.lines.map((line) => (byRow ? line.row : line.figure)));
  // The last row is where a pass leads to: full load, say.
  const known = byRow ? breakdown.rows.toReversed() : breakdown.figures;
  const shown = known.filter((one) => told.has(one.name));
  const [chosen, choose] = useChoice(
    breakdown.name,
    shown.map((one) => one.name),
  );
  const lines = breakdown.lines.filter((line) => (byRow ? line.row : line.figure) === chosen);
  const [order, setOrder] = useChoice(
    `${breakdown.name}-sort`,
    orders(arms).map(([name]) => name),
  );
  const figure = breakdown.figures.find((one) => one.name === chosen);
  const heading = `details-${breakdown.name}`;
  return (
    <section className="panel" aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{breakdown.title}</h2>
        <span className="faint small">
          {figure === undefined || figure.help === "" ? breakdown.help : figure.help}
        </span>
      </header>
      <div className="inside filters">
        <Pick
          label={byRow ? breakdown.of : "figure"}
          value={chosen}
          options={(byRow ? breakdown.rows : breakdown.figures)
            .filter((one) => told.has(one.name))
            .map((one) => [one.name, one.title])}
          choose={choose}
        />
        {!byRow && <Pick label="order" value={order} options={orders(arms)} choose={setOrder} />}
      </div>
      <div className="scroll-x" tabIndex={0} role="region" aria-label={`${breakdown.title}, table`}>
        <table className="list stack details-table">
          <thead>
            <tr>
              <th scope="col">{byRow ? "figure" : breakdown.of}</th>
              <ArmHeads arms={arms} />
            </tr>
          </thead>
          <tbody>
            {sorted(lines, byRow ? "" : order).map((line) => (
              <Row
                key={`${line.row} ${line.figure}`}
                {...{ line, breakdown, arms, byRow }}
                scale={byRow ? null : commonScale(values(lines), figure?.unit ?? "")}
              />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

export function ArmHeads({ arms }: { arms: DetailArm[] }) {
  return arms.map((arm, at) => (
    <th key={arm.arm_id} scope="col" title={arm.mode}>
      <ArmMark arm={at} />
      <span className="mono">{arm.name}</span>
      {arm.is_baseline && " (baseline)"}
    </th>
  ));
}

interface RowProps extends BreakdownProps {
  line: Line;
  byRow: boolean;
  /** Of the whole table, where all its values are of one figure. */
  scale: Scale | null;
}

function Row({ line, breakdown, arms, byRow, scale }: RowProps) {
  const figure = breakdown.figures.find((one) => one.name === line.figure);
  const unit = figure?.unit ?? "";
  const title = byRow ? figure?.title : breakdown.rows.find((one) => one.name === line.row)?.title;
  return (
    <tr>
      <th scope="row">
        {title}
        {byRow && figure?.help !== "" && <span className="faint small help">{figure?.help}</span>}
      </th>
      {arms.map((arm) => (
        <td key={arm.arm_id} data-label={arm.name}>
          <Figure
            cell={line.cells.find((cell) => cell.arm_id === arm.arm_id)}
            unit={unit}
            scale={scale ?? commonScale(values([line]), unit)}
          />
        </td>
      ))}
    </tr>
  );
}

/** Orders of the rows, each with its words. */
function orders(arms: readonly DetailArm[]): [string, string][] {
  return [
    ["listed", "as a pass has them"],
    ...arms.map((arm): [string, string] => [`value-${arm.arm_id}`, `largest, ${arm.name}`]),
    ...arms
      .filter((arm) => !arm.is_baseline)
      .map((arm): [string, string] => [`change-${arm.arm_id}`, `largest change, ${arm.name}`]),
  ];
}

function sorted(lines: readonly Line[], order: string): readonly Line[] {
  const [by, arm] = order.split("-");
  if (by !== "value" && by !== "change") return lines;
  const key = (line: Line) => {
    const cell = line.cells.find((one) => String(one.arm_id) === arm);
    const value = by === "value" ? cell?.value : cell?.change_percent;
    // What is absent comes last.
    return typeof value === "number" ? (by === "value" ? value : Math.abs(value)) : -Infinity;
  };
  return lines.toSorted((a, b) => key(b) - key(a));
}

interface PickProps {
  label: string;
  value: string;
  options: readonly (readonly [value: string, words: string])[];
  choose: (to: string) => void;
}

export function Pick({ label, value, options, choose }: PickProps) {
  return (
    <label className="small picked">
      {label}{" "}
      <select
        className="field"
        value={value}
        onChange={(event) => {
          choose(event.target.value);
        }}
      >
        {options.map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
