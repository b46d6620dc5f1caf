/** The difference of two profiles as the service sends it: a head in JSON, columns behind it. */

import type { components } from "../api/schema";
import { arranged, type Tree } from "./tree";

type Schemas = components["schemas"];

/** The boots of one arm on one host in one experiment. */
export type Selection = Schemas["Selection"];
export type Side = Schemas["DiffSide"];
/** What the service says of the difference, but for where its columns are. */
export type Meta = Omit<Schemas["DiffHeader"], "arrays">;
export type Basis = Meta["basis"];
/** Which system was profiled. */
export type Where = Meta["where"];

/** One entry a function; self without, total with what it calls. */
export interface Functions {
  readonly symbol: Int32Array;
  readonly self: Measure;
  readonly total: Measure;
}

export interface Measure {
  readonly a: Float32Array;
  readonly b: Float32Array;
  readonly low: Float32Array;
  readonly high: Float32Array;
  readonly q: Float32Array;
}

export interface Profile {
  meta: Meta;
  tree: Tree;
  functions: Functions;
}

/** The bytes are not what the viewer understands. */
export class PayloadError extends Error {}

const MAGIC = "MGPD";
const VERSION = 1;
const HEAD_BYTES = 16;

const COLUMNS = {
  int32: Int32Array,
  float32: Float32Array,
  uint8: Uint8Array,
};
type Columns = { [K in keyof typeof COLUMNS]: InstanceType<(typeof COLUMNS)[K]> };

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readMeta(buffer: ArrayBuffer): { meta: Meta; columns: unknown; start: number } {
  if (buffer.byteLength < HEAD_BYTES) throw new PayloadError("It ends before its head does.");
  const magic = new TextDecoder("latin1").decode(new Uint8Array(buffer, 0, 4));
  if (magic !== MAGIC) throw new PayloadError("It does not begin with MGPD.");
  const head = new DataView(buffer);
  const version = head.getUint32(4, true);
  if (version !== VERSION) {
    throw new PayloadError(`Its version is ${version}; this page reads version ${VERSION}.`);
  }
  const length = head.getUint32(8, true);
  const start = HEAD_BYTES + length;
  if (start > buffer.byteLength) throw new PayloadError("It ends within its description.");
  const meta = parse(new TextDecoder().decode(new Uint8Array(buffer, HEAD_BYTES, length)));
  if (!isRecord(meta) || !Array.isArray(meta.names)) {
    throw new PayloadError("Its description has no list of names.");
  }
  const { arrays, ...rest } = meta;
  return { meta: rest as unknown as Meta, columns: arrays, start };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PayloadError("Its description is not JSON.");
  }
}

/** Reads one column; copies it only where the head's length breaks the alignment. */
function columnReader(buffer: ArrayBuffer, columns: unknown, start: number) {
  return function column<K extends keyof Columns>(name: string, type: K): Columns[K] {
    const entry = isRecord(columns) ? columns[name] : undefined;
    if (!isRecord(entry)) throw new PayloadError(`It has no column ${name}.`);
    if (entry.type !== type) throw new PayloadError(`Its column ${name} is not of type ${type}.`);
    const [offset, length] = [Number(entry.offset), Number(entry.length)];
    const Column = COLUMNS[type];
    const from = start + offset;
    const to = from + length * Column.BYTES_PER_ELEMENT;
    const sound = Number.isInteger(offset) && Number.isInteger(length) && offset >= 0;
    if (!sound || length < 0 || to > buffer.byteLength) {
      throw new PayloadError(`It ends within its column ${name}.`);
    }
    const aligned = from % Column.BYTES_PER_ELEMENT === 0;
    const values = aligned ? new Column(buffer, from, length) : new Column(buffer.slice(from, to));
    return values as Columns[K];
  };
}

function sameLength(what: string, columns: { length: number }[]): void {
  if (new Set(columns.map((column) => column.length)).size > 1) {
    throw new PayloadError(`Its columns of ${what} differ in length.`);
  }
}

function checkTree(tree: Tree, names: number): void {
  sameLength("frames", Object.values(tree) as { length: number }[]);
  if (tree.parent.length === 0) throw new PayloadError("It has no root.");
  if (tree.parent[0] !== -1) throw new PayloadError("Its first frame is not the root.");
  for (let i = 1; i < tree.parent.length; i++) {
    const above = tree.parent[i] ?? -1;
    if (above < 0 || above >= i) throw new PayloadError(`Frame ${i} comes before its parent.`);
  }
  checkSymbols(tree.symbol, names);
}

function checkSymbols(symbols: Int32Array, names: number): void {
  const wrong = symbols.find((symbol) => symbol < 0 || symbol >= names);
  if (wrong !== undefined) throw new PayloadError(`There is no name ${wrong}.`);
}

/** The profiles' difference in `buffer`, its frames in preorder with siblings by name. */
export function decode(buffer: ArrayBuffer): Profile {
  const { meta, columns, start } = readMeta(buffer);
  const column = columnReader(buffer, columns, start);
  const costs = (name: string) => column(name, "float32");
  const tree: Tree = {
    parent: column("parent", "int32"),
    symbol: column("symbol", "int32"),
    a: costs("a"),
    b: costs("b"),
    low: column("low", "float32"),
    high: column("high", "float32"),
    q: column("q", "float32"),
    flags: column("flags", "uint8"),
  };
  checkTree(tree, meta.names.length);
  const measure = (name: string, short: string): Measure => ({
    a: costs(`f_${name}_a`),
    b: costs(`f_${name}_b`),
    low: column(`${short}_low`, "float32"),
    high: column(`${short}_high`, "float32"),
    q: column(`${short}_q`, "float32"),
  });
  const functions: Functions = {
    symbol: column("f_symbol", "int32"),
    self: measure("self", "fs"),
    total: measure("total", "ft"),
  };
  const { symbol, self, total } = functions;
  sameLength("functions", [
    symbol,
    ...(Object.values(self) as Float32Array[]),
    ...(Object.values(total) as Float32Array[]),
  ]);
  checkSymbols(symbol, meta.names.length);
  return { meta, tree: arranged(tree, meta.names), functions };
}
