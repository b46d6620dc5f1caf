/** What limits said of an experiment: how many are broken, and each row behind it. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { Action } from "../act/action";
import { useRights } from "../act/rights";
import type { ExperimentLimits, LimitRow } from "../api/types";
import { commonScale, fixed } from "../format/quantity";
import { EmulatedMark } from "../ui/emulated";
import { Tag } from "../ui/tag";
import type { Tone } from "../words";
import "./limits.css";
import { experimentLimitsQuery, judgeAnew, limitsKey } from "./queries";

// More would hide the matrix from whoever did not ask for them.
const MOST_OPEN = 12;

const SAID: Record<LimitRow["kept"], { tone: Tone; text: string }> = {
  fail: { tone: "bad", text: "broken" },
  cannot_tell: { tone: "void", text: "cannot tell" },
  pass: { tone: "good", text: "kept" },
};

export function LimitsOfExperiment({ id }: { id: number }) {
  const { data: found } = useQuery(experimentLimitsQuery(id));
  if (found === undefined) return null;
  if (found.rows.length === 0 && found.trouble === "") return <NotJudged id={id} of={found} />;
  const { broken, cannot_tell: unsure, kept } = found.counts;
  return (
    <details className="panel limit-rows" open={broken > 0 && found.rows.length <= MOST_OPEN}>
      <summary>
        <h2>Limits</h2>
        <span className="limit-counts">
          {broken > 0 && <Tag tone="bad" text={`${broken} broken`} />}
          {unsure > 0 && <Tag tone="void" text={`${unsure} cannot tell`} />}
          {kept > 0 && <Tag tone="good" text={`${kept} kept`} />}
        </span>
      </summary>
      {found.trouble !== "" && <p className="problem">Not judged by all limits: {found.trouble}</p>}
      {found.rows.length > 0 && <Rows id={id} rows={found.rows} />}
      <div className="inside">
        <p className="soft small">
          By the <Link to="/experiments?tab=limits">limits</Link> that were in force when it was
          judged. A limit is broken where the whole 95 % interval lies beyond it.
        </p>
        <JudgeAnew id={id} />
      </div>
    </details>
  );
}

/** Where limits say nothing of it. Without any in force the page says nothing of limits at all. */
function NotJudged({ id, of }: { id: number; of: ExperimentLimits }) {
  if (of.in_force === 0) return null;
  return (
    <div className="buttons small soft limits-unjudged">
      <span>
        {of.judged_at === null
          ? "Limits were set after it ended: it was not judged by them."
          : "No limit that was in force at its end is of its figures."}
      </span>
      <JudgeAnew id={id} />
    </div>
  );
}

function JudgeAnew({ id }: { id: number }) {
  const queries = useQueryClient();
  const { may } = useRights();
  if (!may("set limits")) return null;
  return (
    <Action
      label="Judge by limits"
      run={() => judgeAnew(id)}
      settled={() => queries.invalidateQueries({ queryKey: limitsKey })}
    >
      <p>
        It is judged by the limits that are in force now. What is said of it stands in the place of
        what was said before.
      </p>
    </Action>
  );
}

function Rows({ id, rows }: { id: number; rows: LimitRow[] }) {
  return (
    <table className="list stack" aria-label="What limits say">
      <thead>
        <tr>
          <th scope="col">Limit</th>
          <th scope="col">Case</th>
          <th scope="col">Host</th>
          <th scope="col">Arm</th>
          <th scope="col" className="num">
            Is
          </th>
          <th scope="col">Said</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <Row key={at} id={id} row={row} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ id, row }: { id: number; row: LimitRow }) {
  const said = SAID[row.kept];
  return (
    <tr>
      <th scope="row">
        <div>
          {row.limit}
          <div className="faint small because">
            {row.file}, line {row.line}
            {row.because !== "" && `: ${row.because}`}
          </div>
        </div>
      </th>
      <td data-label="Case">
        {row.case_id === null ? row.case : <Link to={casePath(id, row)}>{row.case}</Link>}
      </td>
      <td data-label="Host">
        <span>
          {row.host} {row.emulated && <EmulatedMark />}
        </span>
      </td>
      <td data-label="Arm">{row.arm}</td>
      <td className="num" data-label="Is">
        {row.value === null ? <span className="faint">no figure</span> : <Figure row={row} />}
      </td>
      <td data-label="Said">
        <span>
          <Tag tone={said.tone} text={said.text} />
          {row.why !== "" && <span className="small soft"> {row.why}</span>}
        </span>
      </td>
    </tr>
  );
}

function Figure({ row }: { row: LimitRow }) {
  const known = [row.value, row.low, row.high].filter((each) => each !== null);
  const scale = row.unit === "%" ? { factor: 1, label: "%" } : commonScale(known, row.unit);
  const [value = "", low, high] = known.map((each) => fixed(each * scale.factor, 2));
  return (
    <span>
      <span className="nowrap">
        {value} {scale.label}
      </span>{" "}
      {low !== undefined && high !== undefined && (
        <span className="soft nowrap">
          [{low}, {high}]
        </span>
      )}
    </span>
  );
}

function casePath(id: number, row: LimitRow): string {
  return `/experiments/${id}/cases/${row.case_id}?${new URLSearchParams({ host: row.host }).toString()}`;
}
