/** Modes of a question by processor, the cheapest first: bills times prices. */

import type { ProcessorRanking, QuestionRanking } from "../api/types";
import { Empty } from "../ui/empty";
import { TrustTag } from "./trust";
import { breakEvenTexts, chanceText, costText, forgottenText } from "./words";

interface RankingProps {
  of: QuestionRanking;
  /** Whether processors were left out. */
  narrowed: boolean;
}

export function Ranking({ of, narrowed }: RankingProps) {
  const heading = `ranking-${of.bills}`;
  const [first] = of.processors;
  if (first === undefined && narrowed) return null;
  return (
    <section className="panel" aria-labelledby={heading}>
      <header>
        <h2 id={heading}>Modes, cheapest first: {of.operation}</h2>
        <span className="soft small">
          <code>mitigauge price rank {of.bills}</code>
        </span>
      </header>
      {first === undefined ? (
        <NoRanking />
      ) : (
        <>
          <Meaning of={of} first={first} />
          <RankingTable of={of} labelledBy={heading} />
        </>
      )}
    </section>
  );
}

function NoRanking() {
  return (
    <Empty
      next={[
        ["mitigauge price measure --here -o prices/processors", "measures this machine’s prices"],
      ]}
    >
      No processor has the prices that these modes cost, so none can be ranked.
    </Empty>
  );
}

/** What the figures are, and the modes by their names. */
function Meaning({ of, first }: { of: QuestionRanking; first: ProcessorRanking }) {
  const modes = [...first.ranked, ...first.unpriced];
  return (
    <p className="inside small soft">
      What a mode adds to the operation, <em>predicted</em>: its bill ({of.source}) times the
      processor’s prices, with the 95 % interval.{" "}
      {modes.map(({ mode, title }, at) => (
        <span key={mode}>
          {at > 0 && "; "}
          <code>{mode}</code>: {title}
        </span>
      ))}
      .
    </p>
  );
}

function RankingTable({ of, labelledBy }: { of: QuestionRanking; labelledBy: string }) {
  return (
    <table className="list stack prices-ranking" aria-labelledby={labelledBy}>
      <thead>
        <tr>
          <th scope="col">Processor</th>
          <th scope="col">Trust</th>
          <th scope="col">Cheapest first, predicted</th>
          <th scope="col">Chance of this order</th>
          <th scope="col">Cost unknown</th>
        </tr>
      </thead>
      <tbody>
        {of.processors.map((each) => (
          <Row key={each.processor} of={each} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ of }: { of: ProcessorRanking }) {
  return (
    <tr>
      <th scope="row">
        <bdi>{of.title}</bdi>
        <div className="faint small mono">{of.processor}</div>
      </th>
      <td data-label="Trust">
        <div>
          <TrustTag of={of.trusted} />
        </div>
      </td>
      <td data-label="Predicted">
        <div>
          <Order of={of} />
          <p className="soft small">{forgottenText(of.forgotten_ns)}</p>
        </div>
      </td>
      <td data-label="Chance">
        {chanceText(of.chance) ?? <span className="faint">no order</span>}
      </td>
      <td data-label="Unknown">
        <Unknown of={of} />
      </td>
    </tr>
  );
}

function Order({ of }: { of: ProcessorRanking }) {
  return (
    <ol>
      {of.ranked.map(({ mode, predicted }) => {
        const { cost, ends } = costText(predicted);
        return (
          <li key={mode}>
            <code>{mode}</code> <span className="nowrap">{cost}</span>{" "}
            <span className="soft nowrap">{ends}</span>
          </li>
        );
      })}
    </ol>
  );
}

function Unknown({ of }: { of: ProcessorRanking }) {
  if (of.unpriced.length === 0) return <span className="faint">none</span>;
  return (
    <ul>
      {of.unpriced.map(({ mode, missing }) => (
        <li key={mode}>
          <code>{mode}</code>: no price of {missing.join(", ")}.{" "}
          <span className="soft small">{breakEvenTexts(of, mode).join(" ")}</span>
        </li>
      ))}
    </ul>
  );
}
