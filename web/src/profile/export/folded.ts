/** Folded stacks, one a line: `stack a b` as difffolded.pl writes and flamegraph.pl reads. */

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

/** Lines with their ends; the root, which stands for everything, is not in the stacks. */
export function folded(tree: Tree, names: readonly string[], sides: readonly ("a" | "b")[]) {
  const selves = sides.map((side) => selfCosts(tree, side));
  const frames = names.map(frame);
  const stacks: string[] = [];
  const lines: string[] = [];
  for (let i = 0; i < tree.parent.length; i++) {
    const above = tree.parent[i] ?? -1;
    const name = frames[tree.symbol[i] ?? 0] ?? "";
    const stack = above > 0 ? `${stacks[above] ?? ""};${name}` : name;
    stacks.push(stack);
    const values = selves.map((self) => decimal(self[i] ?? 0));
    if (values.every((value) => value === "0")) continue;
    lines.push(`${i === 0 ? "[not in any stack]" : stack} ${values.join(" ")}\n`);
  }
  return lines;
}
