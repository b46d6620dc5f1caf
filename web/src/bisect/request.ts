/** What a bisection is asked with: from an address, and from the fields of its form. */

import type { Values } from "../act/fields";
import type { BisectionProposal, BisectionRequest } from "../api/types";

export type ProposalAsked =
  | { regression: number }
  | { experiment: number; case: number; host: string; arm: string; metric: string };

/** What the address says became worse; null: nothing. */
export function proposalAsked(search: URLSearchParams): ProposalAsked | null {
  const number = (name: string) => Number(search.get(name) ?? "");
  const regression = number("regression");
  if (Number.isSafeInteger(regression) && regression > 0) return { regression };
  const [experiment, caseId] = [number("experiment"), number("case")];
  const [host, arm, metric] = ["host", "arm", "metric"].map((name) => search.get(name) ?? "");
  if (!(experiment > 0 && caseId > 0 && host && arm && metric)) return null;
  return { experiment, case: caseId, host, arm, metric };
}

/** Parameters of a case as they are typed: `test=basic loops=300000`. */
export function parametersOf(parameters: Record<string, string | number>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}

const NUMERIC = /^[+-]?\d+(\.\d+)?$/;

/** The other way round; a word without `=` is left to the service to refuse. */
export function parametersFrom(text: string): Record<string, string | number> {
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf("=");
      const [name, value] = at < 0 ? [word, ""] : [word.slice(0, at), word.slice(at + 1)];
      return [name, NUMERIC.test(value) ? Number(value) : value];
    }),
  );
}

/** Whether the form asks for what was proposed, of which one change alone can be it. */
export function isNothingToSearch(values: Values, proposal: BisectionProposal): boolean {
  if (proposal.changes === null || proposal.changes > 1) return false;
  const names = values.over === "arms" ? ["arms"] : ["series", "revision"];
  const { arms, series, revision } = proposal;
  const proposed: Values = { arms, series, revision };
  return names.every((name) => (values[name] ?? "").trim() === (proposed[name] ?? "").trim());
}

export function requestOf(values: Values, regression: number | null): BisectionRequest {
  const of = (name: string) => values[name] ?? "";
  const overArms = of("over") === "arms";
  return {
    series: overArms ? "" : of("series").trim(),
    revision: overArms ? "" : of("revision").trim(),
    arms: overArms ? of("arms") : "",
    patches: [],
    base: "linux-source-7.2",
    profile: "",
    hosts: of("hosts")
      .split(/[\s,]+/)
      .filter((host) => host !== ""),
    environment: of("environment").trim(),
    workload: of("workload").trim(),
    parameters: parametersFrom(of("parameters")),
    metric: of("metric").trim(),
    mode: of("mode").trim(),
    boots: Number(of("boots")),
    hours: Number(of("hours")),
    confidence: Number(of("confidence")),
    minimum_effect_percent: Number(of("minimum")),
    regression,
  };
}
