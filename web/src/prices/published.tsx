/** Published tables beside what prices predict of them. Each opens by itself. */

import { useQuery } from "@tanstack/react-query";
import { priceTablesQuery } from "../api/queries";
import type { PredictedCell, PredictedTable } from "../api/types";
import { fixed, signed } from "../format/quantity";
import { Loaded } from "../ui/answers";
import { Tag } from "../ui/tag";
import { OpenedDetails } from "./opened-details";
import { agreementText, publishedText, signWord } from "./published-words";

export function Published() {
  const query = useQuery(priceTablesQuery());
  return (
    <section className="panel" aria-labelledby="published">
      <header>
        <h2 id="published">Published tables, predicted</h2>
        <span className="soft small">
          <code>mitigauge price predict</code>
        </span>
      </header>
      <Loaded query={query} part>
        {(tables) => (
          <>
            {tables.map((table) => (
              <OneTable key={table.table} of={table} />
            ))}
          </>
        )}
      </Loaded>
    </section>
  );
}

function OneTable({ of }: { of: PredictedTable }) {
  return (
    <OpenedDetails
      summary={
        <>
          <strong>{of.title}</strong> <Tag tone="quiet" text="predicted" />
          {of.agreement.map((mode) => (
            <span key={mode.mode} className="held">
              {agreementText(mode)}
            </span>
          ))}
        </>
      }
    >
      <Opened of={of} />
    </OpenedDetails>
  );
}

function Opened({ of }: { of: PredictedTable }) {
  return (
    <div className="opened">
      <p className="small soft">
        Published: {of.citation}. Predicted: how often ({of.operation}; {of.host}; {of.source}
        ), times the prices of {of.prices}
        {of.pace !== "" && <>; {of.pace}</>}. Percent. <em>Needs</em>: operations a second of a
        processor that make the published figure at these prices.
        {of.reference !== "" && (
          <>
            {" "}
            <em>From {of.reference}</em>: predicted as if the published figure of{" "}
            <code>{of.reference}</code> beside it told how often.
          </>
        )}
      </p>
      <div className="scroll-x">
        <table className="list stack" aria-label={`${of.title}, predicted`}>
          <thead>
            <tr>
              <th scope="col">Case</th>
              <th scope="col">Mode</th>
              <th scope="col" className="num">
                Published
              </th>
              <th scope="col" className="num">
                Predicted
              </th>
              <th scope="col" className="num">
                Needs, 1/s
              </th>
              {of.reference !== "" && (
                <th scope="col" className="num">
                  From {of.reference}
                </th>
              )}
              <th scope="col">Sign</th>
            </tr>
          </thead>
          <tbody>
            {of.cells.map((cell, at) => (
              <Row key={at} cell={cell} of={of} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Row({ cell, of }: { cell: PredictedCell; of: PredictedTable }) {
  const word = signWord(cell, of.least_percent);
  return (
    <tr>
      <th scope="row">{cell.case}</th>
      <td data-label="Mode">
        <code>{cell.mode}</code>
      </td>
      <td className="num" data-label="Published">
        {publishedText(cell)}
      </td>
      <td className="num" data-label="Predicted">
        {cell.percent === null ? (
          `no price of ${cell.missing.join(", ")}`
        ) : (
          <div>
            {signed(cell.percent, 2)}{" "}
            <span className="soft nowrap">
              [{signed(cell.low ?? 0, 2)}, {signed(cell.high ?? 0, 2)}]
            </span>
          </div>
        )}
      </td>
      <td className="num" data-label="Needs, 1/s">
        {cell.needed === null ? <span className="faint">none does</span> : fixed(cell.needed, 0)}
      </td>
      {of.reference !== "" && (
        <td className="num" data-label={`From ${of.reference}`}>
          {cell.implied === null ? <span className="faint">–</span> : signed(cell.implied, 2)}
        </td>
      )}
      <td data-label="Sign">
        {word === null ? (
          <span className="faint">no difference published</span>
        ) : (
          <div>
            <Tag tone={word === "right" ? "good" : "bad"} text={word} />
          </div>
        )}
      </td>
    </tr>
  );
}
