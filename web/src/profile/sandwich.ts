/** One function everywhere it is called: who calls it, and what it calls, as trees of their own. */

import { arranged, cost, GONE, NEW, type Tree } from "./tree";

/** Grows a tree in which a name occurs once below each frame. */
class Merged {
  private readonly at = new Map<number, number>();
  private readonly parent: number[] = [];
  private readonly symbol: number[] = [];
  private readonly a: number[] = [];
  private readonly b: number[] = [];

  constructor(private readonly names: readonly string[]) {}

  /** The frame of `symbol` below `above`, with the cost added. */
  add(above: number, symbol: number, a: number, b: number): number {
    const key = (above + 1) * this.names.length + symbol;
    const node = this.at.get(key) ?? this.grow(key, above, symbol);
    this.a[node] = (this.a[node] ?? 0) + a;
    this.b[node] = (this.b[node] ?? 0) + b;
    return node;
  }

  private grow(key: number, above: number, symbol: number): number {
    const node = this.parent.length;
    this.at.set(key, node);
    this.parent.push(above);
    this.symbol.push(symbol);
    return node;
  }

  tree(): Tree {
    const unknown = new Float32Array(this.parent.length).fill(NaN);
    const flag = (a: number, node: number) => {
      const b = this.b[node] ?? 0;
      if (a > 0 === b > 0) return 0;
      return a > 0 ? GONE : NEW;
    };
    const grown: Tree = {
      parent: Int32Array.from(this.parent),
      symbol: Int32Array.from(this.symbol),
      a: Float32Array.from(this.a),
      b: Float32Array.from(this.b),
      // Intervals of merged frames cannot be had from those of their parts.
      ...{ low: unknown, high: unknown, q: unknown },
      flags: Uint8Array.from(this.a, flag),
    };
    return arranged(grown, this.names);
  }
}

/** The function's frames that are not within another of its frames, and their ends. */
function outermost(tree: Tree, end: Int32Array, symbol: number): number[] {
  const found: number[] = [];
  for (let i = 0; i < tree.symbol.length;) {
    const hit = tree.symbol[i] === symbol;
    if (hit) found.push(i);
    i = hit ? (end[i] ?? tree.symbol.length) : i + 1;
  }
  return found;
}

export interface Sandwich {
  /** Trees whose root is the function. */
  callers: Tree;
  callees: Tree;
  /** Frames of the function that were put together; a recursive call is in its outer one. */
  frames: number;
}

/** Null where the tree does not have the function. */
export function sandwich(
  tree: Tree,
  end: Int32Array,
  names: readonly string[],
  symbol: number,
): Sandwich | null {
  const found = outermost(tree, end, symbol);
  if (found.length === 0) return null;
  const callers = new Merged(names);
  const callees = new Merged(names);
  for (const node of found) {
    addCallers(callers, tree, node);
    addCallees(callees, tree, node, end[node] ?? 0);
  }
  return { callers: callers.tree(), callees: callees.tree(), frames: found.length };
}

function addCallers(into: Merged, tree: Tree, node: number): void {
  const [a, b] = [cost(tree.a, node), cost(tree.b, node)];
  let below = into.add(-1, tree.symbol[node] ?? 0, a, b);
  // The root stands for everything and calls nothing.
  for (let up = tree.parent[node] ?? -1; up > 0; up = tree.parent[up] ?? -1) {
    below = into.add(below, tree.symbol[up] ?? 0, a, b);
  }
}

function addCallees(into: Merged, tree: Tree, from: number, end: number): void {
  const placed = new Int32Array(end - from);
  for (let i = from; i < end; i++) {
    const above = i === from ? -1 : (placed[(tree.parent[i] ?? 0) - from] ?? -1);
    placed[i - from] = into.add(above, tree.symbol[i] ?? 0, cost(tree.a, i), cost(tree.b, i));
  }
}
