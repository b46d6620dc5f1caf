/** How regressions are put in words. */

import { Link } from "wouter";
import type { RegressionState, RegressionSummary } from "../api/types";
import { effectOf, effectParts } from "../format/effect";
import { BOUND } from "../format/quantity";
import { CountedMark, EmulatedMark } from "../ui/emulated";
import { Tag } from "../ui/tag";
import { CONFIRMATION_STATE, REGRESSION_STATE } from "../words";

export const OPEN: RegressionState[] = ["new", "confirmed", "assigned", "known"];
export const OVER: RegressionState[] = ["fixed", "false", "not-worth-it", "duplicate"];

export function RegressionTag({ state }: { state: RegressionState }) {
  const word = REGRESSION_STATE[state];
  return <Tag tone={word.tone} text={word.label} title={word.meaning} />;
}

/** What fresh boots say of one that nobody judged yet. */
export function FreshBootsWord({ of }: { of: RegressionSummary }) {
  if (of.state !== "new" || of.confirmation === null) return null;
  const word = CONFIRMATION_STATE[of.confirmation];
  return (
    <span className="faint small nowrap" title={word.meaning}>
      {" "}
      fresh boots: {word.label}
    </span>
  );
}

/** Values over time alone only suspect, until fresh boots or a person bear them out. */
export function worseWords(of: RegressionSummary): string {
  return of.is_sure ? "is worse by" : "looks worse by";
}

/** +5.0 % with its interval; what became worse has no other verdict. */
export function RegressionEffect({ of }: { of: RegressionSummary }) {
  const effect = effectOf(of);
  if (effect === null) return <span className="effect">from 0</span>;
  const { change, interval } = effectParts(effect);
  return (
    <span className="effect nowrap" data-verdict="worse">
      <strong>
        {BOUND[effect.bound ?? "exact"].sign}
        {change}
      </strong>{" "}
      {interval !== "" && <span className="soft">{interval}</span>}
    </span>
  );
}

export function RegressionLink({ of }: { of: RegressionSummary }) {
  return (
    <>
      <Link to={`/regressions/${of.id}`}>
        <strong>{of.case}</strong>
      </Link>
      <div className="faint small">
        {of.metric_title}, <span className="mono">{of.mode}</span> on {of.host_class}
        {of.emulated && (
          <>
            {" "}
            <EmulatedMark />
          </>
        )}
        {of.clock === "counted" && (
          <>
            {" "}
            <CountedMark />
          </>
        )}
      </div>
    </>
  );
}

export function Owner({ of }: { of: RegressionSummary }) {
  if (of.owner_name === "") return <span className="faint">nobody</span>;
  return <>{of.owner_name}</>;
}
