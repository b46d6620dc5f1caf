/** What limits said of an experiment: how many are broken, and each row behind it. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { LimitRow } from "../api/types";
import { commonScale, fixed } from "../format/quantity";
import { EmulatedMark } from "../ui/emulated";
import { Tag } from "../ui/tag";
import type { Tone } from "../words";
import "./limits.css";
import { experimentLimitsQuery } from "./queries";

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
  if (found.rows.length === 0 && found.trouble === "") return null;
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
      {found.trouble !== "" && <p className="problem">Not judged by its limits: {found.trouble}</p>}
      {found.rows.length > 0 && <Rows id={id} rows={found.rows} />}
      <div className="inside">
        <p className="soft small">
          By the limits of its spec. A limit is broken where the whole 95 % interval lies beyond it.
        </p>
      </div>
    </details>
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
            limit {row.line}
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
