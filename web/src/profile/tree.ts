/** A tree of frames as columns of numbers: parents before children, a subtree in one run. */

/** Exact totals come as doubles. */

export interface Tree {
  /** −1 for the root, which is node 0. */
  readonly parent: Int32Array;
  /** Place in the list of names. */
  readonly symbol: Int32Array;
  /** Inclusive cost in each group, in the profile's unit. */
  readonly a: Float32Array;
  readonly b: Float32Array;
  /** The 95 % interval of b − a and its q; NaN where unknown. */
  readonly low: Float32Array;
  readonly high: Float32Array;
  readonly q: Float32Array;
  readonly flags: Uint8Array;
}

/** Only in b; only in a. */
export const NEW = 1;
export const GONE = 2;

/** What a frame costs: never negative, nothing where it is not known. */
export function cost(values: Float32Array, node: number): number {
  const value = values[node] ?? 0;
  return value > 0 ? value : 0;
}

/** The order of the service, which sends siblings so; nobody reads it as a list. */
function byCode(x: string, y: string): number {
  return x < y ? -1 : Number(x > y);
}

/** For each symbol its place in the order of names. */
function ranks(names: readonly string[]): Int32Array {
  const place = new Map(names.toSorted(byCode).map((name, i) => [name, i]));
  const rank = new Int32Array(names.length);
  for (const [symbol, name] of names.entries()) rank[symbol] = place.get(name) ?? 0;
  return rank;
}

/** Whether subtrees are in one run and siblings in the order of `rank`. */
function isArranged({ parent, symbol }: Tree, rank: Int32Array): boolean {
  const last = new Int32Array(parent.length).fill(-1);
  for (let i = 1; i < parent.length; i++) {
    const above = parent[i] ?? 0;
    let at = i - 1;
    while (at > above) at = parent[at] ?? 0;
    const place = rank[symbol[i] ?? 0] ?? 0;
    if (at !== above || place < (last[above] ?? 0)) return false;
    last[above] = place;
  }
  return true;
}

/** First child and next sibling of each node, siblings in the order of `rank`. */
interface Kin {
  first: Int32Array;
  next: Int32Array;
}

/** Where a frame has more children than this, going along them for each takes too long. */
const FEW_CHILDREN = 32;

/** Goes through the nodes as they lie in memory, which is fast; null where a frame has many. */
function kinInPlace({ parent, symbol }: Tree, rank: Int32Array): Kin | null {
  const first = new Int32Array(parent.length).fill(-1);
  const next = new Int32Array(parent.length).fill(-1);
  for (let node = parent.length - 1; node > 0; node--) {
    const above = parent[node] ?? 0;
    const place = rank[symbol[node] ?? 0] ?? 0;
    let before = -1;
    let after = first[above] ?? -1;
    let steps = 0;
    while (after >= 0 && (rank[symbol[after] ?? 0] ?? 0) < place) {
      if (++steps > FEW_CHILDREN) return null;
      before = after;
      after = next[after] ?? -1;
    }
    next[node] = after;
    if (before < 0) first[above] = node;
    else next[before] = node;
  }
  return { first, next };
}

/** The same from all nodes in the order of their names: slower, however many children. */
function kinByName(tree: Tree, rank: Int32Array): Kin {
  const { parent } = tree;
  const first = new Int32Array(parent.length).fill(-1);
  const next = new Int32Array(parent.length).fill(-1);
  const sorted = byRank(tree, rank);
  for (let i = sorted.length - 1; i >= 0; i--) {
    const node = sorted[i] ?? 0;
    const above = parent[node] ?? -1;
    if (above < 0) continue;
    next[node] = first[above] ?? -1;
    first[above] = node;
  }
  return { first, next };
}

/** The nodes by the rank of their names, counted instead of compared. */
function byRank({ symbol }: Tree, rank: Int32Array): Int32Array {
  const start = new Int32Array(rank.length + 1);
  for (const s of symbol) {
    const slot = (rank[s] ?? 0) + 1;
    start[slot] = (start[slot] ?? 0) + 1;
  }
  for (let i = 1; i < start.length; i++) start[i] = (start[i] ?? 0) + (start[i - 1] ?? 0);
  const nodes = new Int32Array(symbol.length);
  for (let i = 0; i < symbol.length; i++) {
    const place = rank[symbol[i] ?? 0] ?? 0;
    const slot = start[place] ?? 0;
    nodes[slot] = i;
    start[place] = slot + 1;
  }
  return nodes;
}

/** The nodes in preorder, siblings in the order of `rank`. */
function preorder(tree: Tree, rank: Int32Array): Int32Array {
  const { parent } = tree;
  const { first, next } = kinInPlace(tree, rank) ?? kinByName(tree, rank);
  const order = new Int32Array(parent.length);
  let node = 0;
  for (let count = 0; count < order.length; count++) {
    order[count] = node;
    let down = first[node] ?? -1;
    while (down < 0 && node >= 0) {
      down = next[node] ?? -1;
      node = parent[node] ?? -1;
    }
    node = down;
  }
  return order;
}

function permuted(tree: Tree, order: Int32Array): Tree {
  const placed = new Int32Array(order.length);
  for (let i = 0; i < order.length; i++) placed[order[i] ?? 0] = i;
  const floats = (from: Float32Array) => {
    const to = new Float32Array(order.length);
    for (let i = 0; i < order.length; i++) to[i] = from[order[i] ?? 0] ?? 0;
    return to;
  };
  const parent = new Int32Array(order.length);
  const symbol = new Int32Array(order.length);
  const flags = new Uint8Array(order.length);
  for (let i = 0; i < order.length; i++) {
    const from = order[i] ?? 0;
    const above = tree.parent[from] ?? -1;
    parent[i] = above < 0 ? -1 : (placed[above] ?? 0);
    symbol[i] = tree.symbol[from] ?? 0;
    flags[i] = tree.flags[from] ?? 0;
  }
  const { a, b, low, high, q } = tree;
  return {
    ...{ parent, symbol, flags },
    ...{ a: floats(a), b: floats(b), low: floats(low), high: floats(high), q: floats(q) },
  };
}

/** The same tree in preorder with siblings by name; the given one if it is so already. */
export function arranged(tree: Tree, names: readonly string[]): Tree {
  const rank = ranks(names);
  return isArranged(tree, rank) ? tree : permuted(tree, preorder(tree, rank));
}

/** From the root down to the node, both included. */
export function pathTo(tree: Tree, node: number): number[] {
  const path: number[] = [];
  for (let at = node; at >= 0; at = tree.parent[at] ?? -1) path.push(at);
  return path.reverse();
}

/** A remainder this small beside its frame is the rounding of 32-bit numbers, not cost. */
const ROUNDING = 1e-5;

/** What each frame costs without its children. */
export function selfCosts(tree: Tree, side: "a" | "b"): Float64Array {
  const values = tree[side];
  const self = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) self[i] = cost(values, i);
  for (let i = values.length - 1; i > 0; i--) {
    const above = tree.parent[i] ?? 0;
    self[above] = (self[above] ?? 0) - cost(values, i);
  }
  return self.map((value, node) => (value > cost(values, node) * ROUNDING ? value : 0));
}
