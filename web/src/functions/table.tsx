/** The table itself: functions down, arms across, on one common scale. */

import { Link } from "wouter";
import type { FunctionCost, FunctionOverArms, Functions } from "../api/types";
import { profilePath } from "../experiment/paths";
import { commonScale, fixed, type Scale } from "../format/quantity";
import { isSignificant } from "../profile/colour";
import { Name } from "../profile/inspector";
import { bare, intervalText, qText, signedBare } from "../profile/words";
import type { Asked, Change, Sort } from "./address";

interface TableProps {
  view: Asked;
  functions: Functions;
  change: Change;
}

const SORTS: readonly [Sort, string][] = [
  ["difference", "largest difference"],
  ["cost", "largest cost"],
  ["q", "smallest q"],
  ["name", "name"],
];

/** One scale for the whole table: a column that changes its unit cannot be compared. */
export function scaleOf({ arms, unit }: Functions): Scale {
  const totals = arms.flatMap((arm) => (typeof arm.total === "number" ? [arm.total] : []));
  return commonScale(totals, unit);
}

export function Table({ view, functions, change }: TableProps) {
  const scale = scaleOf(functions);
  const baseline = functions.arms.find((arm) => arm.is_baseline)?.arm ?? "";
  const row = { case_id: functions.case_id, host: functions.host };
  return (
    <>
      <Order {...{ view, functions, change }} />
      <div className="scroll-x" tabIndex={0} role="region" aria-label="Functions over arms">
        <table className="list stack over-arms">
          <thead>
            <tr>
              <th scope="col">Function</th>
              {functions.arms.map((arm) => (
                <th scope="col" key={arm.arm_id}>
                  <span className="mono">{arm.arm}</span>
                  {arm.is_baseline ? (
                    <span className="faint"> baseline</span>
                  ) : (
                    arm.profiles > 0 && (
                      <>
                        {" "}
                        <Link to={profilePath(functions.experiment_id, row, baseline, arm.arm)}>
                          flame graph
                        </Link>
                      </>
                    )
                  )}
                  <span className="faint total">
                    {typeof arm.total === "number"
                      ? `all ${bare(arm.total, scale)} ${scale.label}`
                      : "no profile"}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {functions.functions.map((one) => (
              <Row key={one.function} {...{ one, functions, view, scale }} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Order({ view, functions, change }: TableProps) {
  return (
    <div className="inside filters order">
      <label className="small picked">
        Sort by{" "}
        <select
          className="field"
          value={view.sort}
          onChange={(event) => {
            const sort = event.target.value;
            change({ sort: sort === "difference" ? "" : sort, up: "" });
          }}
        >
          {SORTS.map(([sort, words]) => (
            <option key={sort} value={sort}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {view.sort !== "name" && (
        <label className="small picked">
          of{" "}
          <select
            className="field"
            value={view.arm}
            onChange={(event) => {
              change({ arm: event.target.value });
            }}
          >
            <option value="">any arm</option>
            {functions.arms.map((arm) => (
              <option key={arm.arm_id} value={arm.arm}>
                {arm.arm}
              </option>
            ))}
          </select>
        </label>
      )}
      <button
        type="button"
        className="button"
        aria-pressed={view.upwards}
        onClick={() => {
          change({ up: view.upwards ? "" : "1" });
        }}
      >
        Turn the order
      </button>
    </div>
  );
}

interface RowProps {
  one: FunctionOverArms;
  functions: Functions;
  view: Asked;
  scale: Scale;
}

function Row({ one, functions, view, scale }: RowProps) {
  return (
    <tr>
      <th scope="row">
        <Name>{one.function}</Name>
      </th>
      {functions.arms.map((arm, at) => (
        <td key={arm.arm_id} data-label={arm.arm}>
          <Cost cost={one.cells[at] ?? null} {...{ view, scale }} most={functions.most} />
        </td>
      ))}
    </tr>
  );
}

interface CostProps {
  cost: FunctionCost | null;
  view: Asked;
  scale: Scale;
  most: number;
}

function Cost({ cost, view, scale, most }: CostProps) {
  if (cost === null) return <span className="faint">no profile</span>;
  const value = view.measure === "self" ? cost.own : cost.total;
  const { difference, low, high, q } = cost;
  const telling = typeof q === "number" && isSignificant(q);
  return (
    <div className="cost">
      <span className="figure">
        {bare(value, scale)}{" "}
        {typeof difference === "number" && (
          <span className="difference" data-way={telling ? way(difference) : undefined}>
            {signedBare(difference, scale)}
          </span>
        )}
      </span>
      <span className="cost-bar" aria-hidden="true">
        <span style={{ width: `${fixed(most > 0 ? (100 * value) / most : 0, 2)}%` }} />
      </span>
      {typeof difference === "number" && (
        <span className="faint small">
          [{intervalText(low ?? NaN, high ?? NaN, scale)}] q {qText(q ?? NaN)}
        </span>
      )}
      {cost.name !== "" && (
        <span className="faint small">
          there <span className="mono">{cost.name}</span>
        </span>
      )}
    </div>
  );
}

function way(difference: number): "more" | "less" | undefined {
  if (difference === 0) return undefined;
  return difference > 0 ? "more" : "less";
}
