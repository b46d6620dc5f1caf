import type { Verdict } from "../api/types";
import { endTexts, GLYPH, isInside, leftEnd, placeInGlyph } from "./scale";

const { width: WIDTH, height: HEIGHT, middle: MID, pad: PAD } = GLYPH;

interface GlyphProps {
  effect: number;
  low: number;
  high: number;
  /** Percent at the right end. */
  reach: number;
  verdict: Verdict;
}

/** The interval against zero, on the matrix's scale; an arrowhead where it goes on beyond. */
export function IntervalGlyph({ effect, low, high, reach, verdict }: GlyphProps) {
  const place = (percent: number) => placeInGlyph(percent, reach);
  const y = HEIGHT / 2;
  const [from, to] = [place(low), place(high)];
  return (
    <svg
      className="glyph"
      data-verdict={verdict}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      aria-hidden="true"
    >
      <line className="ground" x1={PAD} x2={WIDTH - PAD} y1={y} y2={y} />
      <line className="zero" x1={MID} x2={MID} y1={0} y2={HEIGHT} />
      <rect
        className="range"
        x={from}
        width={Math.max(1.5, to - from)}
        y={y - 3}
        height={6}
        rx={1}
      />
      {low < leftEnd(reach) && <path className="beyond" d={`M${PAD} ${y - 4}l-5 4 5 4z`} />}
      {high > reach && <path className="beyond" d={`M${WIDTH - PAD} ${y - 4}l5 4-5 4z`} />}
      {isInside(effect, reach) && (
        <line className="point" x1={place(effect)} x2={place(effect)} y1={y - 6} y2={y + 6} />
      )}
    </svg>
  );
}

/** The scale of the glyphs below it. */
export function GlyphAxis({ reach }: { reach: number }) {
  const [left, right] = endTexts(reach);
  return (
    <svg
      className="glyph-axis"
      viewBox={`0 0 ${WIDTH} 18`}
      width={WIDTH}
      height={18}
      role="img"
      aria-label={`Interval bars run from ${left} % to ${right} %`}
    >
      <path d={`M${PAD} 18v-3M${MID} 18v-5M${WIDTH - PAD} 18v-3`} />
      <text x={0} y={10} textAnchor="start">
        {left}
      </text>
      <text x={MID} y={10} textAnchor="middle">
        0
      </text>
      <text x={WIDTH} y={10} textAnchor="end">
        {right} %
      </text>
    </svg>
  );
}
