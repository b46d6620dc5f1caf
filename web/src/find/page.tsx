/** All that has some words, by kind. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import { findQuery } from "../api/queries";
import type { FoundGroup } from "../api/types";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";
import { Head, useTitle } from "../ui/page";
import { useScrollPlace } from "../ui/use-scroll-place";
import { useSearch } from "../ui/use-search";
import { KIND, LONGEST, MANY, numberOf } from "./words";
import "./find.css";

export function FindPage() {
  const [search, setSearch] = useSearchParams();
  const asked = (search.get("q") ?? "").trim().slice(0, LONGEST);
  useTitle(asked === "" ? "Find" : `Find ${asked}`);
  const query = useQuery({ ...findQuery(asked, MANY), placeholderData: keepPreviousData });
  useScrollPlace(query.data !== undefined);
  const [typed, type] = useSearch(asked, (text) => {
    setSearch(text.trim() === "" ? {} : { q: text.trim() }, { replace: true });
  });
  return (
    <>
      <Head
        title="Find"
        lede="Experiments, regressions, bisections, series, trends, hosts, kernels and weeks."
      />
      <div className="find-asked" role="search" aria-label="Everything">
        <label className="small">
          <span className="soft">Words, or a number</span>
          <input
            className="field"
            type="search"
            maxLength={LONGEST}
            value={typed}
            onChange={(event) => {
              type(event.target.value);
            }}
          />
        </label>
      </div>
      {asked === "" ? (
        <div className="panel">
          <Empty>Give a word or a number, such as udp, 2026-W47 or 17.</Empty>
        </div>
      ) : (
        <Loaded query={query}>{({ groups }) => <Groups groups={groups} asked={asked} />}</Loaded>
      )}
    </>
  );
}

function Groups({ groups, asked }: { groups: FoundGroup[]; asked: string }) {
  if (groups.length === 0)
    return (
      <div className="panel" role="status">
        <Empty>Nothing has each of these words. Try fewer of them, or a part of one.</Empty>
      </div>
    );
  return groups.map((group) => (
    <section key={group.kind} className="panel" aria-labelledby={`found-${group.kind}`}>
      <header>
        <h2 id={`found-${group.kind}`}>{KIND[group.kind].several}</h2>
        <span className="faint small">
          {group.total > group.found.length
            ? `${group.found.length} of ${group.total}`
            : group.total}
        </span>
        {group.kind === "experiment" && group.total > group.found.length && (
          <Link to={`/experiments?${new URLSearchParams({ find: asked }).toString()}`}>all</Link>
        )}
      </header>
      <ul className="found-list">
        {group.found.map((each) => (
          <li key={each.id}>
            {each.href === null ? each.title : <Link to={each.href}>{each.title}</Link>}{" "}
            <span className="small soft">
              {numberOf(each)}
              {each.detail}
            </span>
          </li>
        ))}
      </ul>
    </section>
  ));
}
