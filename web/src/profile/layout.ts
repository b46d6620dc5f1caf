/** Where frames lie: widths in cost, rows in frames from the root. Computed once per basis. */

import { cost, type Tree } from "./tree";

export const WIDTHS = ["mean", "a", "b"] as const;
export type Width = (typeof WIDTHS)[number];

export interface Layout {
  /** Left edge and width, in the profile's unit. */
  readonly x: Float64Array;
  readonly width: Float64Array;
  /** The first node behind the subtree. */
  readonly end: Int32Array;
  readonly depth: Uint16Array;
  readonly deepest: number;
}

/** What a frame is wide by itself, before its children. */
function ownWidths(tree: Tree, basis: Width): Float64Array {
  const { a, b } = tree;
  const own = new Float64Array(a.length);
  // Plain loops: Float64Array.from calls a function for each of some 348,000 frames.
  if (basis === "mean") {
    for (let i = 0; i < own.length; i++) own[i] = (cost(a, i) + cost(b, i)) / 2;
    return own;
  }
  const side = tree[basis];
  for (let i = 0; i < own.length; i++) own[i] = cost(side, i);
  return own;
}

export function layout(tree: Tree, basis: Width): Layout {
  const { parent } = tree;
  const count = parent.length;
  const width = ownWidths(tree, basis);
  const inside = new Float64Array(count);
  const end = new Int32Array(count);
  // Children come after their parents: backwards, every child is done before its parent.
  for (let i = count - 1; i >= 0; i--) {
    const wide = Math.max(width[i] ?? 0, inside[i] ?? 0);
    const behind = Math.max(end[i] ?? 0, i + 1);
    width[i] = wide;
    end[i] = behind;
    const above = parent[i] ?? -1;
    if (above < 0) continue;
    inside[above] = (inside[above] ?? 0) + wide;
    if (behind > (end[above] ?? 0)) end[above] = behind;
  }
  const x = new Float64Array(count);
  const depth = new Uint16Array(count);
  const free = inside.fill(0);
  let deepest = 0;
  for (let i = 1; i < count; i++) {
    const above = parent[i] ?? 0;
    const left = free[above] ?? 0;
    const row = (depth[above] ?? 0) + 1;
    x[i] = left;
    free[i] = left;
    free[above] = left + (width[i] ?? 0);
    depth[i] = row;
    if (row > deepest) deepest = row;
  }
  return { x, width, end, depth, deepest };
}

/** What is drawn of a layout: the zoomed frame over the full width, its callers, what is in it. */
export interface Cut {
  readonly zoom: number;
  /** Its callers, root first; each is drawn over the full width. */
  readonly above: readonly number[];
  /** The zoomed frame and what is wide enough within it, in preorder. */
  readonly nodes: readonly number[];
  readonly origin: number;
  /** Pixels per unit of cost. */
  readonly scale: number;
  readonly pixels: number;
  readonly rows: number;
}

/** Narrower frames are not drawn, nor anything in them. */
export const NARROWEST_PX = 0.5;

export function cut(tree: Tree, at: Layout, zoom: number, pixels: number): Cut {
  const { width, end, depth } = at;
  const whole = width[zoom] ?? 0;
  const scale = whole > 0 ? pixels / whole : 0;
  const least = scale > 0 ? NARROWEST_PX / scale : Infinity;
  const nodes: number[] = [zoom];
  let deepest = depth[zoom] ?? 0;
  const behind = end[zoom] ?? 0;
  for (let i = zoom + 1; i < behind;) {
    if (!((width[i] ?? 0) >= least)) {
      i = end[i] ?? behind;
      continue;
    }
    nodes.push(i);
    const row = depth[i] ?? 0;
    if (row > deepest) deepest = row;
    i++;
  }
  const above: number[] = [];
  for (let up = tree.parent[zoom] ?? -1; up >= 0; up = tree.parent[up] ?? -1) above.unshift(up);
  return { zoom, above, nodes, origin: at.x[zoom] ?? 0, scale, pixels, rows: deepest + 1 };
}

/** Left edge and width of a frame in pixels; callers of the zoomed frame take all of it. */
export function span(at: Layout, { zoom, origin, scale, pixels }: Cut, node: number) {
  const inside = node > zoom && node < (at.end[zoom] ?? 0);
  if (!inside) return { left: 0, wide: pixels };
  return {
    left: ((at.x[node] ?? 0) - origin) * scale,
    wide: (at.width[node] ?? 0) * scale,
  };
}

/** The frame at a row and a distance from the left in pixels, or null. */
export function frameAt(at: Layout, view: Cut, row: number, left: number): number | null {
  const top = at.depth[view.zoom] ?? 0;
  if (row < top) return view.above[row] ?? null;
  const value = view.origin + left / view.scale;
  if (!Number.isFinite(value)) return row === top ? view.zoom : null;
  let node: number | null = view.zoom;
  for (let deep = top; deep < row && node !== null; deep++) node = childAt(at, node, value);
  return node;
}

function childAt(at: Layout, node: number, value: number): number | null {
  const behind = at.end[node] ?? 0;
  for (let child = node + 1; child < behind; child = at.end[child] ?? behind) {
    const left = at.x[child] ?? 0;
    if (value >= left && value < left + (at.width[child] ?? 0)) return child;
  }
  return null;
}

/** The nearest caller that is visibly wider: zooming out to it shows more. */
export function wider(tree: Tree, at: Layout, node: number): number {
  const enough = (at.width[node] ?? 0) * 1.02;
  let up = tree.parent[node] ?? -1;
  while (up > 0 && (at.width[up] ?? 0) < enough) up = tree.parent[up] ?? -1;
  return Math.max(0, up);
}

export type Step = "caller" | "callee" | "left" | "right";

/** Where an arrow key leads from a frame; the frame itself where there is nothing. */
export function walk(tree: Tree, at: Layout, node: number, step: Step): number {
  const above = tree.parent[node] ?? -1;
  if (step === "caller") return Math.max(0, above);
  if (step === "callee") return widestChild(at, node);
  if (above < 0) return node;
  const behind = at.end[above] ?? 0;
  let before = node;
  for (let child = above + 1; child < behind; child = at.end[child] ?? behind) {
    const shown = (at.width[child] ?? 0) > 0;
    if (step === "left" && child === node) return before;
    if (step === "right" && child > node && shown) return child;
    if (shown) before = child;
  }
  return node;
}

function widestChild(at: Layout, node: number): number {
  const behind = at.end[node] ?? 0;
  let widest = node;
  let most = 0;
  for (let child = node + 1; child < behind; child = at.end[child] ?? behind) {
    const wide = at.width[child] ?? 0;
    if (wide > most) [widest, most] = [child, wide];
  }
  return widest;
}
