/** A frame's place as a short text for addresses: the same names above give the same text,
    whatever the basis, the threshold of pruning or the other frames are. */

import { pathTo, type Tree } from "./tree";

const SEEDS = [0x811c9dc5, 0x2f0b4c47] as const;
const PRIME = 0x01000193;

function step(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, PRIME);
  return mixed ^ (mixed >>> 15);
}

function nameHash(name: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < name.length; i++) hash = step(hash, name.charCodeAt(i));
  return hash;
}

function hex(hash: number): string {
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/** Ids given out, so that following one does not read the whole tree again. */
const given = new WeakMap<Tree, Map<string, number>>();

function remember(tree: Tree, id: string, node: number): void {
  const known = given.get(tree) ?? new Map<string, number>();
  given.set(tree, known.set(id, node));
}

export function pathId(tree: Tree, names: readonly string[], node: number): string {
  const halves = SEEDS.map((seed) => {
    const symbols = pathTo(tree, node).map((at) => tree.symbol[at] ?? 0);
    return symbols.reduce((hash, symbol) => step(hash, nameHash(names[symbol] ?? "", seed)), seed);
  });
  const id = halves.map(hex).join("");
  remember(tree, id, node);
  return id;
}

function hashes(tree: Tree, names: readonly string[], seed: number): Int32Array {
  const ofName = Int32Array.from(names, (name) => nameHash(name, seed));
  const ofPath = new Int32Array(tree.parent.length);
  for (let i = 0; i < ofPath.length; i++) {
    const above = tree.parent[i] ?? -1;
    const before = above < 0 ? seed : (ofPath[above] ?? 0);
    ofPath[i] = step(before, ofName[tree.symbol[i] ?? 0] ?? 0);
  }
  return ofPath;
}

/** The frame that `id` names, or null where this tree has none. */
export function findPath(tree: Tree, names: readonly string[], id: string): number | null {
  if (!/^[0-9a-f]{16}$/.test(id)) return null;
  const known = given.get(tree)?.get(id);
  if (known !== undefined) return known;
  const [first, second] = [parseInt(id.slice(0, 8), 16) | 0, parseInt(id.slice(8), 16) | 0];
  const [left, right] = [hashes(tree, names, SEEDS[0]), hashes(tree, names, SEEDS[1])];
  const at = left.findIndex((hash, node) => hash === first && right[node] === second);
  if (at < 0) return null;
  remember(tree, id, at);
  return at;
}
