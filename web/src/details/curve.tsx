/** A value over a load, arms over one another, and the loads at which it reaches a threshold. */

import { useState } from "react";
import type { DetailArm, DetailCurve, DetailLine, DetailPoint } from "../api/types";
import { ticks } from "../case/layout";
import { ArmMark, ARM_COLOURS, Shape } from "../case/shape";
import { commonScale, fixed, quantity, scaled, type Scale } from "../format/quantity";
import { edgeOf, offScaleInWords } from "../picture/bulk";
import { Keep, type KeepProps } from "../picture/keep";
import { OffScaleMarks } from "../picture/off-scale";
import { useWidth } from "../ui/use-width";
import { useChoice } from "./address";
import { ArmHeads, Pick } from "./breakdown";
import { Figure } from "./figure";
import {
  bandPath,
  curveTable,
  linePath,
  loadRange,
  placement,
  type Range,
  valueRange,
} from "./layout";

const HEIGHT = 320;
const SMALLEST = 300;
const FRAME = { left: 58, right: 18, top: 16, bottom: 44 };
/** More marks than that run into one another. */
const MOST_MARKS = 48;

interface CurveProps {
  curve: DetailCurve;
  arms: DetailArm[];
}

/** What is written on the drawing where it is kept. */
type Written = Pick<KeepProps, "title" | "lines">;

type Threshold = DetailCurve["thresholds"][number];

export function Curve({ curve, arms, title, lines }: CurveProps & Written) {
  const own = curve.thresholds.find((row) => row.is_own);
  const known = [...new Set([own, ...curve.thresholds])].filter((row) => row !== undefined);
  const [name, choose] = useChoice(
    "threshold",
    known.map((row) => String(row.threshold)),
  );
  const chosen = curve.thresholds.find((row) => String(row.threshold) === name);
  const unit = commonScale([], curve.value.unit).label;
  return (
    <>
      <section className="panel" aria-labelledby="details-curve">
        <header>
          <h2 id="details-curve">
            {curve.title} <span className="soft">{curve.value.title.toLowerCase()}</span>
          </h2>
          <span className="faint small">
            mean of an arm’s boots, shaded to the ends of its 95 % interval
          </span>
        </header>
        <div className="inside filters">
          <ul className="plot-legend curve-legend">
            {arms.map((arm, at) => (
              <li key={arm.arm_id}>
                <ArmMark arm={at} />
                <span className="mono">{arm.name}</span>{" "}
                <span className="soft">
                  {arm.boots === 1 ? "one boot: no interval" : `n ${arm.boots}`}
                </span>
              </li>
            ))}
          </ul>
          {known.length > 0 && (
            <Pick
              label="threshold"
              value={name}
              options={curve.thresholds.map((row) => [
                String(row.threshold),
                `${row.threshold} ${unit}${row.is_own ? ", the case’s own" : ""}`,
              ])}
              choose={choose}
            />
          )}
        </div>
        <Keep title={title} lines={lines} table={() => curveTable(curve, arms)}>
          <Chart {...{ curve, arms }} threshold={chosen} />
        </Keep>
        <AsTable {...{ curve, arms }} />
      </section>
      {curve.thresholds.length > 0 && <Reached {...{ curve, arms, name }} />}
    </>
  );
}

/** In words what the drawing shows, for those who do not see it. */
function described(curve: DetailCurve, arms: DetailArm[], scale: Scale): string {
  const said = curve.lines.map((line) => {
    const last = line.points.at(-1);
    const arm = arms.find((one) => one.arm_id === line.arm_id)?.name ?? "";
    return last === undefined
      ? `${arm}: nothing`
      : `${arm}: ${quantity(last.value, curve.value.unit, scale)} at ${last.load} ${curve.load}`;
  });
  return `${curve.value.title} by ${curve.load}. ${said.join("; ")}. The table below has all points.`;
}

/** Points that the scale does not reach, arm by arm, by their load. */
function offScale(curve: DetailCurve, arms: DetailArm[], range: Range) {
  return curve.lines.flatMap((line) => {
    const arm = arms.find((one) => one.arm_id === line.arm_id)?.name ?? "";
    return line.points
      .filter((point) => edgeOf(point.value, range) !== null)
      .map((point) => {
        const label = quantity(point.value, curve.value.unit);
        const title = `${arm}: ${label} at ${point.load} ${curve.load}`;
        return {
          key: `${line.arm_id} ${point.load}`,
          load: point.load,
          value: point.value,
          label,
          title,
        };
      });
  });
}

function Chart({ curve, arms, threshold }: CurveProps & { threshold: Threshold | undefined }) {
  const [box, available] = useWidth();
  const width = Math.max(available, SMALLEST);
  const range = valueRange(curve, threshold?.threshold ?? null);
  const frame = {
    left: FRAME.left,
    right: width - FRAME.right,
    top: FRAME.top,
    bottom: HEIGHT - FRAME.bottom,
  };
  const loads = loadRange(curve);
  const place = placement(frame, loads, range);
  const scale = commonScale([range.high], curve.value.unit);
  const most = Math.min(Math.floor(width / 60), loads[1] - loads[0]);
  const off = offScale(curve, arms, range).sort((a, b) => a.load - b.load);
  const outside = offScaleInWords(off.map(({ title }) => title));
  return (
    <div className="curve-chart" ref={box}>
      <svg
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={[described(curve, arms, scale), outside].join(" ").trim()}
      >
        {ticks(range.low, range.high, 5).map((tick) => (
          <g key={tick}>
            <line
              className="grid"
              x1={frame.left}
              x2={frame.right}
              y1={place.y(tick)}
              y2={place.y(tick)}
            />
            <text x={frame.left - 8} y={place.y(tick) + 4} textAnchor="end">
              {short(tick * scale.factor)}
            </text>
          </g>
        ))}
        <text x={4} y={12}>
          {scale.label}
        </text>
        {ticks(loads[0], loads[1], Math.max(1, most)).map((tick) => (
          <g key={tick}>
            <line
              className="tick"
              x1={place.x(tick)}
              x2={place.x(tick)}
              y1={frame.bottom}
              y2={frame.bottom + 4}
            />
            <text x={place.x(tick)} y={frame.bottom + 18} textAnchor="middle">
              {tick}
            </text>
          </g>
        ))}
        <text x={(frame.left + frame.right) / 2} y={HEIGHT - 6} textAnchor="middle">
          {curve.load}
        </text>
        {curve.lines.map((line) => (
          <Line key={line.arm_id} {...{ line, place, range }} arm={placeOf(arms, line.arm_id)} />
        ))}
        <OffScaleMarks
          values={off.map((each) => ({ ...each, x: place.x(each.load) }))}
          scale={range}
          y={place.y}
          right={frame.right}
        />
        {threshold !== undefined && range.holdsThreshold && (
          <At threshold={threshold} {...{ arms, place, frame }} />
        )}
      </svg>
      {outside !== "" && <p className="small soft">{outside}</p>}
      {threshold !== undefined && !range.holdsThreshold && (
        <p className="faint small">
          The threshold of {quantity(threshold.threshold, curve.value.unit)} lies far above all
          curves.
        </p>
      )}
    </div>
  );
}

/** A round number as an axis has it. */
function short(value: number): string {
  const digits = [0, 1, 2, 3].find((d) => Math.abs(Number(value.toFixed(d)) - value) < 1e-9);
  return fixed(value, digits ?? 3);
}

function placeOf(arms: DetailArm[], id: number): number {
  return Math.max(
    0,
    arms.findIndex((arm) => arm.arm_id === id),
  );
}

interface LineProps {
  line: DetailLine;
  arm: number;
  place: ReturnType<typeof placement>;
  range: Range;
}

function Line({ line, arm, place, range }: LineProps) {
  const colour = `var(--arm-${arm % ARM_COLOURS})`;
  return (
    <g>
      <path className="band" d={bandPath(line.points, place)} fill={colour} />
      <path className="line" d={linePath(line.points, place)} stroke={colour} />
      {line.points.length <= MOST_MARKS &&
        line.points
          .filter((point) => edgeOf(point.value, range) === null)
          .map((point) => (
            <Shape
              key={point.load}
              arm={arm}
              x={place.x(point.load)}
              y={place.y(point.value)}
              radius={3.5}
              counts
            />
          ))}
    </g>
  );
}

interface AtProps {
  threshold: Threshold;
  arms: DetailArm[];
  place: ReturnType<typeof placement>;
  frame: typeof FRAME;
}

/** The threshold as a line, and on it where each arm reaches it: its interval, and its mean down to the axis. */
function At({ threshold, arms, place, frame }: AtProps) {
  const y = place.y(threshold.threshold);
  return (
    <g>
      <line className="threshold" x1={frame.left} x2={frame.right} y1={y} y2={y} />
      {threshold.cells.map((cell) => {
        if (cell.value === null || cell.at_least) return null;
        const colour = `var(--arm-${placeOf(arms, cell.arm_id) % ARM_COLOURS})`;
        const x = place.x(cell.value);
        return (
          <g key={cell.arm_id} stroke={colour}>
            <line className="reached" x1={x} x2={x} y1={y} y2={frame.bottom} />
            {cell.low !== null && cell.high !== null && (
              <line
                className="reach"
                x1={place.x(cell.low)}
                x2={place.x(cell.high)}
                y1={y}
                y2={y}
              />
            )}
          </g>
        );
      })}
    </g>
  );
}

function AsTable({ curve, arms }: CurveProps) {
  const [open, setOpen] = useState(false);
  const loads = [...new Set(curve.lines.flatMap((line) => line.points.map((p) => p.load)))];
  loads.sort((a, b) => a - b);
  const scale = commonScale(
    curve.lines.flatMap((line) => line.points.map((point) => point.value)),
    curve.value.unit,
  );
  return (
    <div className="inside">
      <button
        type="button"
        className="fold small on-screen"
        aria-expanded={open}
        onClick={() => {
          setOpen(!open);
        }}
      >
        All points as a table
      </button>
      {open && (
        <div
          className="scroll-x"
          tabIndex={0}
          role="region"
          aria-label={`${curve.title} as a table`}
        >
          <table className="list">
            <thead>
              <tr>
                <th scope="col">{curve.load}</th>
                <ArmHeads arms={arms} />
              </tr>
            </thead>
            <tbody>
              {loads.map((load) => (
                <tr key={load}>
                  <th scope="row">{load}</th>
                  {arms.map((arm) => (
                    <td key={arm.arm_id}>
                      <Point
                        point={curve.lines
                          .find((line) => line.arm_id === arm.arm_id)
                          ?.points.find((point) => point.load === load)}
                        {...{ scale }}
                        unit={curve.value.unit}
                      />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function Point({
  point,
  scale,
  unit,
}: {
  point: DetailPoint | undefined;
  scale: Scale;
  unit: string;
}) {
  if (point === undefined) return <span className="faint">too little done</span>;
  return (
    <>
      {quantity(point.value, unit, scale)}{" "}
      <span className="soft small">
        {point.low !== null && point.high !== null
          ? `[${scaled(point.low, scale)}, ${scaled(point.high, scale)}]`
          : "one boot"}{" "}
        n {point.boots}
      </span>
    </>
  );
}

function Reached({ curve, arms, name }: CurveProps & { name: string }) {
  const { reached, value } = curve;
  const unit = commonScale([], value.unit).label;
  return (
    <section className="panel" aria-labelledby="details-reached">
      <header>
        <h2 id="details-reached">
          {reached.title} by threshold <span className="soft">{reached.direction} is better</span>
        </h2>
        <span className="faint small">{reached.help}</span>
      </header>
      <div className="scroll-x" tabIndex={0} role="region" aria-label={`${reached.title}, table`}>
        <table className="list stack details-table">
          <thead>
            <tr>
              <th scope="col">threshold</th>
              <ArmHeads arms={arms} />
            </tr>
          </thead>
          <tbody>
            {curve.thresholds.map((row) => (
              <tr key={row.threshold} data-shown={String(row.threshold) === name}>
                <th scope="row">
                  {row.threshold} {unit}
                  {row.is_own && <span className="faint small"> the case’s own</span>}
                </th>
                {arms.map((arm) => (
                  <td key={arm.arm_id} data-label={arm.name}>
                    <Figure
                      cell={row.cells.find((cell) => cell.arm_id === arm.arm_id)}
                      unit={reached.unit}
                      scale={commonScale([], reached.unit)}
                      reached
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
