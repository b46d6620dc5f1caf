/** One bisection: its answer, candidates with their probability, steps, and what was skipped. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { BisectionActions } from "../act/bisection";
import { bisectionQuery } from "../api/queries";
import type { Bisection } from "../api/types";
import { counted, fixed } from "../format/quantity";
import { Stamp } from "../ui/age";
import { Loaded } from "../ui/answers";
import { CountedBadge, EmulatedBadge, EmulatedNotice } from "../ui/emulated";
import { Empty } from "../ui/empty";
import { Facts } from "../ui/facts";
import { Crumbs, Head, useTitle } from "../ui/page";
import { BisectionTag } from "../ui/tag";
import { Found } from "./answer";
import { Candidates } from "./candidates";
import { Steps } from "./steps";
import { chance, left, spent } from "./words";
import "./bisect.css";

export function BisectionPage({ id }: { id: number }) {
  const query = useQuery(bisectionQuery(id));
  useTitle(query.data === undefined ? "" : `Bisection ${id}`);
  return <Loaded query={query}>{(found) => <Body bisection={found} />}</Loaded>;
}

function Body({ bisection }: { bisection: Bisection }) {
  return (
    <>
      <Crumbs
        trail={[
          { text: "Regressions", to: "/regressions" },
          { text: "Bisections", to: "/regressions?tab=bisections" },
        ]}
      />
      <Head
        title={bisection.title}
        lede={`Which change made ${bisection.case} worse?`}
        tags={
          <>
            <span role="status">
              <BisectionTag state={bisection.state} answer={bisection.answer} />
            </span>
            {bisection.emulated && <EmulatedBadge />}
            {bisection.counted && <CountedBadge />}
          </>
        }
      >
        <BisectionActions bisection={bisection} />
      </Head>
      {bisection.found === null ? (
        <p className={bisection.state === "running" ? "notice" : "problem"} role="status">
          {bisection.why}
        </p>
      ) : (
        <Found bisection={bisection} found={bisection.found} />
      )}
      {bisection.source.notes.map((note) => (
        <p className="notice" key={note}>
          {note}
        </p>
      ))}
      {bisection.emulated && <EmulatedNotice counted={bisection.counted} />}
      <section className="panel" aria-labelledby="candidates">
        <header>
          <h2 id="candidates">Candidates</h2>
          <span className="faint small">
            {counted(bisection.candidates, "change")} in their order; each with the probability that
            it alone is the culprit
          </span>
        </header>
        <Candidates bisection={bisection} />
      </section>
      <section className="panel" aria-labelledby="steps">
        <header>
          <h2 id="steps">Steps</h2>
          <span className="faint small">each is an experiment of its own</span>
        </header>
        {bisection.steps.length === 0 ? (
          <Empty
            next={[
              [`mitigauge bisect wait ${bisection.id}`, "follows it until it has an answer"],
              ["mitigauge worker", "boots and measures"],
            ]}
          >
            Nothing was measured yet: the kernels of both ends are built first.
          </Empty>
        ) : (
          <Steps bisection={bisection} />
        )}
      </section>
      <Skipped bisection={bisection} />
      <Asked bisection={bisection} />
    </>
  );
}

function Skipped({ bisection }: { bisection: Bisection }) {
  const skipped = bisection.points.filter((point) => point.skipped !== "");
  if (skipped.length === 0) return null;
  return (
    <section className="panel" aria-labelledby="skipped">
      <header>
        <h2 id="skipped">Skipped</h2>
        <span className="faint small">
          not judged: what cannot be booted is neither good nor bad
        </span>
      </header>
      <ul className="inside skipped">
        {skipped.map((point) => (
          <li key={point.position}>
            <strong>
              {point.without === null
                ? `with changes 1 to ${point.position}`
                : `the last end without change ${point.without}`}
            </strong>
            : {point.skipped}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Asked({ bisection }: { bisection: Bisection }) {
  const { source } = bisection;
  const parameters = Object.entries(bisection.parameters).map(
    ([name, value]) => `${name}=${String(value)}`,
  );
  return (
    <section className="panel" aria-labelledby="asked">
      <header>
        <h2 id="asked">What it was asked</h2>
      </header>
      <div className="inside">
        <Facts
          items={[
            [
              "figure",
              `${bisection.metric}, ${bisection.higher_is_worse ? "lower" : "higher"} is better`,
            ],
            ["case", `${bisection.workload} ${parameters.join(", ")}`],
            ["hosts", <HostLinks key="hosts" hosts={bisection.hosts} />],
            ["refused below", `${fixed(bisection.minimum_effect_percent, 2)} %`],
            ["confidence", chance(bisection.wanted_confidence)],
            ["spent", spent(bisection)],
            ["left", left(bisection)],
            ["base", source.base || source.good.slice(0, 12) || null],
            ["started", <Stamp key="started" at={bisection.created_at} />],
            ["by", bisection.submitted_by],
            ["finished", bisection.finished_at && <Stamp at={bisection.finished_at} />],
          ]}
        />
      </div>
    </section>
  );
}

function HostLinks({ hosts }: { hosts: string[] }) {
  return (
    <>
      {hosts.map((host) => (
        <span key={host}>
          <Link to={`/hosts/${encodeURIComponent(host)}`}>{host}</Link>{" "}
        </span>
      ))}
    </>
  );
}
