/** The newest values of a trend as a line, in percent of its level. */

const WIDTH = 110;
const HEIGHT = 22;
/** A flat trend stays flat: less than this is not blown up. */
const SMALLEST_SPAN = 4;

export function Sparkline({ values }: { values: number[] }) {
  if (values.length < 2) return null;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const span = Math.max(high - low, SMALLEST_SPAN);
  const middle = (low + high) / 2;
  const points = values.map((value, place) => {
    const x = 1 + (place / (values.length - 1)) * (WIDTH - 2);
    const y = HEIGHT / 2 - ((value - middle) / span) * (HEIGHT - 4);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <svg className="sparkline" width={WIDTH} height={HEIGHT} aria-hidden="true">
      <polyline points={points.join(" ")} />
    </svg>
  );
}
