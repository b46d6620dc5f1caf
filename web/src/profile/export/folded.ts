/** Folded stacks, one a line: `stack a b` as difffolded.pl writes and flamegraph.pl reads. */

import { type Table, withUnit } from "../../picture/csv";
import { selfCosts, type Tree } from "../tree";

/** A name within a stack: a semicolon or a line's end would make two of it. */
function frame(name: string): string {
  return (
    name
      .replaceAll(";", ":")
      .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")
      .trim() || "[no name]"
  );
}

/** A decimal without an exponent, which the readers of this format do not know. */
export function decimal(value: number): string {
  const text = value.toFixed(9);
  return text.replace(/\.?0+$/, "");
}

/** Stacks with what each cost by itself, those without any left out; the root is in none. */
function stacksOf(tree: Tree, names: readonly string[], sides: readonly ("a" | "b")[]) {
  const selves = sides.map((side) => selfCosts(tree, side));
  const frames = names.map(frame);
  const stacks: string[] = [];
  const found: { stack: string; costs: number[] }[] = [];
  for (let i = 0; i < tree.parent.length; i++) {
    const above = tree.parent[i] ?? -1;
    const name = frames[tree.symbol[i] ?? 0] ?? "";
    const stack = above > 0 ? `${stacks[above] ?? ""};${name}` : name;
    stacks.push(stack);
    const costs = selves.map((self) => self[i] ?? 0);
    if (costs.every((cost) => decimal(cost) === "0")) continue;
    found.push({ stack: i === 0 ? "[not in any stack]" : stack, costs });
  }
  return found;
}

/** Lines with their ends. */
export function folded(tree: Tree, names: readonly string[], sides: readonly ("a" | "b")[]) {
  return stacksOf(tree, names, sides).map(
    ({ stack, costs }) => `${stack} ${costs.map(decimal).join(" ")}\n`,
  );
}

/** The same of both sides as a table. */
export function stackTable(tree: Tree, { names, unit, a, b }: StackMeta): Table {
  return {
    columns: ["stack", withUnit(`A: ${a.label}`, unit), withUnit(`B: ${b.label}`, unit)],
    rows: stacksOf(tree, names, ["a", "b"]).map(({ stack, costs }) => [
      stack,
      // Without the digits that 32 bits make up.
      ...costs.map((cost) => Number(decimal(cost))),
    ]),
  };
}

interface StackMeta {
  names: readonly string[];
  unit: string;
  a: { label: string };
  b: { label: string };
}
