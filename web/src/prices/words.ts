/** Prices and checks of them in words. */

import type {
  NsInterval,
  Price,
  PriceKind,
  PriceMachine,
  PriceTrust,
  PriceTrustRule,
  ProcessorPrices,
  ProcessorRanking,
} from "../api/types";
import { fixed, signed } from "../format/quantity";
import type { Tone } from "../words";

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

/** A figure without an interval: about four digits. */
export function nsText(ns: number): string {
  const digits = Math.abs(ns) < 10 ? 2 : Math.abs(ns) < 1000 ? 1 : 0;
  return `${fixed(ns, digits)}${NARROW_SPACE}ns`;
}

/** A figure, and its interval in brackets; what is nothing at all has none. */
export function costText({ ns, low, high }: NsInterval): { cost: string; ends: string } {
  if (low === 0 && high === 0) return { cost: `0${NARROW_SPACE}ns`, ends: "" };
  const digits = digitsOf(low, high);
  return {
    cost: `${fixed(ns, digits)}${NARROW_SPACE}ns`,
    ends: `[${fixed(low, digits)}, ${fixed(high, digits)}]`,
  };
}

/** Both in one text. */
export function intervalText(of: NsInterval): string {
  const { cost, ends } = costText(of);
  return ends === "" ? cost : `${cost} ${ends}`;
}

/** A working set: "16 indirect, 16 taken, 16 returns". */
export function branchesText(branches: Readonly<Record<string, number>>): string {
  return Object.entries(branches)
    .map(([kind, count]) => `${fixed(count, 0)} ${kind}`)
    .join(", ");
}

/** A change in ns an operation, and its interval in brackets. */
export function changeText({ ns, low, high }: NsInterval): { change: string; ends: string } {
  const digits = digitsOf(low, high);
  return {
    change: `${signed(ns, digits)}${NARROW_SPACE}ns`,
    ends: `[${signed(low, digits)}, ${signed(high, digits)}]`,
  };
}

/** The file of the prices that are shown. */
export function csvPath(model: string): string {
  const path = "/api/prices.csv";
  return model === "" ? path : `${path}?${new URLSearchParams({ model }).toString()}`;
}

/** The address of a source where it is one of the web; a file may say anything. */
export function linkOf(url: string): string | null {
  return /^https?:\/\//i.test(url) ? url : null;
}

export const KIND: Record<PriceKind, string> = {
  measured: "timed on such a processor by a program of ours, or on its hosts",
  derived: "worked out of measured ones",
  published: "as somebody else has it",
};

export const TRUST: Record<PriceTrust, { label: string; meaning: string; tone: Tone }> = {
  trusted: {
    label: "prices trusted",
    meaning: "the prices tell operations that none of them was made of",
    tone: "good",
  },
  not_trusted: {
    label: "prices not trusted",
    meaning: "the prices do not tell operations that none of them was made of",
    tone: "bad",
  },
  cannot_tell: {
    label: "prices not checked",
    meaning: "no operation was predicted and measured beside these prices",
    tone: "quiet",
  },
};

/** Which machines are trusted, as a sentence. */
export function trustRuleText(rule: PriceTrustRule): string {
  const [share, near, far] = [rule.share_percent, rule.near_percent, rule.far_percent].map(
    (percent) => `${fixed(percent, 0)}${NARROW_SPACE}%`,
  );
  return `Trusted where ${share} of them are predicted within ${near}, and all within ${far}.`;
}

/** How many prices are known in which way: "16 measured, 3 derived". */
export function kindsText(prices: readonly Price[]): string {
  return (Object.keys(KIND) as PriceKind[])
    .map((kind) => [prices.filter((price) => price.kind === kind).length, kind] as const)
    .filter(([count]) => count > 0)
    .map(([count, kind]) => `${count} ${kind}`)
    .join(", ");
}

/** Whether the machines of a processor were guests; null where none was measured. */
export function placeText(machines: readonly PriceMachine[]): string | null {
  const places = new Set<string>(
    machines.map((machine) => (machine.is_virtual ? "virtual" : "bare")),
  );
  const told = ["bare", "virtual"].filter((place) => places.has(place));
  return told.length === 0 ? null : told.join(" and ");
}

/** What a processor says of itself: "AMD EPYC: AuthenticAMD, family 26, model 2, stepping 1". */
export function identityText(of: NonNullable<ProcessorPrices["identity"]>): string {
  const numbers = `${of.vendor}, family ${of.family}, model ${of.model}, stepping ${of.stepping}`;
  return of.name === "" ? numbers : `${of.name}: ${numbers}`;
}

/** How far prices lie off where they were not measured; null where that is not known. */
export function misfitText(percent: number): string | null {
  if (percent === 0) return null;
  const off = `${fixed(percent, 1)}${NARROW_SPACE}%`;
  return `${off} (root mean square); the interval of each prediction has it`;
}

/** A share of draws can tell no more than that. */
const SURE = 0.99;

/** The chance that an order is the true one; null where there is no order. */
export function chanceText(chance: number | null): string | null {
  if (chance === null) return null;
  if (chance > SURE) return `over 99${NARROW_SPACE}%`;
  return `${fixed(100 * chance, 0)}${NARROW_SPACE}%`;
}

/** What a missing price would have to be, for each mode that it would be as dear as. */
export function breakEvenTexts(of: ProcessorRanking, mode: string): string[] {
  return of.break_even
    .filter((even) => even.mode === mode)
    .map(
      ({ event, other, ns }) =>
        `It costs as much as ${other} where one ${event} takes ${nsText(ns)}; ` +
        `where one takes more, ${other} is cheaper.`,
    );
}

/** What comes on top where a mode's event empties the branch predictor; null: not known. */
export function forgottenText(ns: number | null): string | null {
  if (ns === null) return null;
  return (
    `An event that empties the branch predictor costs up to ${nsText(ns)} more behind it, ` +
    "for the branches of one operation, which then run first."
  );
}
