/** How a trend and its changes are put in words and addresses. */

import { effectParts } from "../format/effect";
import { Link } from "wouter";
import type { TrendChange, TrendSummary } from "../api/types";
import { quantity } from "../format/quantity";
import { Tag } from "../ui/tag";

type Where = Pick<TrendSummary, "environment" | "host_class">;

export function classPath({ environment, host_class }: Where): string {
  const query = new URLSearchParams({ tab: "trends", environment, class: host_class });
  return `/regressions?${query.toString()}`;
}

export function ClassLink(where: Where) {
  return <Link to={classPath(where)}>{where.host_class}</Link>;
}

/** +5.0 %, worse; where the level before is 0, both levels. */
export function Effect({ change, full = false }: { change: TrendChange; full?: boolean }) {
  const { effect_percent: effect, ci_low_percent: low, ci_high_percent: high } = change;
  const size =
    effect === null
      ? `${quantity(change.before, change.unit)} → ${quantity(change.after, change.unit)}`
      : effectParts({ value: effect, low, high }).change;
  return (
    <span className="effect nowrap" data-verdict={change.verdict}>
      <strong>{size}</strong> {change.verdict}
      {full && effect !== null && low !== null && high !== null && (
        <span className="soft"> {effectParts({ value: effect, low, high }).interval}</span>
      )}
    </span>
  );
}

const KIND = { lasting: "lasting", went_away: "went away", withdrawn: "no longer seen" } as const;

export function ChangeTags({ change }: { change: TrendChange }) {
  const said = change.state !== "open";
  return (
    <span className="buttons">
      <Tag tone={change.kind === "lasting" && !said ? "busy" : "quiet"} text={KIND[change.kind]} />
      <Tag
        tone={said ? "good" : "quiet"}
        text={change.state}
        title={said ? `by ${change.said_by}: ${change.said}` : "nobody has accepted it"}
      />
      {change.version > 1 && <Tag tone="quiet" text={`version ${change.version}`} />}
    </span>
  );
}

/** What is measured, in one line below a case's name. */
export function About({ trend }: { trend: Omit<TrendSummary, "sparkline"> }) {
  return (
    <div className="faint small">
      {trend.metric_title}, <span className="mono">{trend.mode}</span>
      {trend.line !== "" && `, ${trend.line}`}
    </div>
  );
}
