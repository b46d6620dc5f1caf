import type { WeeklyPicture } from "../api/types";
import { day } from "../format/time";
import { drawing, HEIGHT, WIDTH } from "./layout";

function three(value: number): string {
  return Number(value.toPrecision(3)).toString();
}

/** Values over time with their intervals; what it shows stands in words for who does not see it. */
export function Picture({ picture }: { picture: WeeklyPicture }) {
  const { dots, zero, change } = drawing(picture);
  const [first, last] = [dots[0], dots.at(-1)];
  const values = dots.map((dot) => dot.value);
  const said = dots.map((dot) => `${day(dot.at)}: ${three(dot.value)} ${picture.unit}`).join("; ");
  return (
    <figure className="weekly-picture">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        width={WIDTH}
        height={HEIGHT}
        role="img"
        aria-label={`${picture.title}. ${said}`}
      >
        {zero !== null && <line className="zero" x1={0} x2={WIDTH} y1={zero} y2={zero} />}
        {change !== null && <line className="change" x1={change} x2={change} y1={0} y2={HEIGHT} />}
        {dots.map((dot, at) => (
          <g key={at}>
            <title>{`${day(dot.at)}: ${three(dot.value)} ${picture.unit}`}</title>
            {dot.range && (
              <line className="range" x1={dot.x} x2={dot.x} y1={dot.range[0]} y2={dot.range[1]} />
            )}
            <circle cx={dot.x} cy={dot.y} r={3} />
          </g>
        ))}
        <polyline className="path" points={dots.map((dot) => `${dot.x},${dot.y}`).join(" ")} />
      </svg>
      <figcaption className="faint small">
        {first &&
          last &&
          `${three(first.value)} ${picture.unit} on ${day(first.at)}, ${three(last.value)} ${picture.unit} on ${day(last.at)}; between ${three(Math.min(...values))} and ${three(Math.max(...values))}`}
      </figcaption>
    </figure>
  );
}
