/** The bill: how often an operation does what costs on real processors, and what that predicts. */

import { Link } from "wouter";
import type { BillRow, ExactTable, PredictedCost } from "../api/types";
import { signed } from "../format/quantity";
import { countText, nanoseconds } from "./exact-words";

/** Predictions that are read at once: the service's own processor, and two that it is set to. */
const SHOWN = 3;

export function ExactBill({ table }: { table: ExactTable }) {
  if (table.bill.length === 0) return null;
  return (
    <section className="panel profile-panel" aria-labelledby="bill">
      <header>
        <h2 id="bill">The bill of an operation</h2>
      </header>
      <CountedRows
        table={table}
        labelledBy="bill"
        of="What costs on real processors"
        rows={table.bill.map((row) => [row.event, row])}
      />
      <footer className="inside small soft notes">
        <p>
          Counted, not priced: in emulation a barrier costs what any other instruction does. Bill ×
          prices of a processor is a <em>predicted</em> cost;{" "}
          <Link to="/fleet?tab=prices">Prices</Link> have their sources.
        </p>
        {table.predictions.length === 0 && (
          <p>
            No prices of a processor are known, so nothing is predicted;{" "}
            <code>prices/README.md</code> says how to give some.
          </p>
        )}
        {table.predictions.slice(0, SHOWN).map((each) => (
          <Predicted key={each.processor} cost={each} />
        ))}
        {table.predictions.length > SHOWN && (
          <details>
            <summary>{table.predictions.length - SHOWN} more processors</summary>
            {table.predictions.slice(SHOWN).map((each) => (
              <Predicted key={each.processor} cost={each} />
            ))}
          </details>
        )}
      </footer>
    </section>
  );
}

interface CountedProps {
  table: ExactTable;
  /** Id of the heading. */
  labelledBy: string;
  /** What the rows are, as a heading. */
  of: string;
  rows: readonly (readonly [string, Omit<BillRow, "event">])[];
}

/** Counts of an operation on both sides, with their difference. */
export function CountedRows({ table, labelledBy, of, rows }: CountedProps) {
  return (
    <div className="scroll-x">
      <table className="list stack" aria-labelledby={labelledBy}>
        <thead>
          <tr>
            <th scope="col">{of}</th>
            <th scope="col" className="num">
              A <bdi className="mono">{table.a.label}</bdi>
            </th>
            <th scope="col" className="num">
              B <bdi className="mono">{table.b.label}</bdi>
            </th>
            <th scope="col" className="num">
              Difference
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([key, row]) => (
            <Row key={key} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ row }: { row: Omit<BillRow, "event"> }) {
  return (
    <tr>
      <th scope="row">{row.title}</th>
      <td className="num" data-label="A">
        {countText(row.a)}
      </td>
      <td className="num" data-label="B">
        {countText(row.b)}
      </td>
      <td className="num" data-label="Difference">
        {row.exact === null ? signed(row.difference, 2) : signed(row.exact, 0)}
      </td>
    </tr>
  );
}

function Predicted({ cost }: { cost: PredictedCost }) {
  const sources = [...new Set(cost.parts.map((part) => part.source))];
  return (
    <p>
      Predicted for <bdi>{cost.title}</bdi>: {nanoseconds(cost.ns)} an operation more (95 %{" "}
      {nanoseconds(cost.low)} to {nanoseconds(cost.high)})
      {cost.missing.length > 0 && `, without ${cost.missing.join(", ")}, whose price is unknown`}.
      {sources.length > 0 && ` Prices: ${sources.join("; ")}.`}
    </p>
  );
}
