/** The scale of a picture: that of its bulk, so that no wild value flattens the others. Pure. */

/**
 * So many robust standard deviations from its middle, a value is wild. That is far beyond the 3.5
 * of Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993): a value that is only unusual
 * is what one looks for, and stays in the picture.
 */
const REACH = 8;
/** Standard deviations of a normal distribution in its median absolute deviation. */
const OF_MAD = 1.4826;
/** Values before and after one that say where it should lie: two wild ones in a row are seen. */
const AROUND = 2;
const FEWEST = 5;
/** A middle of fewer says nothing. */
const FEWEST_OF_GROUP = 3;
/** All is shown where that makes the picture of the bulk no flatter than this. */
const WORTHWHILE = 2.5;
/** An interval is drawn as far as the values are apart, or so many times a short one's length. */
const OF_SHORT = 5;

/** Part of the middle below which scatter is none. */
export const LEAST_SCATTER = 0.01;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  if (sorted.length === 0) return NaN;
  const upper = sorted[Math.floor(middle)] ?? NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? NaN) + upper) / 2 : upper;
}

/** Where each value should lie by its neighbours: a step stays one, a spike does not. */
function around(values: readonly number[]): number[] {
  return values.map((_, at) => {
    const from = Math.max(Math.min(at - AROUND, values.length - 2 * AROUND - 1), 0);
    return median(values.slice(from, from + 2 * AROUND + 1));
  });
}

/** All of them, whatever their number: a call takes some ten thousand arguments. */
function span(values: readonly number[]): number {
  return values.length === 0 ? 0 : most(values) - fewest(values);
}

const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b), -Infinity);
const fewest = (values: readonly number[]) => values.reduce((a, b) => Math.min(a, b), Infinity);

/** The wild ones, unless the picture of all is good enough, or nothing else is left. */
function worthwhile(values: readonly number[], wild: boolean[], scatter: number): boolean[] {
  const none = values.map(() => false);
  const bulk = values.filter((_, at) => !wild[at]);
  if (bulk.length === values.length || bulk.length === 0) return none;
  return span(values) > WORTHWHILE * Math.max(span(bulk), scatter) ? wild : none;
}

/**
 * Whether each value lies outside of the bulk, in the order of values; none does where all fit
 * into a picture. `least`: the scatter that is none, in the values' unit.
 */
export function wildOf(values: readonly number[], least: number): boolean[] {
  if (values.length < FEWEST) return values.map(() => false);
  const middles = around(values);
  const off = values.map((value, at) => Math.abs(value - (middles[at] ?? value)));
  const scatter = Math.max(OF_MAD * median(off), least);
  const wild = off.map((distance) => distance > REACH * scatter);
  return worthwhile(values, wild, scatter);
}

/**
 * The same of values that have no order, such as the boots of several arms: each group has its own
 * middle, so that an arm which is far from the others stays in the picture. A group's scatter is
 * that of all, or its own where that is larger.
 */
export function wildOfGroups(groups: readonly (readonly number[])[], least: number): boolean[][] {
  const all = groups.flat();
  const offs = groups.map((values) => {
    const middle = median(values);
    return values.map((value) => Math.abs(value - middle));
  });
  const common = Math.max(OF_MAD * median(offs.flat()), least);
  const wild = offs.flatMap((off) => {
    const scatter = Math.max(common, OF_MAD * median(off));
    return off.map((distance) => off.length >= FEWEST_OF_GROUP && distance > REACH * scatter);
  });
  const found = all.length < FEWEST ? all.map(() => false) : worthwhile(all, wild, common);
  let from = 0;
  return groups.map((values) => found.slice(from, (from += values.length)));
}

/** The scatter that is none, of values with a middle. */
export function leastOf(values: readonly number[]): number {
  return LEAST_SCATTER * Math.abs(median(values)) || Number.MIN_VALUE;
}

export interface Scale {
  low: number;
  high: number;
}

/** A value with the ends of its interval, where it has one. */
export interface Ranged {
  value: number;
  low?: number | null;
  high?: number | null;
}

interface Wanted {
  /** Whether a group's values stand in the order of time or load: their neighbours are the measure. */
  inOrder: boolean;
  /** What must lie in the picture: 0, a level. */
  inside?: readonly number[];
}

const isNumber = (value: number | null | undefined): value is number =>
  typeof value === "number" && Number.isFinite(value);

function endsOf(point: Ranged): number[] {
  return [point.low, point.high].filter(isNumber);
}

/**
 * The scale of all that is drawn, less wild values and the ends of intervals that are far longer
 * than others. It has no air around it. What it does not reach is drawn at its edge (`edgeOf`).
 */
export function robustScale(
  groups: readonly (readonly Ranged[])[],
  { inOrder, inside = [] }: Wanted,
): Scale {
  const drawn = groups.map((points) => points.filter(({ value }) => Number.isFinite(value)));
  const values = drawn.map((points) => points.map(({ value }) => value));
  const wild = inOrder
    ? values.map((each) => wildOf(each, leastOf(each)))
    : wildOfGroups(values, leastOf(values.flat()));
  const bulk = drawn.flatMap((points, group) => points.filter((_, at) => !wild[group]?.[at]));
  const kept = [...bulk.map(({ value }) => value), ...inside];
  if (kept.length === 0) return { low: 0, high: 1 };
  const [low, high] = [fewest(kept), most(kept)];
  const lengths = bulk
    .flatMap((point) => endsOf(point).map((end) => Math.abs(end - point.value)))
    .sort((a, b) => a - b);
  const short = lengths[Math.floor((lengths.length - 1) / 4)] ?? 0;
  const limit = Math.max(high - low, OF_SHORT * short) || Infinity;
  const ends = bulk.flatMap(endsOf);
  return {
    low: Math.max(fewest([low, ...ends]), low - limit),
    high: Math.min(most([high, ...ends]), high + limit),
  };
}

/** The scale with a tenth of air on both sides, never empty. */
export function aired({ low, high }: Scale): Scale {
  const air = high > low ? (high - low) * 0.1 : Math.abs(high) * 0.05 || 1;
  return { low: low - air, high: high + air };
}

/** At which edge a value is drawn that the scale does not reach; null: it lies inside. */
export function edgeOf(value: number, { low, high }: Scale): "above" | "below" | null {
  if (value > high) return "above";
  return value < low ? "below" : null;
}

/** The value, or the edge that is nearest to it. */
export function clamped(value: number, { low, high }: Scale): number {
  return Math.min(Math.max(value, low), high);
}

/** Values off the scale that are named; all of them have a mark. */
const MOST_NAMED = 4;

/** "3 values off the scale, at its edge: …" of those values in words, the oldest first; else "". */
export function offScaleInWords(values: readonly string[]): string {
  if (values.length === 0) return "";
  const named = values.slice(-MOST_NAMED);
  const others = values.length - named.length;
  const count = `${values.length} value${values.length === 1 ? "" : "s"}`;
  return `${count} off the scale, at its edge: ${named.join(", ")}${others > 0 ? ` and ${others} older` : ""}.`;
}
