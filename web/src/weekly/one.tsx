/** One week's report: what changed, and what the figures rest on. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { Subscribe } from "../act/subscribe";
import { weeklyQuery } from "../api/queries";
import type { Weekly, WeeklySection } from "../api/types";
import { Stamp } from "../ui/age";
import { Loaded } from "../ui/answers";
import { Download } from "../ui/download";
import { Crumbs, Head, useTitle } from "../ui/page";
import { Tag } from "../ui/tag";
import { EntryList } from "./entry";
import { Figures } from "./figures";
import { Line } from "./line";
import "./weekly.css";

const FORMS = [
  ["text", "Plain text"],
  ["markdown", "Markdown"],
  ["html", "HTML"],
  ["mail", "Mail"],
  ["json", "Data as JSON"],
] as const;

export function WeeklyPage({ week }: { week: string }) {
  useTitle(week);
  const query = useQuery(weeklyQuery(week));
  return <Loaded query={query}>{(report) => <Body report={report} />}</Loaded>;
}

function Body({ report }: { report: Weekly }) {
  const { document } = report;
  return (
    <>
      <Crumbs
        trail={[
          { text: "Today", to: "/" },
          { text: "Weeks", to: "/?tab=weeks" },
        ]}
      />
      <Head title={document.title} tags={!report.complete && <Tag tone="busy" text="not over" />}>
        <div className="buttons">
          {report.before !== null && (
            <Link className="button" to={`/weekly/${report.before}`} rel="prev">
              ← {report.before}
            </Link>
          )}
          {report.after !== null && (
            <Link className="button" to={`/weekly/${report.after}`} rel="next">
              {report.after} →
            </Link>
          )}
          <Subscribe offers={[{ kind: "week" }]} />
          <Download
            files={FORMS.map(([form, label]) => [
              `/api/weekly/${report.week}/report?format=${form}`,
              label,
            ])}
          />
        </div>
      </Head>
      <div className="weekly-lead">
        {document.lead.map((line, at) => (
          <p key={at} data-first={at === 0 ? "" : undefined}>
            <Line line={line} />
          </p>
        ))}
      </div>
      <nav className="weekly-contents" aria-label="Parts of the report">
        <ul>
          {document.sections.map((section) => (
            <li key={section.id}>
              <a href={`#${section.id}`}>{section.title}</a>
            </li>
          ))}
        </ul>
      </nav>
      {document.sections.map((section) => (
        <Part key={section.id} section={section} />
      ))}
      <p className="faint small">
        Made <Stamp at={report.made_at} />
        {report.version > 1 && <>, version {report.version}: later data said otherwise</>}.
      </p>
    </>
  );
}

function Part({ section }: { section: WeeklySection }) {
  return (
    <section className="panel" aria-labelledby={section.id}>
      <header>
        <h2 id={section.id}>{section.title}</h2>
      </header>
      {(section.about ?? []).map((line, at) => (
        <p className="inside soft weekly-about" key={at}>
          <Line line={line} />
        </p>
      ))}
      <EntryList entries={section.entries ?? []} />
      {(section.tables ?? []).map((table, at) => (
        <Figures key={at} table={table} name={section.title} />
      ))}
      {section.more !== "" && <p className="inside faint">{section.more}</p>}
    </section>
  );
}
