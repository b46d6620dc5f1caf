/** The newest values of a trend as a line, in percent of its level. */

import { wildOf } from "../picture/bulk";

const WIDTH = 110;
const HEIGHT = 22;
/** A flat trend stays flat: less than this is not blown up. */
const SMALLEST_SPAN = 4;
/** Percent of the level that are no scatter. */
const LEAST = 1;

export function Sparkline({ values }: { values: number[] }) {
  if (values.length < 2) return null;
  const wild = wildOf(values, LEAST);
  const bulk = values.filter((_, at) => !wild[at]);
  const [low, high] = [Math.min(...bulk), Math.max(...bulk)];
  const span = Math.max(high - low, SMALLEST_SPAN);
  const middle = (low + high) / 2;
  const places = values.map((value, place) => {
    const x = 1 + (place / (values.length - 1)) * (WIDTH - 2);
    const y = HEIGHT / 2 - ((value - middle) / span) * (HEIGHT - 4);
    return { x, y: Math.min(Math.max(y, 1), HEIGHT - 1) };
  });
  const beyond = wild.filter((is) => is).length;
  return (
    <>
      <svg className="sparkline" width={WIDTH} height={HEIGHT} aria-hidden="true">
        <polyline points={places.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")} />
        {places.map(
          ({ x, y }, at) =>
            wild[at] && <circle key={at} className="beyond" cx={x} cy={y} r={2.5} />,
        )}
      </svg>
      {beyond > 0 && <span className="faint small nowrap"> {beyond} off the scale, of</span>}
    </>
  );
}
