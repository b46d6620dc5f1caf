/** What the shades mean, in numbers. */

import { fixed } from "../format/quantity";
import { EVEN, LIMITS, type Look } from "./colour";
import type { Palette } from "./palette";
import { costText } from "./words";

const MINUS = "\u2212";

interface LegendProps {
  look: Look;
  palette: Palette;
  whole: number;
  unit: string;
  /** Whether there is any q; if not, everything is grey. */
  known: boolean;
}

function bound(percent: number): string {
  return fixed(percent, percent < 1 ? 1 : 0);
}

export function Legend({ look, palette, whole, unit, known }: LegendProps) {
  const limits = LIMITS[look.colour];
  const ends = [...limits.toReversed().map((n) => MINUS + bound(n)), ...limits.map(bound)];
  const first = limits[0] ?? 0;
  const of = look.colour === "change" ? "what the frame costs in A" : "all that A costs";
  return (
    <div className="legend small">
      <div className="legend-scale">
        <span className="legend-end">less in B</span>
        <div className="legend-steps" aria-hidden="true">
          {palette.fill.slice(0, EVEN * 2 + 1).map((colour, shade) => (
            <span key={shade} className="legend-step">
              <span className="swatch" style={{ background: colour }} />
              <span className="legend-number">{ends[shade] ?? ""}</span>
            </span>
          ))}
        </div>
        <span className="legend-end">more in B</span>
      </div>
      <p className="soft">
        Colour: difference B {MINUS} A{" "}
        {look.colour === "self" && "of the frame’s own cost, without what it calls, "}in % of {of}
        {look.colour !== "change" && ` (${costText(whole, unit)})`}; a fixed scale, no colour within
        ±{bound(first)} %.
      </p>
      <ul>
        {look.greying && (
          <li>
            <span className="swatch" style={{ background: palette.fill.at(-1) }} /> q above 0.05 or
            unknown
          </li>
        )}
        <li>
          <span className="swatch" data-hatch="new" /> new: only in B
        </li>
        <li>
          <span className="swatch" data-hatch="gone" /> gone: only in A
        </li>
      </ul>
      {look.greying && !known && (
        <p role="note">
          No q is known here, so every frame is grey. Turn the greying off to see the differences.
        </p>
      )}
    </div>
  );
}
