/** Words and figures of bisections. */

import type { BisectionHead } from "../api/types";
import { counted, fixed } from "../format/quantity";

/** A probability in percent: 99.98 %, <0.1 %; empty where there is none. Never a rounded 100 %. */
export function chance(probability: number | null): string {
  if (probability === null) return "";
  const percent = 100 * probability;
  if (percent === 0) return "0 %";
  if (percent > 0 && percent < 0.1) return "<0.1 %";
  if (percent > 99.99 && percent < 100) return ">99.99 %";
  return `${fixed(percent, percent > 99 || percent < 1 ? 2 : 1)} %`;
}

function hours(seconds: number): string {
  return `${fixed(seconds / 3600, 1)} h`;
}

type Spent = Pick<BisectionHead, "boots" | "budget_boots" | "seconds" | "budget_s">;

/** 42 of 300 boots, 1.5 h of 48 h. */
export function spent(head: Spent): string {
  return (
    `${head.boots} of ${counted(head.budget_boots, "boot")}, ` +
    `${hours(head.seconds)} of ${hours(head.budget_s)}`
  );
}

/** What is left of the budget. */
export function left(head: Spent): string {
  const boots = Math.max(head.budget_boots - head.boots, 0);
  return `${counted(boots, "boot")} and ${hours(Math.max(head.budget_s - head.seconds, 0))}`;
}
