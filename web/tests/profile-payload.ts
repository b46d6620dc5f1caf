/** Payloads as the service sends them, from trees as a test writes them. */

export interface Frame {
  name: string;
  /** Without its children. */
  a?: number;
  b?: number;
  q?: number;
  /** Half the width of the difference's interval; unknown when absent. */
  half?: number;
  children?: Frame[];
}

export interface Columns {
  parent: number[];
  symbol: number[];
  a: number[];
  b: number[];
  low: number[];
  high: number[];
  q: number[];
  flags: number[];
}

const NEW = 1;
const GONE = 2;
const FLOATS = ["a", "b", "low", "high", "q"];

const FUNCTION_COLUMNS = [
  ...["f_self_a", "f_self_b", "f_total_a", "f_total_b"],
  ...["fs_low", "fs_high", "fs_q", "ft_low", "ft_high", "ft_q"],
];

class Flat {
  readonly names: string[] = [];
  readonly self: { a: number[]; b: number[] } = { a: [], b: [] };
  readonly columns: Columns = {
    ...{ parent: [], symbol: [], a: [], b: [] },
    ...{ low: [], high: [], q: [], flags: [] },
  };

  symbol(name: string): number {
    const at = this.names.indexOf(name);
    return at < 0 ? this.names.push(name) - 1 : at;
  }

  add(frame: Frame, parent: number): [number, number] {
    const { columns } = this;
    const node = columns.parent.push(parent) - 1;
    columns.symbol.push(this.symbol(frame.name));
    let [a, b] = [frame.a ?? 0, frame.b ?? 0];
    this.self.a.push(a);
    this.self.b.push(b);
    for (const column of FLOATS) columns[column as keyof Columns].push(NaN);
    columns.flags.push(0);
    for (const child of frame.children ?? []) {
      const [left, right] = this.add(child, node);
      a += left;
      b += right;
    }
    columns.a[node] = a;
    columns.b[node] = b;
    columns.q[node] = frame.q ?? NaN;
    columns.low[node] = b - a - (frame.half ?? NaN);
    columns.high[node] = b - a + (frame.half ?? NaN);
    columns.flags[node] = flag(a, b);
    return [a, b];
  }
}

function flag(a: number, b: number): number {
  if (a > 0 === b > 0) return 0;
  return a > 0 ? GONE : NEW;
}

/** Self and total by function; a call within a call of the same function is counted once. */
function functionColumns({ columns, self }: Flat): Record<string, number[]> {
  const symbols = [...new Set(columns.symbol)];
  const table: Record<string, number[]> = { f_symbol: symbols };
  for (const column of FUNCTION_COLUMNS) table[column] = symbols.map(() => NaN);
  const sum = (values: number[], nodes: number[]) =>
    nodes.reduce((all, node) => all + (values[node] ?? 0), 0);
  for (const [row, symbol] of symbols.entries()) {
    const nodes = [...columns.symbol.keys()].filter((node) => columns.symbol[node] === symbol);
    const outer = nodes.filter((node) => !isWithin(columns, node, symbol));
    for (const side of ["a", "b"] as const) {
      (table[`f_self_${side}`] ?? [])[row] = sum(self[side], nodes);
      (table[`f_total_${side}`] ?? [])[row] = sum(columns[side], outer);
    }
  }
  for (const column of ["low", "high", "q"] as const) {
    const first = symbols.map((symbol) => columns[column][columns.symbol.indexOf(symbol)] ?? NaN);
    table[`fs_${column}`] = first;
    table[`ft_${column}`] = first;
  }
  return table;
}

function isWithin(columns: Columns, node: number, symbol: number): boolean {
  for (let up = columns.parent[node] ?? -1; up >= 0; up = columns.parent[up] ?? -1) {
    if (columns.symbol[up] === symbol) return true;
  }
  return false;
}

function typeOf(name: string): keyof typeof ARRAYS {
  if (name === "parent" || name.endsWith("symbol")) return "int32";
  return name === "flags" ? "uint8" : "float32";
}

const ARRAYS = {
  int32: Int32Array,
  uint8: Uint8Array,
  float32: Float32Array,
};

function padded(length: number): number {
  return Math.ceil(length / 8) * 8;
}

/** Any columns with any description, as bytes. */
export function encode(
  meta: Record<string, unknown>,
  columns: Record<string, ArrayLike<number>>,
): ArrayBuffer {
  const arrays: Record<string, unknown> = {};
  const parts: [number, Uint8Array][] = [];
  let offset = 0;
  for (const [name, values] of Object.entries(columns)) {
    const type = typeOf(name);
    const bytes = new Uint8Array(ARRAYS[type].from(values).buffer);
    arrays[name] = { type, offset, length: values.length };
    parts.push([offset, bytes]);
    offset += padded(bytes.length);
  }
  const text = new TextEncoder().encode(JSON.stringify({ ...meta, arrays }));
  const start = 16 + padded(text.length);
  const out = new Uint8Array(start + offset).fill(0x20, 16, start);
  out.set(new TextEncoder().encode("MGPD"));
  const head = new DataView(out.buffer);
  head.setUint32(4, 1, true);
  head.setUint32(8, padded(text.length), true);
  out.set(text, 16);
  for (const [at, bytes] of parts) out.set(bytes, start + at);
  return out.buffer;
}

export const META = {
  a: {
    of: { experiment_id: 3, case_id: 5, host: "lab-intel", arm: "off" },
    ...{ label: "off", boots: 8, samples: 12345, lost: 0, operations: 1.2e9 },
    ...{ total: 100, unknown_percent: 1.2, truncated_percent: 0.1 },
  },
  b: {
    of: { experiment_id: 3, case_id: 5, host: "lab-intel", arm: "bhb-clear" },
    ...{ label: "bhb-clear", boots: 8, samples: 13456, lost: 17, operations: null },
    ...{ total: 120, unknown_percent: 1.4, truncated_percent: 0.2 },
  },
  ...{ basis: "operation", bases: ["operation", "share", "raw"], unit: "ns/op" },
  ...{ title: "syscall basic", host: "lab-intel", emulated: true, event: "cpu-clock" },
  ...{ merged: true, rules_version: 1, raw_names: {}, renamed: {} },
  pruned: { nodes: 123, a: 0.8, b: 0.9 },
  ...{ experiment: 3, case: 5, where: "host", wheres: ["host"], svg_by: null },
};

/** A payload of one tree; totals are the root's, the rest of the description as in META. */
export function payload(root: Frame, meta: Record<string, unknown> = {}): ArrayBuffer {
  const flat = new Flat();
  const [a, b] = flat.add(root, -1);
  const sides = { a: { ...META.a, total: a }, b: { ...META.b, total: b } };
  return encode(
    { ...META, ...sides, names: flat.names, ...meta },
    { ...flat.columns, ...functionColumns(flat) },
  );
}
