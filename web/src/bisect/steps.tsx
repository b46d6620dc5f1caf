/** Steps in their order: what each measured, why, and what came of it. */

import { Link } from "wouter";
import type { Bisection, BisectionStep } from "../api/types";
import { counted, duration, quantity, signed } from "../format/quantity";
import { ExperimentTag } from "../ui/tag";

const PURPOSE: Record<string, string> = {
  ends: "the ends",
  search: "search",
  verify: "verification",
};

export function Steps({ bisection }: { bisection: Bisection }) {
  return (
    <table className="list stack steps">
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col">Levels</th>
          <th scope="col">Boots</th>
          <th scope="col">Experiment</th>
        </tr>
      </thead>
      <tbody>
        {bisection.steps.map((step) => (
          <tr key={step.number}>
            <th scope="row">
              <div>
                {step.number}. {PURPOSE[step.purpose] ?? step.purpose}
                {step.verifies !== null && ` of change ${step.verifies}`}
              </div>
              <div className="soft small">{step.why}</div>
            </th>
            <td data-label="Levels">
              <Levels step={step} bisection={bisection} />
            </td>
            <td data-label="Boots">
              <div>
                {step.over
                  ? counted(step.boots, "boot")
                  : `${counted(step.blocks, "block")} planned`}
                {step.over && <div className="faint small">{duration(step.measured_s)}</div>}
              </div>
            </td>
            <td data-label="Experiment">
              <div className="buttons">
                <Link to={`/experiments/${step.experiment_id}`}>{step.experiment_id}</Link>
                <ExperimentTag state={step.experiment_state} />
                {step.profiled && <span className="faint small">profiled</span>}
              </div>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** ``point 4: 905 ns, +32.1 %``: each against the step's first point. */
function Levels({ step, bisection }: { step: BisectionStep; bisection: Bisection }) {
  if (!step.over)
    return <span className="faint">points {step.points.join(", ")}: being measured</span>;
  const last = bisection.candidates;
  return (
    <ul className="levels">
      {step.levels.map((level, at) => (
        <li key={level.point}>
          <span className="faint">
            {level.point > last ? "last end, reverted" : `point ${level.point}`}
          </span>{" "}
          {level.mean === null ? (
            <span className="soft">no boot counts</span>
          ) : (
            <span className="nowrap">
              {quantity(level.mean, bisection.unit)}
              {at > 0 && level.effect_percent !== null && (
                <strong> {signed(level.effect_percent, 2)} %</strong>
              )}{" "}
              <span className="faint">× {level.boots}</span>
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
