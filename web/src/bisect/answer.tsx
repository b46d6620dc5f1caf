/** What a bisection answered, in words, with the flame graph of the difference. */

import { Link } from "wouter";
import type { Bisection, BisectionAnswer } from "../api/types";
import { counted, interval, percent } from "../format/quantity";
import { chance } from "./words";

interface FoundProps {
  bisection: Bisection;
  found: BisectionAnswer;
}

export function Found({ bisection, found }: FoundProps) {
  const named = bisection.changes.filter((each) => found.candidates.includes(each.position));
  return (
    <section className="panel answer-of" data-kind={found.kind} aria-labelledby="answer">
      <header>
        <h2 id="answer">{headline(found)}</h2>
        {found.confidence !== null && (
          <span className="soft">
            {found.kind === "undecided" ? "that it is one of them:" : "confidence"}{" "}
            {chance(found.confidence)}
          </span>
        )}
      </header>
      <div className="inside">
        {named.length > 0 && (
          <ol className="named">
            {named.map((each) => (
              <li key={each.position}>
                <span className="faint">{each.position}.</span> <strong>{each.title}</strong>{" "}
                <span className="faint mono">{each.name.slice(0, 12)}</span>
              </li>
            ))}
          </ol>
        )}
        <Effect found={found} />
        <Reverts found={found} />
        {found.why !== "" && <p className="soft">{found.why}</p>}
        {found.what_it_takes !== "" && <p>{found.what_it_takes}</p>}
        <Evidence found={found} />
        {found.kind === "found" && (
          <p className="faint small">
            <code>mitigauge bisect report {bisection.id}</code> has the mail about it. Nothing is
            sent by itself.
          </p>
        )}
      </div>
    </section>
  );
}

function headline(found: BisectionAnswer): string {
  switch (found.kind) {
    case "found":
      return "The culprit";
    case "several":
      return found.candidates.length === 1
        ? "One culprit, and something besides it"
        : "More than one culprit";
    case "none_of_these":
      return "None of these";
    case "refused":
      return "It was refused";
    case "undecided":
      return "No name: it may be one of these";
  }
}

function Effect({ found }: { found: BisectionAnswer }) {
  const { effect_percent: effect, ci_low_percent: low, ci_high_percent: high } = found;
  if (effect === null) return null;
  const of = found.kind === "found" ? "against its parent" : "between the ends";
  return (
    <p>
      <strong>{percent(effect, 2)}</strong> {of}
      {low !== null && high !== null && ` (95 % interval [${interval(low, high, 2)}])`}
    </p>
  );
}

/** What the last end did without a candidate. */
const REVERTED = {
  gone: "the change is gone",
  part: "part of the change stays",
  nothing: "the change stays",
  worse: "it is worse than before",
} as const;

function Reverts({ found }: { found: BisectionAnswer }) {
  return found.reverts.map((each) => (
    <p key={each.candidate} className="reverted" data-outcome={each.outcome}>
      With change {each.candidate} reverted on the last end{" "}
      <strong>{REVERTED[each.outcome]}</strong>: {percent(each.change_percent, 2)} (95 % interval [
      {interval(each.change_low_percent, each.change_high_percent, 2)}]) against the last end as it
      is
      {each.off_percent !== null &&
        each.off_low_percent !== null &&
        each.off_high_percent !== null &&
        `, ${percent(each.off_percent, 2)} ([${interval(each.off_low_percent, each.off_high_percent, 2)}]) from the change's parent`}
      ; {counted(each.blocks, "block")}.
    </p>
  ));
}

function Evidence({ found }: { found: BisectionAnswer }) {
  const graph = found.flame_graph;
  if (graph === null && found.verified_by.length === 0) return null;
  return (
    <p className="evidence">
      {graph !== null && (
        <Link
          className="button"
          to={`/profiles?${new URLSearchParams({
            experiment: String(graph.experiment_id),
            case: String(graph.case_id),
            host: graph.host,
            a: graph.a,
            b: graph.b,
          }).toString()}`}
        >
          Flame graph of the difference
        </Link>
      )}{" "}
      {found.verified_by.length > 0 && (
        <span>
          verified by{" "}
          {found.verified_by.map((id) => (
            <Link key={id} to={`/experiments/${id}`}>
              experiment {id}{" "}
            </Link>
          ))}
        </span>
      )}
    </p>
  );
}
