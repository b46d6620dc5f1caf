/** Prices and checks of them in words. */

import type { NsInterval, PriceCheck } from "../api/types";
import { fixed, signed } from "../format/quantity";

const NARROW_SPACE = "\u202f";

/** Decimals of nanoseconds that an interval of this width deserves. */
function digitsOf(low: number, high: number): number {
  const width = Math.abs(high - low);
  if (width < 1) return 3;
  return width < 100 ? 1 : 0;
}

/** A price: never below zero, so without a sign. */
export function priceText({ ns, low, high }: NsInterval): string {
  return `${fixed(ns, digitsOf(low, high))}${NARROW_SPACE}ns`;
}

export function priceEnds({ low, high }: NsInterval): string {
  const digits = digitsOf(low, high);
  return `${fixed(low, digits)} to ${fixed(high, digits)}`;
}

/** A change in ns an operation, and its interval in brackets. */
export function changeText({ ns, low, high }: NsInterval): { change: string; ends: string } {
  const digits = digitsOf(low, high);
  return {
    change: `${signed(ns, digits)}${NARROW_SPACE}ns`,
    ends: `[${signed(low, digits)}, ${signed(high, digits)}]`,
  };
}

/** How many predictions of a check hold. */
export function heldText(check: PriceCheck): string {
  const parts = [`${check.held} of ${check.checked} hold`];
  if (check.whole < check.checked)
    parts.push(
      check.whole === 0
        ? "none has every price"
        : `of those with every price ${check.whole_held} of ${check.whole}`,
    );
  parts.push(
    check.signs === 0
      ? "no change differs from zero"
      : `signs ${check.signs_right} of ${check.signs}`,
  );
  return parts.join("; ");
}

/** The address of a source where it is one of the web; a file may say anything. */
export function linkOf(url: string): string | null {
  return /^https?:\/\//i.test(url) ? url : null;
}
