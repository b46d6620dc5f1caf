/** How points of the line, patches and answers are put in words. */

import type { LinePoint, Revision } from "../api/types";
import { effectOf, effectText } from "../format/effect";

/** A change in percent with its interval: −10.44% [−12.06, −8.71]. */
export function change(point: LinePoint): string {
  const effect = effectOf(point);
  return effect === null ? "no figure" : effectText(effect);
}

/** The whole of it, for who hovers over it or does not see it. */
export function whole(point: LinePoint): string {
  const verdict = point.verdict ?? "no verdict";
  return `${point.revision}: ${change(point)}, ${verdict}, ${point.n} boots, against ${point.baseline}`;
}

/** Where a patch of a revision, from 1, stands on the page. */
export function patchId(revision: Pick<Revision, "id">, position: number): string {
  return `revision-${revision.id}-patch-${position}`;
}

export interface Sentence {
  text: string;
  /** What belongs to it. */
  under: string[];
}

/** An answer's lines: one that begins with two blanks belongs to the sentence above it. */
export function sentencesOf(lines: readonly string[]): Sentence[] {
  const sentences: Sentence[] = [];
  for (const line of lines) {
    const above = sentences.at(-1);
    if (line.startsWith("  ") && above !== undefined) above.under.push(line.trim());
    else sentences.push({ text: line.trim(), under: [] });
  }
  return sentences;
}

/** Numbers as people write them: 1–3, 7. */
export function ranges(numbers: readonly number[]): string {
  const runs: [first: number, last: number][] = [];
  for (const number of numbers.toSorted((x, y) => x - y)) {
    const run = runs.at(-1);
    if (run?.[1] === number - 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(", ");
}

/** "patch 4", "patches 4–6". */
export function patchesText(numbers: readonly number[]): string {
  return `${numbers.length === 1 ? "patch" : "patches"} ${ranges(numbers)}`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
