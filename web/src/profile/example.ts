/** Small profiles for tests. */

import { encode, META, payload, type Frame } from "../../tests/profile-payload";
import { decode, type Profile } from "./decode";

export { encode, META, payload, type Frame };

export function profileOf(root: Frame, meta: Record<string, unknown> = {}): Profile {
  return decode(payload(root, meta));
}

/** A frame of its own cost and its children; cost in b is that in a unless given. */
export function frame(name: string, a: number, b: number, ...children: Frame[]): Frame {
  return { name, a, b, children };
}

/** The place of the first frame with a name. */
export function nodeOf({ meta, tree }: Profile, name: string): number {
  return tree.symbol.findIndex((symbol) => meta.names[symbol] === name);
}

/** Names from the root down, in the order of the nodes. */
export function namesInOrder({ meta, tree }: Profile): string[] {
  return [...tree.symbol].map((symbol) => meta.names[symbol] ?? "");
}

/** One frame in the other, `depth` times. */
export function deep(depth: number): Frame {
  let inner = frame(`f${depth}`, 1, 2);
  for (let i = depth - 1; i > 0; i--) inner = frame(`f${i}`, 0, 0, inner);
  return frame("all", 0, 0, inner);
}
