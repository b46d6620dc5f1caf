/** Published figures beside predicted ones, in words. */

import type { ModeAgreement, PredictedCell } from "../api/types";
import { signed } from "../format/quantity";

export function publishedText({ published_low: low, published_high: high }: PredictedCell): string {
  return low === high ? signed(low, 1) : `${signed(low, 1)} to ${signed(high, 1)}`;
}

/** Whether both have one sign; null where nothing is predicted or no difference was published. */
export function signWord(cell: PredictedCell, least: number): "right" | "wrong" | null {
  const { published_low: low, published_high: high, percent } = cell;
  if (percent === null || Math.max(Math.abs(low), Math.abs(high)) <= least) return null;
  return percent * (low + high) > 0 ? "right" : "wrong";
}

/** How often both agree, beside what would agree if all were said to be slower. */
export function agreementText(of: ModeAgreement): string {
  const sign =
    of.told === 0
      ? "no difference published"
      : `sign right in ${of.right} of ${of.told}, in ${of.rival} if all were said to be slower`;
  const rank = of.rank === null ? "" : `; rank correlation ${signed(of.rank, 2)}`;
  return `${of.mode}: ${sign}; ${of.holds} of ${of.cells} within the interval${rank}`;
}
