/** Checks that `mitigauge price check` stored: counts of each, and its rows once it is opened. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { priceCheckQuery } from "../api/queries";
import type { NsInterval, PriceCheck, PriceCheckRow } from "../api/types";
import { counted, fixed } from "../format/quantity";
import { Age, Stamp } from "../ui/age";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";
import { CountedMark, EmulatedMark } from "../ui/emulated";
import { Tag } from "../ui/tag";
import { OpenedDetails } from "./opened-details";
import { changeText, heldText } from "./words";

interface ChecksProps {
  checks: PriceCheck[];
  /** Older ones that are not listed. */
  more: number;
  /** Whether processors were left out. */
  narrowed: boolean;
}

export function Checks({ checks, more, narrowed }: ChecksProps) {
  return (
    <section className="panel" aria-labelledby="checks">
      <header>
        <h2 id="checks">How often predictions held</h2>
        <span className="soft small">
          <code>mitigauge price check</code>
        </span>
      </header>
      {checks.length === 0 ? (
        <NoChecks narrowed={narrowed} />
      ) : (
        <>
          <p className="inside small soft">
            Of each arm against the baseline of its case: what a host <em>measured</em>, and what
            prices <em>predicted</em> of what a lab host <em>counted</em>. A prediction holds where
            both differ by no more than their errors together (95 %). Prices that were estimated
            from the same boots hold by themselves.
          </p>
          {checks.map((check) => (
            <OneCheck key={check.id} check={check} />
          ))}
        </>
      )}
      {more > 0 && (
        <p className="inside small soft prices-more">
          {counted(more, "older check is", "older checks are")} not listed.
        </p>
      )}
    </section>
  );
}

function NoChecks({ narrowed }: { narrowed: boolean }) {
  if (narrowed)
    return (
      <p className="inside soft">
        No prediction for a processor that is like that was set beside a measurement.
      </p>
    );
  return (
    <Empty
      next={[
        [
          "mitigauge price check MEASURED COUNTED --processor PROCESSOR",
          "sets predictions beside what experiment MEASURED took on a host of yours; experiment COUNTED ran on a lab host",
        ],
      ]}
    >
      No prediction was set beside a measurement yet. <code>prices/README.md</code> says how to.
    </Empty>
  );
}

function OneCheck({ check }: { check: PriceCheck }) {
  return (
    <OpenedDetails
      summary={
        <>
          <strong>
            <bdi>{check.title}</bdi>
          </strong>{" "}
          <span>
            on <bdi>{check.host}</bdi>
          </span>{" "}
          <Marks check={check} />{" "}
          <span className="faint small">
            <Age at={check.at} />
          </span>
          <span className="held">{heldText(check)}</span>
        </>
      }
    >
      <Opened check={check} />
    </OpenedDetails>
  );
}

/** What is measured in counted time says nothing of a real processor. */
function Marks({ check }: { check: PriceCheck }) {
  return (
    <>
      {check.emulated && <EmulatedMark />} {check.clock === "counted" && <CountedMark />}
    </>
  );
}

function Opened({ check }: { check: PriceCheck }) {
  const query = useQuery(priceCheckQuery(check.id));
  return (
    <div className="opened">
      <p className="small soft">
        Measured by <Of experiment={check.measured} /> on{" "}
        <Link to={`/hosts/${encodeURIComponent(check.host)}`}>
          <bdi>{check.host}</bdi>
        </Link>
        , counted by <Of experiment={check.counted} />, with the prices of{" "}
        <code>{check.processor}</code>; <Stamp at={check.at} />.
      </p>
      <Loaded query={query}>
        {({ rows, left_out: leftOut }) => (
          <>
            <Rows rows={rows} of={check} />
            {leftOut > 0 && (
              <p className="small soft">
                {fixed(leftOut, 0)} more rows are in the counts and not listed.
              </p>
            )}
          </>
        )}
      </Loaded>
    </div>
  );
}

function Of({ experiment: { id, name } }: { experiment: PriceCheck["measured"] }) {
  return (
    <Link to={`/experiments/${id}`}>
      <bdi>{name}</bdi> ({id})
    </Link>
  );
}

function Rows({ rows, of }: { rows: PriceCheckRow[]; of: PriceCheck }) {
  return (
    <div className="scroll-x">
      <table className="list stack" aria-label={`Predictions for ${of.title} on ${of.host}`}>
        <thead>
          <tr>
            <th scope="col">Case</th>
            <th scope="col">Arm</th>
            <th scope="col">Measured</th>
            <th scope="col">Predicted</th>
            <th scope="col">Without a price</th>
            <th scope="col">Prediction</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <Row key={index} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ row }: { row: PriceCheckRow }) {
  return (
    <tr>
      <th scope="row">
        <bdi>{row.case}</bdi>
      </th>
      <td data-label="Arm">
        <bdi className="mono">{row.arm}</bdi>
      </td>
      <td data-label="Measured">
        <Change of={row.measured} />
      </td>
      <td data-label="Predicted">
        <Change of={row.predicted} />
      </td>
      <td data-label="No price">
        {row.missing.length === 0 ? (
          <span className="faint">none</span>
        ) : (
          <bdi>{row.missing.join(", ")}</bdi>
        )}
      </td>
      <td data-label="Prediction">
        <div>
          <Tag tone={row.holds ? "good" : "bad"} text={row.holds ? "holds" : "does not hold"} />
        </div>
      </td>
    </tr>
  );
}

function Change({ of }: { of: NsInterval }) {
  const { change, ends } = changeText(of);
  return (
    <div>
      {change} <span className="soft nowrap">{ends}</span>
    </div>
  );
}
