/** Exact counts as the page says them: whole numbers where there are some. */

import type { ExactFunction, ExactLine, ExactSide, ExactTable } from "../api/types";
import { fixed, signed } from "../format/quantity";

const NARROW_SPACE = "\u202f";
/** Instructions, or runs, an operation below which a difference is an interrupt's. */
export const LEAST = 0.01;
/** Instructions an operation from which what ran beside it is part of the answer. */
const LEAST_ASIDE = 0.5;
/** Instructions that do nothing, and fill the room between others. */
const FILLING = /^(int3|((data16|cs) )*nop[lwq]?|xchgw %ax, ?%ax)\b/;

export type Way = "more" | "less" | undefined;

export function wayOf(difference: number): Way {
  if (difference === 0) return undefined;
  return difference > 0 ? "more" : "less";
}

/** The answer: what each operation runs more in B, or on average where they differ. */
export function answerText({ exact, difference }: Pick<ExactTable, "exact" | "difference">) {
  if (exact === null) return `${signed(difference, 2)} instructions on average`;
  if (exact === 0 && Math.abs(difference) >= LEAST_ASIDE)
    return `${signed(difference, 2)} instructions on average, none in each operation`;
  if (exact === 0) return "the same number of instructions in each operation";
  const noun = Math.abs(exact) === 1 ? "instruction" : "instructions";
  return `${signed(exact, 0)} ${noun} in each operation`;
}

/** Both ends, or nothing where all boots counted the same. */
export function endsText(low: number | null | undefined, high: number | null | undefined): string {
  if (typeof low !== "number" || typeof high !== "number") return "";
  return `${signed(low, 2)} … ${signed(high, 2)}`;
}

/** All that ran, with what ran beside the operation. */
export function wholeText({ difference, low, high }: ExactTable): string {
  const ends = endsText(low, high);
  return ends === "" ? signed(difference, 2) : `${signed(difference, 2)} (95 %: ${ends})`;
}

/** A number an operation: whole, or to a hundredth. */
export function countText(value: number): string {
  return Math.abs(value - Math.round(value)) < 0.005 ? fixed(value, 0) : fixed(value, 2);
}

/** How often an instruction ran; what ran now and then must not read as never. */
export function runsText(value: number): string {
  return Number.isInteger(value) ? fixed(value, 0) : fixed(value, 3);
}

/** Times side by side must show how little they are apart. */
export function nanoseconds(value: number): string {
  const digits = value < 1000 ? 3 : value < 100_000 ? 1 : 0;
  return `${fixed(value, digits)}${NARROW_SPACE}ns`;
}

/** How far the sum over all instructions is from the time that was measured. */
export function apartText({ counted_ns: counted, measured_ns: measured }: ExactSide): string {
  if (!(measured > 0)) return "unknown";
  const percent = (Math.abs(counted - measured) / measured) * 100;
  if (percent < 0.0001) return `< 0.0001${NARROW_SPACE}%`;
  return `${fixed(percent, percent < 0.01 ? 4 : 2)}${NARROW_SPACE}%`;
}

export function functionDiffers(row: ExactFunction): boolean {
  return row.exact === null ? Math.abs(row.difference) >= LEAST : row.exact !== 0;
}

/**
 * Whether the difference is none by chance: a whole number, one with an interval off zero, or one
 * that all boots of both sides agree on.
 */
export function isSure(row: ExactFunction, boots: number): boolean {
  const { exact, low, high, mark } = row;
  if (exact !== null) return true;
  if (typeof low === "number" && typeof high === "number") return low > 0 || high < 0;
  return boots > 1 && mark !== "new" && mark !== "gone";
}

export function differenceOf({ exact, difference }: ExactFunction): string {
  return exact === null ? signed(difference, 2) : signed(exact, 0);
}

/** A function's name; what no symbol covers goes by its file. */
export function nameOf({ function: name, module }: ExactFunction): string {
  return name === "" ? `[${module}]` : name;
}

export function lineDiffers(row: ExactLine): boolean {
  const text = row.text_b === "" ? row.text_a : row.text_b;
  if (row.mark !== "") return !FILLING.test(text);
  return Math.abs(row.b - row.a) >= LEAST;
}
