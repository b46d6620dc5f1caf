/** Search by name: which names match, and what the matching frames cost. */

import type { Layout } from "./layout";
import { cost, type Tree } from "./tree";

type Test = (name: string) => boolean;

/** What was typed, understood. Nothing typed gives null; a wrong expression says why. */
export function understood(text: string): Test | { wrong: string } | null {
  if (text.trim() === "") return null;
  const expression = /^\/(.+?)(?:\/([iu]*))?$/s.exec(text);
  if (!expression) {
    const wanted = text.toLowerCase();
    return (name) => name.toLowerCase().includes(wanted);
  }
  try {
    const pattern = new RegExp(expression[1] ?? "", expression[2] ?? "");
    return (name) => pattern.test(name);
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : "not a regular expression" };
  }
}

export interface Matches {
  /** 1 for each symbol whose name matches. */
  readonly symbols: Uint8Array;
  /** Names that match, and frames that bear one. */
  readonly names: number;
  readonly frames: number;
  /** What the outermost matching frames cost together: nothing is counted twice. */
  readonly a: number;
  readonly b: number;
}

export function matches(tree: Tree, at: Layout, names: readonly string[], test: Test): Matches {
  const symbols = Uint8Array.from(names, (name) => Number(test(name)));
  let [frames, a, b, within] = [0, 0, 0, 0];
  for (let i = 0; i < tree.symbol.length; i++) {
    if (symbols[tree.symbol[i] ?? 0] !== 1) continue;
    frames++;
    if (i < within) continue;
    a += cost(tree.a, i);
    b += cost(tree.b, i);
    within = at.end[i] ?? 0;
  }
  return { symbols, frames, a, b, names: symbols.reduce((sum, hit) => sum + hit, 0) };
}
