/** An interval against zero as marks: the same as `IntervalGlyph`, for a drawing without the page. */

import type { Verdict } from "../api/types";
import type { Tone } from "../picture/colours";
import type { Graphic, Mark } from "../picture/table-drawing";
import { GLYPH, isInside, leftEnd, placeInGlyph } from "./scale";

export function toneOf(verdict: Verdict | null | undefined): Tone {
  return verdict === "worse" || verdict === "better" ? verdict : "soft";
}

interface Interval {
  effect: number;
  low: number;
  high: number;
  /** Percent at the right end. */
  reach: number;
  verdict: Verdict;
}

export function glyphMarks({ effect, low, high, reach, verdict }: Interval): Graphic {
  const { width, height, middle, pad } = GLYPH;
  const tone = toneOf(verdict);
  const y = height / 2;
  const [from, to] = [placeInGlyph(low, reach), placeInGlyph(high, reach)];
  const marks: Mark[] = [
    { kind: "line", x1: pad, x2: width - pad, y1: y, y2: y, tone: "line" },
    { kind: "line", x1: middle, x2: middle, y1: 0, y2: height, tone: "line" },
    {
      ...{ kind: "box", x: from, y: y - 3, width: Math.max(1.5, to - from), height: 6 },
      tone,
    },
  ];
  if (low < leftEnd(reach)) marks.push({ kind: "tip", x: pad - 5, y, towards: "left", tone });
  if (high > reach) marks.push({ kind: "tip", x: width - pad + 5, y, towards: "right", tone });
  if (isInside(effect, reach)) {
    const x = placeInGlyph(effect, reach);
    marks.push({ kind: "line", x1: x, x2: x, y1: y - 6, y2: y + 6, tone, width: 2 });
  }
  return { width, height, marks };
}
