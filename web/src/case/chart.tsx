/** Every boot as a mark: blocks along, values up, a thin line through the boots of a block. */

import { useState } from "react";
import { useLocation } from "wouter";
import type { Arm, BootPoint, Row } from "../api/types";
import { commonScale, counted, fixed, quantity, type Scale } from "../format/quantity";
import { edgeOf, type Scale as Reach } from "../picture/bulk";
import { OffScaleMarks } from "../picture/off-scale";
import { useWidth } from "../ui/use-width";
import { BOOT_STATE } from "../words";
import { placement, spread, ticks, type Frame } from "./layout";
import { Shape } from "./shape";

const HEIGHT = 340;
const MARGIN = { top: 14, bottom: 40, left: 62 };
const LABELS_FROM_WIDTH = 720;
const LABEL_WIDTH = 150;
const PIXELS_PER_BOOT = 16;
const LANE = 22;

interface ChartProps {
  row: Row;
  arms: Arm[];
  points: BootPoint[];
  iterations: boolean;
  /** What the picture reaches; values beyond it stand at its edge. */
  scale: Reach;
}

/** By block, then by the order they ran in: the order the arrow keys walk. */
function inOrder(points: BootPoint[]): BootPoint[] {
  return points.toSorted((a, b) => a.block - b.block || a.order - b.order);
}

export function Chart({ row, arms, points, iterations, scale: reach }: ChartProps) {
  const [box, available] = useWidth();
  const [, navigate] = useLocation();
  const [shown, setShown] = useState<number | null>(null);
  const [stop, setStop] = useState(0);

  const boots = inOrder(points);
  const values = boots.flatMap((p) => [
    ...(p.mean === null ? [] : [p.mean]),
    ...(iterations ? p.iterations : []),
  ]);
  const isOff = (value: number) => edgeOf(value, reach) !== null;
  const scale = commonScale(
    values.filter((value) => !isOff(value)),
    row.unit,
  );
  const labelled = available >= LABELS_FROM_WIDTH;
  const lane = boots.some((p) => p.mean === null) ? LANE : 0;
  const right = labelled ? LABEL_WIDTH : 14;
  const width = Math.max(available, MARGIN.left + right + boots.length * PIXELS_PER_BOOT);
  const frame: Frame = {
    left: MARGIN.left,
    right: width - right,
    top: MARGIN.top,
    bottom: HEIGHT - MARGIN.bottom - lane,
  };
  const place = placement(boots, frame, reach);
  const at = (p: BootPoint) => ({
    x: place.x(p),
    y: p.mean === null ? frame.bottom + LANE / 2 + 2 : place.y(p.mean),
  });
  const armIndex = (p: BootPoint) => arms.findIndex((arm) => arm.id === p.arm_id);
  const current = boots.find((p) => p.boot_id === shown);

  const walk = (event: React.KeyboardEvent, from: number) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const to =
      by === undefined
        ? { Home: 0, End: boots.length - 1 }[event.key]
        : Math.min(boots.length - 1, Math.max(0, from + by));
    if (to === undefined) return;
    event.preventDefault();
    setStop(to);
    box.current?.querySelectorAll<SVGAElement>("a.dot")[to]?.focus();
  };

  return (
    <div className="chart" ref={box}>
      <div className="chart-scroll">
        <svg
          width={width}
          height={HEIGHT}
          viewBox={`0 0 ${width} ${HEIGHT}`}
          role="group"
          aria-label={`Boots of ${row.case} by block`}
        >
          <Grid
            frame={frame}
            place={place}
            range={[reach.low, reach.high]}
            scale={scale}
            lane={lane}
          />
          <text className="axis-title" x={4} y={frame.top - 3}>
            {scale.label}
          </text>
          <ArmLevels {...{ row, arms, frame, labelled, scale, place, reach }} />
          {place.blocks.map((block) => (
            <polyline
              key={block}
              className="block-line"
              points={boots
                .filter((p) => p.block === block && p.counts && p.mean !== null)
                .map((p) => `${at(p).x},${at(p).y}`)
                .join(" ")}
            />
          ))}
          {iterations &&
            boots.flatMap((p) =>
              p.iterations.map((value, i) => (
                <circle
                  key={`${p.boot_id} ${i}`}
                  className="iteration"
                  cx={place.x(p) + (i - (p.iterations.length - 1) / 2) * 2}
                  cy={place.y(value)}
                  r={1.6}
                  fill={`var(--arm-${armIndex(p)})`}
                />
              )),
            )}
          {boots.map((p, i) => (
            <a
              key={p.boot_id}
              className="dot"
              href={`/boots/${p.boot_id}`}
              tabIndex={i === Math.min(stop, boots.length - 1) ? 0 : -1}
              aria-label={inWords(p, row, p.mean !== null && isOff(p.mean))}
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                event.preventDefault();
                navigate(`/boots/${p.boot_id}`);
              }}
              onKeyDown={(event) => {
                if (event.key === "Escape") setShown(null);
                else walk(event, i);
              }}
              onFocus={() => {
                setShown(p.boot_id);
              }}
              onBlur={() => {
                setShown(null);
              }}
              onMouseEnter={() => {
                setShown(p.boot_id);
              }}
              onMouseLeave={() => {
                setShown(null);
              }}
            >
              <circle className="halo" cx={at(p).x} cy={at(p).y} r={11} />
              {(p.mean === null || !isOff(p.mean)) && (
                <Shape arm={armIndex(p)} {...at(p)} counts={p.counts} />
              )}
            </a>
          ))}
          <OffScaleMarks
            values={boots.flatMap((p) =>
              p.mean === null
                ? []
                : {
                    key: String(p.boot_id),
                    x: place.x(p),
                    value: p.mean,
                    label: quantity(p.mean, row.unit),
                    title: inWords(p, row, true),
                  },
            )}
            scale={reach}
            y={place.y}
            right={frame.right}
          />
        </svg>
        {current && (
          <Tip point={current} row={row} x={at(current).x} y={at(current).y} width={width} />
        )}
      </div>
    </div>
  );
}

function inWords(p: BootPoint, row: Row, isOff: boolean): string {
  const value = p.mean === null ? "no value" : quantity(p.mean, row.unit);
  const state = p.counts ? "" : `, does not count: ${BOOT_STATE[p.state].label}`;
  const off = isOff ? ", off the scale" : "";
  return `boot ${p.boot_id}, ${p.arm}, block ${p.block}, ${value}${off}${state}`;
}

interface GridProps {
  frame: Frame;
  place: ReturnType<typeof placement>;
  range: [number, number];
  scale: Scale;
  lane: number;
}

function Grid({ frame, place, range, scale, lane }: GridProps) {
  const middle = (frame.left + frame.right) / 2;
  const levels = ticks(range[0], range[1], 5);
  const step = ((levels[1] ?? 1) - (levels[0] ?? 0)) * scale.factor;
  const digits = Math.min(6, Math.max(0, -Math.floor(Math.log10(Math.abs(step) || 1) + 1e-9)));
  return (
    <g className="grid">
      {place.blocks.map((block, i) => (
        <g key={block}>
          {i % 2 === 1 && (
            <rect
              className="band"
              x={place.blockLeft(block)}
              width={place.width}
              y={frame.top}
              height={frame.bottom + lane - frame.top}
            />
          )}
          <text
            x={place.blockLeft(block) + place.width / 2}
            y={frame.bottom + lane + 16}
            textAnchor="middle"
          >
            {block}
          </text>
        </g>
      ))}
      {levels.map((value) => (
        <g key={value}>
          <line x1={frame.left} x2={frame.right} y1={place.y(value)} y2={place.y(value)} />
          <text x={frame.left - 8} y={place.y(value) + 4} textAnchor="end">
            {fixed(value * scale.factor, digits)}
          </text>
        </g>
      ))}
      {lane > 0 && (
        <text x={frame.left - 8} y={frame.bottom + LANE / 2 + 6} textAnchor="end">
          no value
        </text>
      )}
      <text className="axis-title" x={middle} y={HEIGHT - 6} textAnchor="middle">
        block
      </text>
    </g>
  );
}

interface LevelProps {
  row: Row;
  arms: Arm[];
  frame: Frame;
  labelled: boolean;
  scale: Scale;
  place: ReturnType<typeof placement>;
  reach: Reach;
}

/** Each arm's mean as a line, named at its right end where there is room. */
function ArmLevels({ row, arms, frame, labelled, scale, place, reach }: LevelProps) {
  const levels = row.cells.flatMap((cell) => {
    const index = arms.findIndex((arm) => arm.id === cell.arm_id);
    const arm = arms[index];
    return cell.mean === null || !arm
      ? []
      : [{ index, arm, mean: cell.mean, y: place.y(cell.mean) }];
  });
  const heights = spread(
    levels.map((level) => level.y),
    16,
    frame.bottom,
  );
  return (
    <g>
      {levels.map((level, i) => (
        <g key={level.arm.id}>
          {edgeOf(level.mean, reach) === null && (
            <line
              className="level"
              stroke={`var(--arm-${level.index})`}
              x1={frame.left}
              x2={frame.right}
              y1={level.y}
              y2={level.y}
            />
          )}
          {labelled && (
            <text className="level-name" x={frame.right + 8} y={(heights[i] ?? level.y) + 4}>
              {level.arm.name} {quantity(level.mean, row.unit, scale)}
            </text>
          )}
        </g>
      ))}
    </g>
  );
}

interface TipProps {
  point: BootPoint;
  row: Row;
  x: number;
  y: number;
  width: number;
}

function Tip({ point: p, row, x, y, width }: TipProps) {
  const side = x > width / 2 ? { right: width - x + 14 } : { left: x + 14 };
  const height = y > HEIGHT / 2 ? { bottom: HEIGHT - y - 12 } : { top: Math.max(0, y - 20) };
  return (
    <div className="tip" style={{ ...side, ...height }} aria-hidden="true">
      <strong>{p.mean === null ? "no value" : quantity(p.mean, row.unit)}</strong>
      <div>
        {p.arm}, block {p.block}, place {p.order}
      </div>
      <div className="soft">
        boot {p.boot_id}, {counted(p.iterations.length, "iteration")}
      </div>
      {!p.counts && (
        <div>
          does not count: {BOOT_STATE[p.state].label}
          <div className="soft">{BOOT_STATE[p.state].meaning}</div>
        </div>
      )}
    </div>
  );
}
