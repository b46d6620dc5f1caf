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

/** How often both agree. Of signs nothing is said where calling all slower is right as often. */
export function agreementText(of: ModeAgreement): string {
  const parts = [`${of.holds} of ${of.cells} within the interval`];
  if (of.told === 0) parts.unshift("no difference published");
  else if (of.right > of.rival)
    parts.unshift(
      `sign right in ${of.right} of ${of.told}, in ${of.rival} if all were said to be slower`,
    );
  if (of.rank !== null) parts.push(`rank correlation ${signed(of.rank, 2)}`);
  return `${of.mode}: ${parts.join("; ")}`;
}
