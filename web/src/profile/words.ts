/** Costs and differences as the pages say them. */

import { commonScale, fixed, percent, quantity, scaled, type Scale } from "../format/quantity";
import { change, type Look } from "./colour";
import { cost, GONE, NEW, type Tree } from "./tree";

const NARROW_SPACE = "\u202f";

export function costText(value: number, unit: string): string {
  return quantity(Math.max(0, value), unit);
}

/** A cost beside others, in the scale they share and without its unit. */
export function bare(value: number, scale: Scale): string {
  if (!Number.isFinite(value)) return "unknown";
  return scaled(value, scale);
}

export function signedBare(value: number, scale: Scale): string {
  return (value > 0 ? "+" : "") + bare(value, scale);
}

function withUnit(text: string, scale: Scale): string {
  return scale.label === "" ? text : `${text}${NARROW_SPACE}${scale.label}`;
}

/** +12.3 ns/op (+10.1 … +14.5); without an interval where none is known. */
export function differenceText(difference: number, low: number, high: number, unit: string) {
  const known = !Number.isNaN(low) && !Number.isNaN(high);
  const scale = commonScale(known ? [difference, low, high] : [difference], unit);
  const text = withUnit(signedBare(difference, scale), scale);
  return known ? `${text} (${signedBare(low, scale)} … ${signedBare(high, scale)})` : text;
}

/** Both ends, without a unit; "unknown" where there is none. */
export function intervalText(low: number, high: number, scale: Scale): string {
  if (Number.isNaN(low) || Number.isNaN(high)) return "unknown";
  return `${signedBare(low, scale)} … ${signedBare(high, scale)}`;
}

export function qText(q: number): string {
  if (Number.isNaN(q)) return "unknown";
  return q < 0.001 ? "< 0.001" : fixed(q, 3);
}

/** Relative change; what is new or gone has a word instead of a percentage. */
export function changeText(a: number, b: number): string {
  if (!(a > 0)) return b > 0 ? "new" : "none";
  return b > 0 ? percent(change(a, b) ?? 0) : "gone";
}

export function shareText(value: number, whole: number): string {
  const share = whole > 0 ? (value / whole) * 100 : 0;
  return `${fixed(share, share > 0 && share < 1 ? 2 : 1)}${NARROW_SPACE}%`;
}

/** "new" or "gone", or null. */
export function fateOf(tree: Tree, node: number): "new" | "gone" | null {
  const flag = tree.flags[node] ?? 0;
  if (flag & NEW) return "new";
  return flag & GONE ? "gone" : null;
}

/** The frame in one sentence, as a screen reader hears it. */
export function frameInWords(
  tree: Tree,
  node: number,
  name: string,
  unit: string,
  whole: number,
): string {
  const [a, b] = [cost(tree.a, node), cost(tree.b, node)];
  const q = tree.q[node] ?? NaN;
  const parts = [
    name,
    fateOf(tree, node),
    `a ${costText(a, unit)}`,
    `b ${costText(b, unit)}`,
    `difference ${differenceText(b - a, tree.low[node] ?? NaN, tree.high[node] ?? NaN, unit)}`,
    `${shareText(Math.abs(b - a), whole)} of the total`,
    `q ${qText(q)}`,
  ];
  return parts.filter((part) => part !== null).join(", ");
}

const OF: Record<Look["colour"], string> = {
  diff: "B − A in % of all that A costs",
  self: "B − A of the frame's own cost in % of all that A costs",
  change: "B − A in % of what the frame costs in A",
};

/** What the colours of a picture mean, for who sees it without the page. */
export function legend({ colour, greying }: Look, whole: number, unit: string): string {
  const all = colour === "change" ? "" : ` (${costText(whole, unit)})`;
  const grey = greying ? "; grey: q above 0.05 or unknown" : "";
  return `width: cost; colour: ${OF[colour]}${all}, orange more, blue less${grey}`;
}
