/** Trees as long profiles of a kernel have them: deep, skewed, many thin frames. Same seed, same tree. */

import { encode, META } from "../../tests/profile-payload";
import { random } from "../../tests/random";

const NAMES = 4_000;
const DEEPEST = 60;

function names(): string[] {
  const parts = ["tcp", "vm", "kvm", "rcu", "irq", "mem", "page", "sched", "vhost", "skb", "net"];
  const part = (i: number) => parts[i % parts.length] ?? "";
  return ["all", ...Array.from({ length: NAMES }, (_, i) => `${part(i)}_${part(i * 7 + 3)}_${i}`)];
}

export interface Frames {
  names: string[];
  columns: Record<string, Float32Array | Int32Array | Uint8Array>;
}

/** `count` frames in preorder, children in no order, cost halving roughly at each branch. */
export function frames(count: number): Frames {
  const next = random(count);
  const [parent, symbol] = [new Int32Array(count), new Int32Array(count)];
  const [a, b] = [new Float32Array(count), new Float32Array(count)];
  const left = new Float64Array(count);
  const depth = new Uint8Array(count);
  parent[0] = -1;
  a[0] = left[0] = 400;
  let at = 0;
  for (let i = 1; i < count; i++) {
    // Mostly one call deeper, now and then back to a caller: chains with side branches.
    const climb = next() < 0.72 ? 0 : Math.ceil(next() ** 3 * 24);
    for (let up = 0; up < climb && at > 0; up++) at = parent[at] ?? 0;
    while ((depth[at] ?? 0) >= DEEPEST) at = parent[at] ?? 0;
    const share = next() < 0.6 ? 0.75 + next() * 0.24 : next() ** 2 * 0.5;
    const cost = (left[at] ?? 0) * share;
    left[at] = (left[at] ?? 0) - cost;
    parent[i] = at;
    symbol[i] = 1 + Math.floor(next() ** 2 * NAMES);
    depth[i] = (depth[at] ?? 0) + 1;
    a[i] = left[i] = cost;
    at = i;
  }
  const q = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    b[i] = (a[i] ?? 0) * (0.9 + next() * 0.3);
    q[i] = next() < 0.5 ? next() * 0.05 : next();
  }
  const low = b.map((value, i) => (value - (a[i] ?? 0)) * 0.8);
  const high = b.map((value, i) => (value - (a[i] ?? 0)) * 1.2);
  const flags = new Uint8Array(count);
  return { names: names(), columns: { parent, symbol, a, b, low, high, q, flags } };
}

const FUNCTION_COLUMNS = [
  ...["f_symbol", "f_self_a", "f_self_b", "f_total_a", "f_total_b"],
  ...["fs_low", "fs_high", "fs_q", "ft_low", "ft_high", "ft_q"],
];

/** What the viewer is given. */
export function bytesOf({ names: symbols, columns }: Frames): ArrayBuffer {
  const none = Object.fromEntries(FUNCTION_COLUMNS.map((name) => [name, new Float32Array(0)]));
  const total = { a: { ...META.a, total: 400 }, b: { ...META.b, total: 420 } };
  return encode({ ...META, ...total, names: symbols }, { ...columns, ...none });
}

export interface Nested {
  name: string;
  value: number;
  delta: number;
  children: Nested[];
}

/** What d3-flame-graph is given. */
export function nestedOf({ names: symbols, columns }: Frames): Nested {
  const { parent, symbol, a, b } = columns;
  const made: Nested[] = [];
  for (let i = 0; i < (a?.length ?? 0); i++) {
    const [left, right] = [a?.[i] ?? 0, b?.[i] ?? 0];
    const frame = {
      name: symbols[symbol?.[i] ?? 0] ?? "",
      ...{ value: (left + right) / 2, delta: right - left, children: [] },
    };
    made.push(frame);
    made[parent?.[i] ?? -1]?.children.push(frame);
  }
  return made[0] ?? { name: "all", value: 0, delta: 0, children: [] };
}
