/** The values of a trend over time, with intervals, levels and the places of its changes. */

import { useState } from "react";
import { useLocation } from "wouter";
import type { Trend, TrendPoint } from "../api/types";
import { domain, ticks } from "../case/layout";
import { commonScale, percent, quantity, scaled } from "../format/quantity";
import { day, stamp } from "../format/time";
import { aired, edgeOf, robustScale, type Scale } from "../picture/bulk";
import { OffScaleMarks } from "../picture/off-scale";
import { useWidth } from "../ui/use-width";

const HEIGHT = 330;
const FRAME = { left: 64, right: 14, top: 26, bottom: 60 };
/** Words under the axis that would come nearer than so many pixels are left to the marks. */
const LABEL_ROOM = 130;
const SMALLEST = 340;

/** Where in the picture a pointer is. */
function withinBox(event: React.PointerEvent<SVGSVGElement>): number {
  return event.clientX - event.currentTarget.getBoundingClientRect().left;
}

/** Where times and values lie, in CSS pixels. */
function placement(trend: Trend, width: number, { low, high }: Scale) {
  const times = trend.values.map((value) => Date.parse(value.at));
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 1];
  const right = width - FRAME.right;
  const bottom = HEIGHT - FRAME.bottom;
  return {
    right,
    bottom,
    low,
    high,
    x: (at: string) =>
      FRAME.left +
      6 +
      ((Date.parse(at) - first) / Math.max(last - first, 1)) * (right - FRAME.left - 12),
    time: (x: number) => {
      const share = (x - FRAME.left - 6) / Math.max(right - FRAME.left - 12, 1);
      return new Date(first + Math.min(Math.max(share, 0), 1) * (last - first)).toISOString();
    },
    y: (value: number) => {
      const inside = Math.min(Math.max(value, low), high);
      return bottom - ((inside - low) / (high - low)) * (bottom - FRAME.top);
    },
  };
}

export function describe(point: TrendPoint, unit: string): string {
  const reach =
    point.low !== null && point.high !== null
      ? `, 95 % ${quantity(point.low, unit)} to ${quantity(point.high, unit)}`
      : "";
  const outlier = point.outlier ? ", outlier" : "";
  return `${stamp(point.at)}: ${quantity(point.value, unit)}${reach}, ${point.boots} boots, ${point.host}, ${point.kernel}${outlier}`;
}

interface Turn {
  at: string;
  text: string;
}

/** Where a host's kernel, microcode or firmware became another. */
function turnsOf(values: TrendPoint[]): Turn[] {
  return values
    .filter((value) => value.turned.length > 0)
    .map((value) => ({ at: value.at, text: value.turned.join("; ") }));
}

/** What a turn is called under the axis: its kernel alone, where that is what changed. */
function inShort(text: string): string {
  const kernel = /^kernel \S+ → (\S+)/.exec(text)?.[1];
  const words = kernel ?? text;
  return words.length > 22 ? `${words.slice(0, 21)}…` : words;
}

interface TurnsProps {
  turns: Turn[];
  x: (at: string) => number;
  right: number;
  bottom: number;
}

function Turns({ turns, x, right, bottom }: TurnsProps) {
  let free = -Infinity;
  return turns.map((turn) => {
    const at = x(turn.at);
    const labelled = at >= free && at + LABEL_ROOM <= right + 40;
    if (labelled) free = at + LABEL_ROOM;
    return (
      <g key={turn.at} className="turn">
        <title>{`${stamp(turn.at)}: ${turn.text}`}</title>
        <path d={`M ${at - 5} ${bottom + 14} L ${at + 5} ${bottom + 14} L ${at} ${bottom + 5} z`} />
        {labelled && (
          <text x={at - 4} y={bottom + 29}>
            {inShort(turn.text)}
          </text>
        )}
      </g>
    );
  });
}

/** The scale of all that is drawn, or of the bulk of the values with the levels of all. */
export function scaleOf(trend: Trend, everything: boolean): Scale {
  const levels = trend.levels.map(({ mean }) => mean);
  if (!everything) {
    return aired(robustScale([trend.values], { inOrder: true, inside: levels }));
  }
  const ends = trend.values.flatMap((of) => [of.value, of.low ?? of.value, of.high ?? of.value]);
  const [low, high] = domain(ends);
  return { low, high };
}

/** The values that the scale does not reach, and how many intervals it cuts. */
export function beyond(trend: Trend, scale: Scale) {
  const outside = trend.values.filter(({ value }) => edgeOf(value, scale) !== null);
  const cut = trend.values.filter(
    (of) =>
      !outside.includes(of) &&
      [of.low, of.high].some((end) => end !== null && edgeOf(end, scale) !== null),
  );
  return { outside, cut: cut.length };
}

interface ChartProps {
  trend: Trend;
  /** Shows wild values too, however flat that makes the others. */
  everything?: boolean;
  /** Shows the time between two moments; where it is missing, nothing can be chosen. */
  zoom?: ((from: string, to: string) => void) | undefined;
}

export function Chart({ trend, zoom, everything = false }: ChartProps) {
  const [box, available] = useWidth();
  const [dragged, setDragged] = useState<[number, number] | null>(null);
  const width = Math.max(available, SMALLEST);
  const [, navigate] = useLocation();
  const [stop, setStop] = useState(trend.values.length - 1);
  const reach = scaleOf(trend, everything);
  const place = placement(trend, width, reach);
  const scale = commonScale(
    trend.values.map((value) => value.value).filter((value) => edgeOf(value, reach) === null),
    trend.unit,
  );
  const walk = (event: React.KeyboardEvent, from: number) => {
    const last = trend.values.length - 1;
    const to = {
      ArrowRight: Math.min(from + 1, last),
      ArrowLeft: Math.max(from - 1, 0),
      Home: 0,
      End: last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setStop(to);
    box.current?.querySelectorAll<SVGAElement>("a.value")[to]?.focus();
  };
  const first = trend.values[0];
  const last = trend.values.at(-1);
  return (
    <div className="trend-chart" ref={box}>
      <svg
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="group"
        aria-label={`Values of ${trend.case}`}
        data-zooms={zoom !== undefined}
        onPointerDown={(event) => {
          if (zoom === undefined || event.button !== 0 || event.pointerType !== "mouse") return;
          const at = withinBox(event);
          setDragged([at, at]);
        }}
        onPointerMove={(event) => {
          if (dragged !== null) setDragged([dragged[0], withinBox(event)]);
        }}
        onPointerLeave={() => {
          setDragged(null);
        }}
        onPointerUp={() => {
          const [from, to] = (dragged ?? [0, 0]).toSorted((a, b) => a - b);
          setDragged(null);
          if (from === undefined || to === undefined || to - from < 12) return;
          zoom?.(place.time(from), place.time(to));
        }}
      >
        {dragged !== null && (
          <rect
            className="chosen"
            x={Math.min(...dragged)}
            width={Math.abs(dragged[1] - dragged[0])}
            y={FRAME.top}
            height={place.bottom - FRAME.top}
          />
        )}
        <Turns
          turns={turnsOf(trend.values)}
          x={place.x}
          right={place.right}
          bottom={place.bottom}
        />
        <text x={4} y={14}>
          {scale.label}
        </text>
        {ticks(place.low, place.high, 4).map((tick) => (
          <g key={tick}>
            <line
              className="grid"
              x1={FRAME.left}
              x2={place.right}
              y1={place.y(tick)}
              y2={place.y(tick)}
            />
            <text x={FRAME.left - 8} y={place.y(tick) + 4} textAnchor="end">
              {scaled(tick, scale)}
            </text>
          </g>
        ))}
        {first && (
          <text x={FRAME.left} y={HEIGHT - 8}>
            {day(first.at)}
          </text>
        )}
        {last && last !== first && (
          <text x={place.right} y={HEIGHT - 8} textAnchor="end">
            {day(last.at)}
          </text>
        )}
        {trend.changes.map((change) => (
          <g key={change.id} data-verdict={change.verdict}>
            <rect
              className="place"
              x={place.x(change.earliest_at) - 4}
              width={Math.max(place.x(change.latest_at) - place.x(change.earliest_at), 0) + 8}
              y={FRAME.top}
              height={place.bottom - FRAME.top}
            />
            <line
              className="change"
              x1={place.x(change.at)}
              x2={place.x(change.at)}
              y1={FRAME.top}
              y2={place.bottom}
            />
            <text
              x={place.x(change.at)}
              y={FRAME.top - 6}
              textAnchor={place.x(change.at) > width * 0.8 ? "end" : "middle"}
            >
              {change.effect_percent === null ? change.verdict : percent(change.effect_percent)}
            </text>
          </g>
        ))}
        {trend.values.map(
          (value) =>
            value.low !== null &&
            value.high !== null && (
              <line
                key={`${value.run_id} ${value.arm}`}
                className="reach"
                x1={place.x(value.at)}
                x2={place.x(value.at)}
                y1={place.y(value.low)}
                y2={place.y(value.high)}
              />
            ),
        )}
        {trend.levels.map((level) => {
          const [from, to] = [trend.values[level.first], trend.values[level.end - 1]];
          if (!from || !to) return null;
          return (
            <line
              key={level.first}
              className="level"
              x1={place.x(from.at) - 4}
              x2={place.x(to.at) + 4}
              y1={place.y(level.mean)}
              y2={place.y(level.mean)}
            />
          );
        })}
        {trend.values.map((value, at) => {
          const to = `/experiments/${value.experiment_id}/cases/${value.case_id}`;
          return (
            <a
              key={`${value.run_id} ${value.arm}`}
              className="value"
              href={to}
              tabIndex={at === stop ? 0 : -1}
              data-outlier={value.outlier}
              aria-label={describe(value, trend.unit)}
              onKeyDown={(event) => {
                walk(event, at);
              }}
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey) return;
                event.preventDefault();
                navigate(to);
              }}
            >
              <title>{describe(value, trend.unit)}</title>
              {/* A target that a finger finds. */}
              <circle
                className="reachable"
                cx={place.x(value.at)}
                cy={place.y(value.value)}
                r={12}
              />
              {edgeOf(value.value, reach) === null && (
                <circle cx={place.x(value.at)} cy={place.y(value.value)} r={4} />
              )}
            </a>
          );
        })}
        <OffScaleMarks
          values={trend.values.map((of) => ({
            key: `${of.run_id} ${of.arm}`,
            x: place.x(of.at),
            value: of.value,
            label: quantity(of.value, trend.unit),
            title: describe(of, trend.unit),
          }))}
          scale={reach}
          y={place.y}
          right={place.right}
        />
      </svg>
    </div>
  );
}
