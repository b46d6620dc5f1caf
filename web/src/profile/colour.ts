/** Which shade a frame has. The scale is fixed, so that the same shade means the same everywhere. */

import { cost, GONE, NEW, selfCosts, type Tree } from "./tree";

export const COLOURS = ["diff", "self", "change"] as const;
export type Colour = (typeof COLOURS)[number];

export interface Look {
  colour: Colour;
  /** Whether frames without a significant difference are grey. */
  greying: boolean;
}

/** Upper ends of the shades, in percent: of the total, or of the frame itself. */
export const LIMITS: Record<Colour, readonly number[]> = {
  diff: [0.1, 0.3, 1, 3, 10],
  self: [0.1, 0.3, 1, 3, 10],
  change: [1, 3, 10, 30, 100],
};

export const SIGNIFICANT_Q = 0.05;

/** Shades from much less to much more; the middle one is "about the same". */
export const EVEN = 5;
export const STRONGEST = 10;
export const GREY = 11;
export const SHADES = 12;

/** The shade of a percentage: EVEN below the first limit, one further at each limit. */
export function shadeOf(percent: number, limits: readonly number[]): number {
  if (Number.isNaN(percent)) return GREY;
  const size = Math.abs(percent);
  let steps = 0;
  while (steps < limits.length && size >= (limits[steps] ?? Infinity)) steps++;
  return percent < 0 ? EVEN - steps : EVEN + steps;
}

/** Change in percent of a; null where a is nothing, for that has no percentage. */
export function change(a: number, b: number): number | null {
  return a > 0 ? ((b - a) / a) * 100 : null;
}

/** What differences are set against: all that a costs, or b where a is empty. */
export function reference(tree: Tree): number {
  return cost(tree.a, 0) || cost(tree.b, 0);
}

export function isSignificant(q: number): boolean {
  return q <= SIGNIFICANT_Q;
}

interface Selves {
  a: Float64Array;
  b: Float64Array;
}

const SELVES = new WeakMap<Tree, Selves>();

/** What the frames cost without their children; worked out once a tree. */
function selvesOf(tree: Tree): Selves {
  const known = SELVES.get(tree);
  if (known !== undefined) return known;
  const found = { a: selfCosts(tree, "a"), b: selfCosts(tree, "b") };
  SELVES.set(tree, found);
  return found;
}

export function shade(tree: Tree, node: number, whole: number, look: Look): number {
  if (look.greying && !isSignificant(tree.q[node] ?? NaN)) return GREY;
  const [a, b] = [cost(tree.a, node), cost(tree.b, node)];
  if (look.colour === "diff") return shadeOf(((b - a) / whole) * 100, LIMITS.diff);
  if (look.colour === "self") {
    const self = selvesOf(tree);
    return shadeOf((((self.b[node] ?? 0) - (self.a[node] ?? 0)) / whole) * 100, LIMITS.self);
  }
  const flag = tree.flags[node] ?? 0;
  if (flag === NEW) return STRONGEST;
  if (flag === GONE) return 0;
  return shadeOf(change(a, b) ?? NaN, LIMITS.change);
}
