/** Any table of an experiment on a page of its own. */

import { useQuery } from "@tanstack/react-query";
import { Link, useLocation, useSearchParams } from "wouter";
import { fetchTable, tableQuery } from "../api/queries";
import type { TableView } from "../api/types";
import { ReportButtons } from "../experiment/report";
import { Loaded } from "../ui/answers";
import { Download } from "../ui/download";
import { CountedBadge, EmulatedBadge, EmulatedNotice } from "../ui/emulated";
import { Empty } from "../ui/empty";
import { Crumbs, Head, useTitle } from "../ui/page";
import { queryOf, tableFile, tablePath, type TableQuery } from "./paths";
import { Prose } from "./prose";
import { SectionPanel } from "./section";

const TITLES: Record<string, string> = {
  matrix: "Matrix",
  counters: "Counters",
  factorial: "What each knob costs",
  loss: "Loss matrix",
  threads: "Threads by name",
  details: "Details",
  functions: "Functions",
  instructions: "Instructions",
  "revision-line": "Revisions",
};

export function TablePage({ id, kind }: { id: number; kind: string }) {
  const [address] = useSearchParams();
  const asked = queryOf(address);
  const query = useQuery(tableQuery(id, kind, asked));
  const title = TITLES[kind] ?? "Table";
  useTitle(query.data ? `${title}, ${query.data.experiment}` : "");
  return (
    <Loaded query={query}>{(view) => <Body view={view} title={title} asked={asked} />}</Loaded>
  );
}

function Body({ view, title, asked }: { view: TableView; title: string; asked: TableQuery }) {
  const { experiment_id: id, table: kind, sections } = view;
  const file = (suffix: "txt" | "csv" | "json") => tableFile(id, kind, suffix, asked);
  return (
    <>
      <Crumbs
        trail={[
          { text: "Experiments", to: "/experiments" },
          { text: view.experiment, to: `/experiments/${id}` },
        ]}
      />
      <Head
        title={title}
        lede={sections.length > 0 && view.notes ? view.notes.join(" ") : ""}
        tags={
          <>
            {view.emulated && <EmulatedBadge />}
            {view.counted && <CountedBadge />}
          </>
        }
      >
        {sections.length > 0 && (
          <div className="buttons">
            <ReportButtons
              fetched={(format) => fetchTable(id, kind, asked, format === "text" ? "txt" : "md")}
              href={file("txt")}
            />
            <Download
              files={[
                [file("csv"), `${title} as CSV`],
                [file("json"), `${title} as JSON`],
              ]}
            />
          </div>
        )}
      </Head>
      {view.emulated && sections.length > 0 && <EmulatedNotice counted={view.counted} />}
      <Choices view={view} asked={asked} />
      {sections.length === 0 && <Nothing view={view} title={title} />}
      {sections.map((section) => (
        <SectionPanel key={section.title} section={section} />
      ))}
      {view.more && (
        <p className="faint small">
          <Prose text={view.more} />
        </p>
      )}
      {Object.keys(asked).length > 0 && (
        <p className="faint small">
          <Link to={tablePath(id, kind)}>Show all</Link>
        </p>
      )}
    </>
  );
}

function Nothing({ view, title }: { view: TableView; title: string }) {
  return (
    <section className="panel" aria-label={title}>
      <Empty>
        <Prose text={(view.notes ?? []).join(" ")} />{" "}
        <Link to={`/experiments/${view.experiment_id}`}>Back to the experiment</Link>.
      </Empty>
    </section>
  );
}

/** One of the kind's tables, or all. */
function Choices({ view, asked }: { view: TableView; asked: TableQuery }) {
  const [, navigate] = useLocation();
  const choices = view.choices ?? [];
  if (choices.length < 2) return null;
  const chosen = choices.findIndex(({ query }) =>
    Object.entries(query).every(([name, value]) => asked[name as keyof TableQuery] === value),
  );
  return (
    <div className="filters">
      <label className="small picked table-choice">
        Show{" "}
        <select
          className="field"
          value={chosen}
          onChange={(event) => {
            const choice = choices[Number(event.target.value)];
            navigate(tablePath(view.experiment_id, view.table, choice?.query ?? {}));
          }}
        >
          <option value={-1}>
            {choices[0]?.query.other ? "choose one" : "all, the main ones first"}
          </option>
          {choices.map(({ title }, i) => (
            <option key={i} value={i}>
              {title}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
