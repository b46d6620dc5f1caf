/** An effect as it is written everywhere: `+6.5% [+5.0, +8.0]`, digits by the interval's width. */

import type { Effect as Whole } from "../api/types";
import { BOUND, effectDigits, interval, percent, scaled } from "./quantity";

/** What is written of an effect; a row that keeps less is enough. */
export type Effect = Pick<Whole, "value"> & Partial<Whole>;

const PERCENT = "percent";

/** The change and its interval in brackets; empty where there is none. */
export function effectParts(effect: Effect): { change: string; interval: string } {
  const { value, low, high, unit = PERCENT } = effect;
  const known = typeof low === "number" && typeof high === "number";
  if (unit === PERCENT) {
    const digits = known ? effectDigits(low, high) : 1;
    return {
      change: percent(value, digits),
      interval: known ? `[${interval(low, high, digits)}]` : "",
    };
  }
  const size = (of: number) => {
    const text = scaled(Math.abs(of), { factor: 1, label: unit });
    return of < 0 ? `\u2212${text}` : `+${text}`;
  };
  return {
    change: unit === "" ? size(value) : `${size(value)} ${unit}`,
    interval: known ? `[${size(low)}, ${size(high)}]` : "",
  };
}

/** The whole effect in one line: `≥ +0.4% [+0.3, +0.5]`. */
export function effectText(effect: Effect): string {
  const { change, interval: between } = effectParts(effect);
  return `${BOUND[effect.bound ?? "exact"].sign}${change} ${between}`.trim();
}

interface PercentEffect {
  effect_percent?: number | null;
  ci_low_percent?: number | null;
  ci_high_percent?: number | null;
  bound?: Whole["bound"];
}

/** The effect that a row of the API keeps in percent; null where it keeps none. */
export function effectOf(row: PercentEffect): Effect | null {
  const { effect_percent: value, ci_low_percent: low, ci_high_percent: high } = row;
  if (typeof value !== "number") return null;
  return { value, low: low ?? null, high: high ?? null, bound: row.bound ?? "exact" };
}

/** A published change: `+25.2%`, or its lowest and highest. */
export function claimText(low: number, high: number): string {
  return low === high ? percent(low) : `${percent(low)} to ${percent(high)}`;
}
