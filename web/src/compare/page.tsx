/** Any two experiments as one matrix: the answer, what differs between them, then every row. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import type { Pair, PairSide } from "../api/types";
import { counted } from "../format/quantity";
import { stamp } from "../format/time";
import { Loaded } from "../ui/answers";
import { CountedMark, EmulatedMark } from "../ui/emulated";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { ExperimentTag } from "../ui/tag";
import { type Asked, askedBy, comparePath, swapped, withPair } from "./address";
import "./compare.css";
import { Facts } from "./facts";
import { Filters } from "./filters";
import { Picker } from "./picker";
import { pairQuery } from "./queries";
import { Rows } from "./rows";
import { unmatchedText } from "./words";

export function ComparePage() {
  const [search, setSearch] = useSearchParams();
  const asked = askedBy(search);
  const { a, b } = asked;
  const change = (name: string, value: string) => {
    setSearch(
      (before) => {
        const after = new URLSearchParams(before);
        if (value === "") after.delete(name);
        else after.set(name, value);
        return after;
      },
      // A letter is no step to go back from; a choice is one.
      { replace: name === "find" },
    );
  };
  const swap = () => {
    setSearch(swapped);
  };
  if (a === null || b === null || a === b) {
    return (
      <Choose
        asked={asked}
        swap={swap}
        choose={(letter, id) => {
          change(letter, id === null ? "" : String(id));
        }}
      />
    );
  }
  return (
    <Compared
      asked={{ ...asked, a, b }}
      change={change}
      swap={swap}
      pairHosts={(ours, theirs) => {
        setSearch((before) => withPair(before, ours, theirs));
      }}
    />
  );
}

interface ChooseProps {
  asked: Asked;
  swap: () => void;
  choose: (letter: "a" | "b", id: number | null) => void;
}

function Choose({ asked: { a, b }, swap, choose }: ChooseProps) {
  useTitle("Compare experiments");
  return (
    <>
      <Head
        title="Compare two experiments"
        tabs={<PlaceTabs of="experiments" here="compare" />}
        lede="Every row that both have, as one matrix."
      >
        {a !== b && (
          <button type="button" className="button" onClick={swap}>
            Swap A and B
          </button>
        )}
      </Head>
      {a !== null && a === b && (
        <p className="problem" role="alert">
          Experiment {a} cannot be compared with itself. Choose another one.
        </p>
      )}
      <div className="side-by-side">
        <Picker
          letter="A"
          chosen={a}
          other={b}
          choose={(id) => {
            choose("a", id);
          }}
        />
        <Picker
          letter="B"
          chosen={a === b ? null : b}
          other={a}
          choose={(id) => {
            choose("b", id);
          }}
        />
      </div>
    </>
  );
}

interface ComparedProps {
  asked: Asked & { a: number; b: number };
  change: (name: string, value: string) => void;
  swap: () => void;
  pairHosts: (a: string, b: string) => void;
}

function Compared(props: ComparedProps) {
  const query = useInfiniteQuery(pairQuery(props.asked));
  const { hasNextPage, isFetching, fetchNextPage } = query;
  const first = query.data?.pages[0];
  useTitle(first ? `${first.a.name} and ${first.b.name}` : "Compare experiments");
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.rows) ?? [], [query.data]);
  const more = useMemo(
    () => (hasNextPage && !isFetching ? () => void fetchNextPage() : null),
    [hasNextPage, isFetching, fetchNextPage],
  );
  return (
    <Loaded query={{ data: first, error: query.error, refetch: query.refetch }}>
      {(pair) => (
        <div aria-busy={query.isPlaceholderData}>
          <Body {...props} pair={pair} rows={rows} more={more} />
        </div>
      )}
    </Loaded>
  );
}

interface BodyProps extends ComparedProps {
  pair: Pair;
  rows: Pair["rows"];
  more: (() => void) | null;
}

function Body({ asked, pair, rows, more, change, swap, pairHosts }: BodyProps) {
  return (
    <>
      <Head title={titleOf(pair)} tabs={<PlaceTabs of="experiments" here="compare" />}>
        <div className="buttons">
          <button type="button" className="button" onClick={swap}>
            Swap A and B
          </button>
          <Link className="button" to={comparePath(asked.a)}>
            Another B
          </Link>
        </div>
      </Head>
      <p className="headline" data-testid="answer">
        {pair.sentence}
      </p>
      <dl className="pair-sides">
        <Side letter="A" side={pair.a} />
        <Side letter="B" side={pair.b} />
      </dl>
      <ul className="pair-notices small soft" aria-label="To know beforehand">
        {pair.unmatched.length > 0 && (
          <li>Rows without a pair: {unmatchedText(pair.unmatched)}.</li>
        )}
        {pair.notices.map((notice) => (
          <li key={notice}>{notice}</li>
        ))}
      </ul>
      <Facts facts={pair.facts} />
      <section className="panel" aria-labelledby="pair-rows">
        <header>
          <h2 id="pair-rows">Rows</h2>
          <span className="faint small" role="status">
            {pair.total === pair.matched
              ? counted(pair.total, "row")
              : `${pair.total} of ${counted(pair.matched, "row")}`}
            ; effect against each own baseline, 95 % interval; a row differs where q ≤ 5 % over all
          </span>
        </header>
        {(pair.matched > 0 || pair.unmatched.length > 0) && (
          <Filters {...{ asked, pair, change, pairHosts }} />
        )}
        {rows.length === 0 ? (
          <NoRows asked={asked} pair={pair} change={change} />
        ) : (
          <Rows
            {...{ rows, more, a: asked.a, b: asked.b, total: pair.total }}
            view={JSON.stringify(asked)}
          />
        )}
      </section>
    </>
  );
}

function titleOf({ a, b }: Pair): string {
  return a.name === b.name ? `${a.name}, ${a.id} and ${b.id}` : `${a.name} and ${b.name}`;
}

function Side({ letter, side }: { letter: string; side: PairSide }) {
  const at = side.finished_at ?? side.started_at;
  return (
    <div>
      <dt>{letter}</dt>
      <dd>
        <Link to={`/experiments/${side.id}`}>
          {side.name} {side.id}
        </Link>{" "}
        <span className="soft small">
          {at ? stamp(at) : "not begun"} on {side.hosts.join(", ")}
        </span>{" "}
        <span className="pair-tags">
          {side.state !== "finished" && <ExperimentTag state={side.state} />}
          {side.emulated && <EmulatedMark />}
          {side.counted && <CountedMark />}
        </span>
      </dd>
    </div>
  );
}

function NoRows({ asked, pair, change }: Pick<BodyProps, "asked" | "pair" | "change">) {
  if (pair.matched === 0) {
    return (
      <div className="inside empty">
        <p>
          A row is common where workload, parameters, metric, unit, clock, arm and host fit.
          {pair.unmatched.length > 0 && ` Here: ${unmatchedText(pair.unmatched)}.`}
        </p>
        <p className="soft">Choose another B, or pair other hosts.</p>
      </div>
    );
  }
  const filters = (["find", "workload", "only"] as const).filter((name) => asked[name] !== "");
  return (
    <div className="inside empty">
      <p className="soft">No row is like that. Take one of these away:</p>
      <p className="buttons">
        {filters.map((name) => (
          <button
            key={name}
            type="button"
            className="button"
            onClick={() => {
              change(name, "");
            }}
          >
            {name} {asked[name]}
          </button>
        ))}
      </p>
    </div>
  );
}
