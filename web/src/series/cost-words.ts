/** What patches cost, as figures and words. Pure. */

import type { Interaction, PatchCost, PatchRow, PatchSize } from "../api/types";
import { signed } from "../format/quantity";

/** As the service has it: two boots of one kernel may differ by one instruction. */
const ROUNDING = 1;
/** Nanoseconds that a prediction says nothing below. */
const LEAST_NS = 0.05;

export interface Column {
  case: string;
  host: string;
}

/** A row as it is shown; that of all patches together has no patch alone. */
export type Shown = Pick<PatchRow, "same_code" | "why_none" | "costs" | "alone">;

interface Costs {
  rows: Pick<PatchRow, "costs" | "alone">[];
  whole: PatchCost[];
}

export type Way = "more" | "less" | "none" | "unknown";

export interface Figure {
  text: string;
  way: Way;
  /** Why there is no figure. */
  why: string;
  /** What the patch costs alone, on the base; empty where that is the same or not known. */
  alone: string;
}

export interface FunctionFigure {
  /** Empty: all code that the patch does not change. */
  name: string;
  text: string;
}

export interface PredictedFigure {
  text: string;
  missing: string[];
  /** The cases that it is said of; none: all that cost anything. */
  cases: string[];
}

const isAt =
  (column: Column) =>
  (cost: PatchCost): boolean =>
    cost.case === column.case && cost.host === column.host;

/** Whether it is more than what two boots of one kernel may differ by: the service's own rule. */
export function isCostly(cost: PatchCost): boolean {
  if (cost.why_none !== "") return false;
  return cost.in_its_code !== 0 || Math.abs(cost.exact ?? 0) > ROUNDING;
}

/** How much larger the kernel is; what stays as it is goes unsaid. */
export function growthText({ code, boot, data }: PatchSize): string {
  const parts = [
    code !== 0 && `${signed(code, 0)} instructions`,
    boot !== 0 && `${signed(boot, 0)} that run at boot alone`,
    data !== 0 && `${signed(data, 0)} bytes of data`,
  ].filter((part) => part !== false);
  return `size: ${parts.length > 0 ? parts.join(", ") : "as before"}`;
}

/** A column a case and host; those in which something costs anything first. */
export function columnsOf(body: Costs): Column[] {
  const all = [...body.rows.flatMap((row) => [...row.costs, ...row.alone]), ...body.whole];
  const columns = new Map(
    all.map((cost) => [
      JSON.stringify([cost.case, cost.host]),
      { case: cost.case, host: cost.host },
    ]),
  );
  const costly = (column: Column) => all.some((cost) => isAt(column)(cost) && isCostly(cost));
  return [...columns.values()].toSorted((x, y) => Number(costly(y)) - Number(costly(x)));
}

/** +55, or ~+1.5 where it is no whole number. */
export function sizeText({ exact, difference }: Pick<PatchCost, "exact" | "difference">): string {
  if (exact !== null) return signed(exact, 0);
  return `~${signed(difference, Math.abs(difference) < 1 ? 2 : 1)}`;
}

function wayOf(cost: PatchCost): Way {
  if (!isCostly(cost)) return "none";
  return (cost.exact ?? cost.difference) > 0 ? "more" : "less";
}

/** What a row says of a case. */
export function figureOf(row: Shown, column: Column): Figure {
  const cost = row.costs.find(isAt(column));
  const alone = aloneText(row, cost, row.alone.find(isAt(column)));
  if (row.same_code) return { text: "0", way: "none", why: "", alone };
  const why = row.why_none || (cost === undefined ? "it was not counted" : cost.why_none);
  if (cost === undefined || why !== "") return { text: "?", way: "unknown", why, alone };
  return { text: sizeText(cost), way: wayOf(cost), why: "", alone };
}

function aloneText(row: Shown, cost: PatchCost | undefined, alone: PatchCost | undefined): string {
  const then = row.same_code ? 0 : cost?.exact;
  if (alone?.exact == null || then == null || Math.abs(alone.exact - then) <= ROUNDING) return "";
  return sizeText(alone);
}

/** Functions by how much more of them an operation runs, the largest difference first. */
export function functionsOf(costs: readonly PatchCost[]): FunctionFigure[] {
  const found = new Map<string, { exact: number | null; difference: number }[]>();
  for (const cost of costs) {
    const beside = cost.exact === null || !isCostly(cost) ? 0 : cost.exact - cost.in_its_code;
    const parts = [
      ...cost.functions,
      ...(beside === 0 ? [] : [{ function: "", exact: beside, difference: beside }]),
    ];
    for (const part of parts) found.set(part.function, [...(found.get(part.function) ?? []), part]);
  }
  return [...found]
    .map(([name, parts]) => {
      const [most = parts[0], ...others] = parts.toSorted((x, y) => size(y) - size(x));
      const text = most === undefined ? "" : sizeText(most);
      const alike = others.every((part) => sizeText(part) === text);
      return { name, text: alike ? text : `up to ${text}`, size: most ? size(most) : 0 };
    })
    .toSorted((x, y) => y.size - x.size)
    .map(({ name, text }) => ({ name, text }));
}

/** What costs on real processors and is done more or less often, each once. */
export function eventsOf(costs: readonly PatchCost[]): string[] {
  const said = costs
    .flatMap((cost) => cost.events)
    .filter(({ a, b, exact }) => (exact ?? b - a) !== 0)
    .map(({ a, b, exact, title }) => `${title} ${sizeText({ exact, difference: b - a })}`);
  return [...new Set(said)];
}

function size({ exact, difference }: { exact: number | null; difference: number }): number {
  return Math.abs(exact ?? difference);
}

export interface Processor {
  processor: string;
  title: string;
}

/** The processor that the service predicts for first; undefined where it has no prices. */
export function firstProcessor(body: Costs): Processor | undefined {
  const costs = [...body.whole, ...body.rows.flatMap((row) => row.costs)];
  return costs.flatMap((cost) => cost.predictions)[0];
}

/** What a row's costs take on a processor, each figure once. */
export function predictedOf(costs: readonly PatchCost[], processor: string): PredictedFigure[] {
  const found = new Map<string, PredictedFigure>();
  let said = 0;
  for (const cost of costs) {
    const each = cost.predictions.find((one) => one.processor === processor);
    if (each === undefined || !(isCostly(cost) || Math.abs(each.ns) >= LEAST_NS)) continue;
    said += 1;
    const text = `${signed(each.ns, 1)} ns [${signed(each.low, 1)}, ${signed(each.high, 1)}]`;
    const key = [text, ...each.missing].join("\n");
    const figure = found.get(key) ?? { text, missing: each.missing, cases: [] };
    found.set(key, { ...figure, cases: [...figure.cases, cost.case] });
  }
  return [...found.values()].map((figure) =>
    figure.cases.length === said ? { ...figure, cases: [] } : figure,
  );
}

export function interactionText(each: Interaction): string {
  const others =
    each.others.length > 0
      ? `with patch ${each.others.join(" or ")}`
      : "with an earlier patch, which one cannot be told";
  return (
    `Patch ${each.patch} interacts ${others}: ${signed(each.after, 0)} instructions an operation ` +
    `of ${each.case} on ${each.host} in its place, ${signed(each.alone, 0)} alone on the base.`
  );
}

/** Why patches were not measured alone, each reason once with its patches. */
export function notAlone(rows: readonly PatchRow[]): { why: string; patches: number[] }[] {
  const found = new Map<string, number[]>();
  for (const { alone_why: why, patches } of rows)
    if (why !== "") found.set(why, [...(found.get(why) ?? []), ...patches]);
  return [...found].map(([why, patches]) => ({ why, patches }));
}
