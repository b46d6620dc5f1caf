/** Lines of arms over seconds, each with the range of its boots. */

import { edgeOf } from "../picture/bulk";
import { OffScaleMarks } from "../picture/off-scale";
import { useWidth } from "../ui/use-width";
import { ticks } from "./layout";
import {
  plotPlace,
  plotScale,
  type PlotLine,
  rangePath,
  secondsOf,
  valuePath,
} from "./plot-layout";
import { ARM_COLOURS } from "./shape";

interface PlotProps {
  seconds: number[];
  lines: PlotLine[];
  /** What a value is multiplied by to be in the unit that is shown. */
  factor: number;
  /** A number of that unit on the axis. */
  shown: (value: number) => string;
  /** The same with its unit, where there is room. */
  inWords: (value: number) => string;
}

const HEIGHT = 150;
const FRAME = { left: 50, right: 8, top: 10, bottom: 26 };
const SMALLEST = 120;
/** Fewer values than that are marks, too: a line of one would not show. */
const MARKS_BELOW = 3;
const PIXELS_PER_TICK = 70;

export function Plot({ seconds, lines, factor, shown, inWords }: PlotProps) {
  const [box, available] = useWidth();
  const width = Math.max(available, SMALLEST);
  const frame = { ...FRAME, right: width - FRAME.right, bottom: HEIGHT - FRAME.bottom };
  const scale = plotScale(seconds, lines);
  const place = plotPlace(frame, seconds, scale);
  const marked = lines.every((line) => line.values.length < MARKS_BELOW);
  const drawn = lines.map((line) => ({ arm: line.arm, points: secondsOf(seconds, line) }));
  const along = ticks(seconds[0] ?? 0, seconds.at(-1) ?? 1, Math.floor(width / PIXELS_PER_TICK));
  const off = drawn
    .flatMap(({ arm, points }) =>
      points
        .filter((point) => edgeOf(point.value, scale) !== null)
        .map(({ second, value }) => ({
          ...{ key: `${arm} ${second}`, x: place.x(second), value, label: inWords(value) },
          title: `${inWords(value)} at ${second} s, off the scale`,
        })),
    )
    .sort((a, b) => a.x - b.x);
  // The figures stand in the legend as text.
  return (
    <div className="plot" ref={box} aria-hidden="true">
      <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`}>
        {ticks(scale.low * factor, scale.high * factor, 3).map((tick) => {
          const y = place.y(tick / factor);
          return (
            <g key={tick}>
              <line x1={frame.left} x2={frame.right} y1={y} y2={y} />
              <text x={frame.left - 6} y={y + 4} textAnchor="end">
                {shown(tick)}
              </text>
            </g>
          );
        })}
        {along.map((tick) => (
          <text key={tick} x={place.x(tick)} y={HEIGHT - 8} textAnchor="middle">
            {tick} s
          </text>
        ))}
        {drawn.map(({ arm, points }, at) => {
          const colour = `var(--arm-${arm % ARM_COLOURS})`;
          return (
            <g key={at}>
              <path className="band" d={rangePath(points, place)} fill={colour} />
              <path className="line" d={valuePath(points, place)} stroke={colour} />
              {marked &&
                points.map((point) => (
                  <circle
                    key={point.second}
                    cx={place.x(point.second)}
                    cy={place.y(point.value)}
                    r={2.5}
                    fill={colour}
                  />
                ))}
            </g>
          );
        })}
        <OffScaleMarks values={off} scale={scale} y={place.y} right={frame.right} size={4} />
      </svg>
    </div>
  );
}
