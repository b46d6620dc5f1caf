/** Numbers as people read them: a true minus, SI prefixes, digits that fit the interval. */

import type { Bound } from "../api/types";

const MINUS = "\u2212";
const NARROW_SPACE = "\u202f";
const EN_DASH = "\u2013";

/** A metric's unit brought to a readable size: value in unit × factor = number in label. */
export interface Scale {
  factor: number;
  label: string;
}

const DECIMAL_UP: [number, string][] = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];
const RATES = new Set(["bit/s", "B/s", "byte/s", "Hz", "1/s", "op/s", "request/s"]);
const SECONDS: Record<string, number> = { s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 };
const TIME_STEPS: [number, string][] = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "µs"],
  [1e-9, "ns"],
];

/** The scale in which `largest` (in `unit`) has one to four digits before the point. */
export function scaleFor(largest: number, unit: string): Scale {
  const size = Math.abs(largest);
  if (RATES.has(unit)) {
    const [step, prefix] = DECIMAL_UP.find(([at]) => size >= at) ?? [1, ""];
    return { factor: 1 / step, label: prefix + unit };
  }
  const [base = "", ...per] = unit.split("/");
  const seconds = SECONDS[base];
  if (seconds !== undefined) {
    const [step, name] = TIME_STEPS.find(([at]) => size * seconds >= at) ?? [1e-9, "ns"];
    return { factor: seconds / step, label: [size === 0 ? base : name, ...per].join("/") };
  }
  if (unit === "percent") return { factor: 1, label: "%" };
  if (unit === "count" || unit === "") return { factor: 1, label: "" };
  return { factor: 1, label: unit };
}

/** One scale for values shown side by side, chosen by the largest of them. */
export function commonScale(values: readonly number[], unit: string): Scale {
  return scaleFor(
    values.reduce((most, value) => Math.max(most, Math.abs(value)), 0),
    unit,
  );
}

/** A number with `digits` decimals, grouped from five digits on, and U+2212 as minus. */
export function fixed(value: number, digits: number): string {
  if (!Number.isFinite(value)) return "not a number";
  const text = Math.abs(value).toFixed(digits);
  const [whole = "0", fraction] = text.split(".");
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, NARROW_SPACE) : whole;
  const negative = value < 0 && Number(text) !== 0;
  return (negative ? MINUS : "") + (fraction === undefined ? grouped : `${grouped}.${fraction}`);
}

/** Decimals that give `value` four significant digits, at most three after the point. */
function decimals(value: number): number {
  const size = Math.abs(value);
  if (size === 0) return 0;
  return Math.min(3, Math.max(0, 3 - Math.floor(Math.log10(size))));
}

/** The number alone, in the given scale. */
export function scaled(value: number, scale: Scale): string {
  const number = value * scale.factor;
  return fixed(number, scale.label === "" && Number.isInteger(number) ? 0 : decimals(number));
}

/** The numbers alone, side by side, in the given scale. */
export function listed(values: readonly number[], scale: Scale): string {
  return values.map((value) => scaled(value, scale)).join("  ");
}

/** A value with its unit: 1.774 Gbit/s, 371.2 ns, 12, 0.83 %. */
export function quantity(value: number, unit: string, scale = scaleFor(value, unit)): string {
  const number = scaled(value, scale);
  return scale.label === "" ? number : `${number}${NARROW_SPACE}${scale.label}`;
}

/**
 * Decimals that an effect deserves: two when its interval is narrower than 1 %. An end just off
 * zero must not read as zero, since it decides the verdict: one more then. The same rule as in
 * `mitigauge/core/effect.py`.
 */
export function effectDigits(low: number, high: number): number {
  let digits = high - low < 1 ? 2 : 1;
  if (Math.max(Math.abs(low), Math.abs(high)) >= 1000) digits = 0;
  const vanishes = [low, high].some((end) => end !== 0 && Number(end.toFixed(digits)) === 0);
  return vanishes ? digits + 1 : digits;
}

/** Decimals for a percentage: with an interval by its width, alone by its size. */
export function percentDigits(value: number, low?: number, high?: number): number {
  if (low !== undefined && high !== undefined) return effectDigits(low, high);
  if (Math.abs(value) < 1) return 2;
  return Math.abs(value) < 100 ? 1 : 0;
}

/** A number with its sign always shown; zero has none. */
export function signed(value: number, digits: number): string {
  const text = fixed(value, digits);
  return value > 0 && Number(value.toFixed(digits)) !== 0 ? `+${text}` : text;
}

/** Before an effect that is a bound of the true one; screen readers say the words. */
export const BOUND: Record<Bound, { sign: string; words: string }> = {
  exact: { sign: "", words: "" },
  at_least: { sign: "≥\u202f", words: "at least " },
  at_most: { sign: "≤\u202f", words: "at most " },
  nothing: { sign: "≷\u202f", words: "not to be ranked: " },
};

/** A signed percentage: +18.8%, −3.4%. */
export function percent(value: number, digits = percentDigits(value)): string {
  return `${signed(value, digits)}%`;
}

/** Whether an interval of percentages is so wide that its end says nothing. */
export function endless(low: number, high: number): boolean {
  return low <= 0 && high > 1000;
}

/**
 * An interval of percentages without the sign of percent and its brackets: +17.0, +21.8. One that
 * has nothing to say is not spelled out.
 */
export function interval(low: number, high: number, digits = effectDigits(low, high)): string {
  const end = endless(low, high) ? ">+1000" : signed(high, digits);
  return `${signed(low, digits)}, ${end}`;
}

/** A smallest detectable effect; beyond 1000 % it only says that nothing shows. */
export function detectable(value: number): string {
  return value > 1000 ? ">1000%" : percent(value).replace("+", "");
}

/** Bytes in binary units. */
export function bytes(value: number): string {
  const steps = ["B", "KiB", "MiB", "GiB", "TiB"];
  const at = value < 1 ? 0 : Math.min(steps.length - 1, Math.floor(Math.log2(value) / 10));
  const number = value / 1024 ** at;
  return `${fixed(number, at === 0 || number >= 100 ? 0 : 1)}${NARROW_SPACE}${steps[at] ?? ""}`;
}

/** "1 boot", "4 boots". */
export function counted(n: number, noun: string, plural = `${noun}s`): string {
  return `${fixed(n, 0)} ${n === 1 ? noun : plural}`;
}

/** A time left as an honest range: about 4–7 min. Seconds in, words out. */
export function spanOfTime(lowSeconds: number, highSeconds: number): string {
  const high = Math.max(lowSeconds, highSeconds, 0);
  const low = Math.max(0, Math.min(lowSeconds, highSeconds));
  if (high < 60) return "under a minute";
  if (high < 5400) return range(Math.max(1, Math.floor(low / 60)), Math.ceil(high / 60), "min");
  return range(Math.floor(low / 1800) / 2, Math.ceil(high / 1800) / 2, "h");
}

function range(low: number, high: number, unit: string): string {
  return low === high ? `about ${high} ${unit}` : `about ${low}${EN_DASH}${high} ${unit}`;
}

/** A duration to about two digits: 34 s, 12 min, 1 h 20 min, 3 d. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d`;
}
