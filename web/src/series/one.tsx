/** One patch series: the line of its verdicts, and its revisions. */

import { useQuery } from "@tanstack/react-query";
import { Subscribe } from "../act/subscribe";
import { lineQuery, seriesQuery } from "../api/queries";
import type { Series } from "../api/types";
import { counted } from "../format/quantity";
import { Loaded } from "../ui/answers";
import { Crumbs, Head, useTitle } from "../ui/page";
import { Tag } from "../ui/tag";
import { Line } from "./line";
import { RevisionItem } from "./revision";
import "./series.css";

export function SeriesPage({ name }: { name: string }) {
  useTitle(name);
  const query = useQuery(seriesQuery(name));
  return <Loaded query={query}>{(series) => <Body series={series} />}</Loaded>;
}

function Body({ series }: { series: Series }) {
  const line = useQuery(lineQuery(series.name));
  const newestFirst = series.revisions.toReversed();
  return (
    <>
      <Crumbs trail={[{ text: "Series", to: "/series" }]} />
      <Head
        title={series.name}
        lede={series.title}
        tags={series.watched ? <Tag tone="busy" text="watched" title={series.archive} /> : null}
      >
        <div className="buttons">
          <Subscribe offers={[{ kind: "series", subject: series.name }]} />
        </div>
      </Head>
      {series.archive_error !== "" && (
        <p className="notice" role="status">
          <strong>New revisions may be missed:</strong> {series.archive_error}
        </p>
      )}
      <section className="panel" aria-labelledby="line">
        <header>
          <h2 id="line">The line</h2>
          <span className="faint small">
            change against the named baseline in percent, with its interval; the worst first
          </span>
        </header>
        <Loaded query={line}>{(found) => <Line line={found} name={series.name} />}</Loaded>
      </section>
      <section className="panel" aria-labelledby="revisions">
        <header>
          <h2 id="revisions">Revisions</h2>
          <span className="faint small">
            {counted(series.revisions.length, "revision")}, newest first; measured by{" "}
            {series.spec === "" ? "no spec yet" : `experiments/series/${series.spec}.yml`}
          </span>
        </header>
        {newestFirst.map((revision, place) => (
          <RevisionItem key={revision.id} series={series} revision={revision} open={place === 0} />
        ))}
      </section>
    </>
  );
}
