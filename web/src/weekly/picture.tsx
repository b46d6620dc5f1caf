import type { WeeklyPicture } from "../api/types";
import { day } from "../format/time";
import { offScaleInWords } from "../picture/bulk";
import { type Table, withUnit } from "../picture/csv";
import { Keep } from "../picture/keep";
import { OffScaleMarks } from "../picture/off-scale";
import { drawing, HEIGHT, WIDTH } from "./layout";

function three(value: number): string {
  return Number(value.toPrecision(3)).toString();
}

function tableOf({ points, unit }: WeeklyPicture): Table {
  return {
    columns: ["at", ...["value", "low", "high"].map((name) => withUnit(name, unit))],
    rows: points.map(({ at, value, low, high }) => [at, value, low ?? null, high ?? null]),
  };
}

/** Values over time with their intervals; what it shows stands in words for who does not see it. */
export function Picture({ picture }: { picture: WeeklyPicture }) {
  const { unit } = picture;
  const { dots, zero, change, scale, y } = drawing(picture);
  const [first, last] = [dots[0], dots.at(-1)];
  const values = dots.map((dot) => dot.value);
  const inWords = (dot: (typeof dots)[number]) => `${day(dot.at)}: ${three(dot.value)} ${unit}`;
  const outside = offScaleInWords(dots.filter((dot) => dot.edge !== null).map(inWords));
  return (
    <figure className="weekly-picture">
      <Keep title={picture.title} lines={[unit, outside]} table={() => tableOf(picture)} quiet>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          width={WIDTH}
          height={HEIGHT}
          role="img"
          aria-label={`${picture.title}. ${dots.map(inWords).join("; ")}. ${outside}`.trim()}
        >
          {zero !== null && <line className="zero" x1={0} x2={WIDTH} y1={zero} y2={zero} />}
          {change !== null && (
            <line className="change" x1={change} x2={change} y1={0} y2={HEIGHT} />
          )}
          {dots.map((dot, at) => (
            <g key={at}>
              <title>{inWords(dot)}</title>
              {dot.range && (
                <line className="range" x1={dot.x} x2={dot.x} y1={dot.range[0]} y2={dot.range[1]} />
              )}
              {dot.edge === null && <circle cx={dot.x} cy={dot.y} r={3} />}
            </g>
          ))}
          <polyline className="path" points={dots.map((dot) => `${dot.x},${dot.y}`).join(" ")} />
          <OffScaleMarks
            values={dots.map((dot, at) => ({
              ...{ key: String(at), x: dot.x, value: dot.value },
              ...{ label: `${three(dot.value)} ${unit}`, title: `${inWords(dot)}, off the scale` },
            }))}
            {...{ scale, y }}
            right={WIDTH}
            size={5}
          />
        </svg>
      </Keep>
      <figcaption className="faint small">
        {first &&
          last &&
          `${three(first.value)} ${unit} on ${day(first.at)}, ${three(last.value)} ${unit} on ${day(last.at)}; between ${three(Math.min(...values))} and ${three(Math.max(...values))}`}
      </figcaption>
    </figure>
  );
}
