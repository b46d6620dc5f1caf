/** One host's losses: the first family's modes down, the second's across. */

import { Link } from "wouter";
import type { LossBlock, LossCell, LossClaim, LossTable } from "../api/types";
import { interval, percent, percentDigits, quantity } from "../format/quantity";
import { CountedMark, EmulatedMark } from "../ui/emulated";
import { CLAIM, VERDICT } from "../words";

interface BlockProps {
  experimentId: number;
  table: LossTable;
  block: LossBlock;
}

export function Block({ experimentId, table, block }: BlockProps) {
  const cells = new Map(block.cells.map((cell) => [`${cell.first} ${cell.second}`, cell]));
  const name = block.host_class || block.processor || "processor unknown";
  const query = new URLSearchParams({ host: block.host, metric: table.metric });
  const path = `/experiments/${experimentId}/cases/${table.case_id}?${query.toString()}`;
  return (
    <div className="loss-block">
      <h3>
        {name} <span className="host">{block.host}</span> {block.emulated && <EmulatedMark />}{" "}
        {block.counted && <CountedMark />}
      </h3>
      {block.processor !== "" && block.processor !== name && (
        <p className="faint small">{block.processor}</p>
      )}
      <table className="loss">
        <caption className="visually-hidden">
          Loss of {table.metric_title} on {block.host} by {table.first.family} and{" "}
          {table.second.family}
        </caption>
        <thead>
          <tr>
            <th scope="col">
              {table.first.family} ↓ {table.second.family} →
            </th>
            {table.second.modes.map((mode) => (
              <th scope="col" key={mode}>
                {mode}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.first.modes.map((first) => (
            <tr key={first}>
              <th scope="row">{first}</th>
              {table.second.modes.map((second) => (
                <td key={second}>
                  <Cell cell={cells.get(`${first} ${second}`)} unit={table.unit} path={path} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellProps {
  cell: LossCell | undefined;
  unit: string;
  path: string;
}

function Cell({ cell, unit, path }: CellProps) {
  if (cell === undefined) return <span className="faint small">no arm</span>;
  return (
    <div className="loss-cell" title={cell.note || undefined}>
      <Figure cell={cell} unit={unit} path={path} />
      {cell.claims.length > 0 && <Claims claims={cell.claims} />}
    </div>
  );
}

function Figure({ cell, unit, path }: CellProps & { cell: LossCell }) {
  const boots = cell.n > 0 && <span className="n">n {cell.n}</span>;
  if (cell.is_baseline) {
    return (
      <>
        <span className="soft">baseline</span>
        <span className="interval">
          {cell.mean !== null && quantity(cell.mean, unit)} {boots}
        </span>
      </>
    );
  }
  if (cell.state === "not_effective") {
    const said = cell.observed.join("; ") || cell.note;
    return (
      <>
        <span className="void">
          <span aria-hidden="true">⊘ </span>not effective
        </span>
        {said && <span className="faint small">the kernel said: {said}</span>}
      </>
    );
  }
  if (cell.state !== "measured" || typeof cell.loss_percent !== "number") {
    return (
      <>
        <span className="faint">no data</span>
        {cell.note !== "" && <span className="faint small">{cell.note}</span>}
      </>
    );
  }
  const { loss_percent: loss, low_percent: low, high_percent: high } = cell;
  const known = typeof low === "number" && typeof high === "number";
  const digits = known ? percentDigits(loss, low, high) : percentDigits(loss);
  const verdict = cell.verdict ?? "undecided";
  return (
    <>
      <Link to={path} className="effect" data-verdict={verdict} title={VERDICT[verdict].meaning}>
        {percent(loss, digits)} <span className="verdict">{verdict}</span>
      </Link>
      <span className="interval">
        {known && `[${interval(low, high, digits)}] `}
        {boots}
      </span>
    </>
  );
}

/** Published losses of the same combination. */
function Claims({ claims }: { claims: LossClaim[] }) {
  return (
    <ul className="loss-claims" aria-label="Published losses">
      {claims.map((claim) => (
        <li key={`${claim.source} ${claim.label}`} title={claim.reason}>
          <span className="faint">claimed </span>
          {claim.label} {claimed(claim)}
          {claim.outcome !== "emulated" && (
            <span data-tone={CLAIM[claim.outcome].tone}> {CLAIM[claim.outcome].label}</span>
          )}
        </li>
      ))}
    </ul>
  );
}

function claimed({ low_percent: low, high_percent: high }: LossClaim): string {
  return low === high ? percent(low) : `${percent(low)} to ${percent(high)}`;
}
