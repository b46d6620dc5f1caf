/** Where two profiles differ beyond chance: the frames, the part that holds them, the functions. */

import { isSignificant } from "./colour";
import type { Functions } from "./decode";
import { cost, type Tree } from "./tree";

/** Of the significant difference, what the part that the graph opens with must hold. */
export const ENOUGH = 0.9;

export interface Part {
  /** The frame to zoom to; 0 is the whole graph. */
  zoom: number;
  /** The frame in it that differs most. */
  most: number;
  /** Which share of the significant difference it holds. */
  share: number;
  /** Frames that differ by themselves, within it and in the whole graph. */
  inside: number;
  all: number;
}

/**
 * What each frame differs by where it is the last significant one of its stacks, else 0: its
 * callers are significant for no more than the same difference.
 */
function lastSignificant(tree: Tree): Float64Array {
  const count = tree.parent.length;
  const above = new Uint8Array(count);
  const weight = new Float64Array(count);
  for (let i = count - 1; i >= 0; i--) {
    const significant = isSignificant(tree.q[i] ?? NaN);
    if (significant && above[i] === 0) weight[i] = Math.abs(cost(tree.b, i) - cost(tree.a, i));
    const parent = tree.parent[i] ?? -1;
    if (parent >= 0 && (significant || above[i] === 1)) above[parent] = 1;
  }
  return weight;
}

/** What each frame holds of a weight with all that it calls. */
function held(tree: Tree, weight: Float64Array): Float64Array {
  const sum = weight.slice();
  for (let i = sum.length - 1; i > 0; i--) {
    const above = tree.parent[i] ?? 0;
    sum[above] = (sum[above] ?? 0) + (sum[i] ?? 0);
  }
  return sum;
}

/**
 * The smallest part of the tree that holds `share` of the weight, with something beside what
 * weighs: a frame that holds it all by itself is shown within its caller.
 */
function smallest(tree: Tree, end: Int32Array, weight: Float64Array, share: number): number {
  const sums = held(tree, weight);
  const least = (sums[0] ?? 0) * share * (1 - 1e-9);
  let at = 0;
  for (;;) {
    let into = -1;
    const behind = end[at] ?? 0;
    for (let child = at + 1; child < behind; child = end[child] ?? behind) {
      if ((sums[child] ?? 0) >= least) into = child;
    }
    if (into < 0 || (weight[into] ?? 0) >= least) return at;
    at = into;
  }
}

function heaviest(weight: Float64Array, from: number, to: number): number {
  let most = from;
  for (let i = from; i < to; i++) if ((weight[i] ?? 0) > (weight[most] ?? 0)) most = i;
  return most;
}

function counted(weight: Float64Array, from: number, to: number): number {
  return weight.subarray(from, to).reduce((sum, value) => sum + Number(value > 0), 0);
}

/** The part that the graph opens with; null where no frame differs beyond chance. */
export function differingPart(tree: Tree, end: Int32Array): Part | null {
  const weight = lastSignificant(tree);
  const sums = held(tree, weight);
  const whole = sums[0] ?? 0;
  if (!(whole > 0)) return null;
  const zoom = smallest(tree, end, weight, ENOUGH);
  const behind = end[zoom] ?? 0;
  return {
    zoom,
    most: heaviest(weight, zoom, behind),
    share: (sums[zoom] ?? 0) / whole,
    inside: counted(weight, zoom, behind),
    all: counted(weight, 0, weight.length),
  };
}

/** The part that holds every frame of a function, and the frame of it that costs most. */
export function partOf(
  tree: Tree,
  end: Int32Array,
  symbol: number,
): Pick<Part, "zoom" | "most"> | null {
  const weight = new Float64Array(tree.parent.length);
  let [frames, only] = [0, 0];
  for (let i = 0; i < weight.length; i++) {
    if (tree.symbol[i] !== symbol) continue;
    [frames, only] = [frames + 1, i];
    // Frames that cost nothing on either side still are where the function is.
    weight[i] = Math.max(cost(tree.a, i), cost(tree.b, i), Number.MIN_VALUE);
  }
  if (frames === 0) return null;
  const most = heaviest(weight, 0, weight.length);
  const calls = (end[only] ?? 0) > only + 1;
  if (frames === 1 && calls) return { zoom: only, most };
  const presence = weight.map((value) => Number(value > 0));
  return { zoom: smallest(tree, end, presence, 1), most };
}

/** Rows of the functions whose own cost differs beyond chance, the largest difference first. */
export function differingFunctions({ self }: Functions): number[] {
  const size = (row: number) => Math.abs((self.b[row] ?? 0) - (self.a[row] ?? 0));
  return [...self.q.keys()]
    .filter((row) => isSignificant(self.q[row] ?? NaN) && size(row) > 0)
    .sort((x, y) => size(y) - size(x));
}
