/** Every patch series the service knows. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { seriesListQuery } from "../api/queries";
import type { RevisionState, SeriesHead } from "../api/types";
import { Age } from "../ui/age";
import { Answer, Loaded } from "../ui/answers";
import { NextCommands } from "../ui/empty";
import { labels, ListFilter, NoneLikeThat, useListFilter } from "../ui/list-filter";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { RevisionTag } from "../ui/tag";
import { REVISION_STATE } from "../words";

export function SeriesListPage() {
  useTitle("Series");
  const filter = useListFilter(Object.keys(REVISION_STATE) as RevisionState[]);
  const query = useQuery(seriesListQuery(filter.asked));
  return (
    <>
      <Head title="Series" tabs={<PlaceTabs of="series" here="series" />} />
      <Loaded query={query} part>
        {(series) =>
          series.length === 0 && !filter.narrows ? (
            <NoneYet />
          ) : (
            <>
              <ListFilter
                label="Series"
                filter={filter}
                states={labels(REVISION_STATE)}
                placeholder="name or title"
              />
              {series.length === 0 ? <NoneLikeThat what="series" /> : <List series={series} />}
            </>
          )
        }
      </Loaded>
    </>
  );
}

function NoneYet() {
  return (
    <Answer title="No patch series yet" part>
      <p>A series shows up once its mails were added; each revision is then built and measured.</p>
      <NextCommands
        next={[
          ["mitigauge series add MESSAGE-ID --spec vmscape", "takes it from a list archive"],
          ["mitigauge series add MAILBOX --spec vmscape", "takes it from files"],
          ["mitigauge demo --series", "builds and measures a series that comes with us"],
        ]}
      />
    </Answer>
  );
}

function List({ series }: { series: SeriesHead[] }) {
  return (
    <>
      <div className="panel">
        <table className="list stack">
          <thead>
            <tr>
              <th scope="col">Series</th>
              <th scope="col">Newest</th>
              <th scope="col">State</th>
              <th scope="col">Experiment</th>
              <th scope="col">Received</th>
            </tr>
          </thead>
          <tbody>
            {series.map((each) => (
              <Row key={each.id} series={each} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Row({ series }: { series: SeriesHead }) {
  return (
    <tr>
      <th scope="row">
        <Link to={`/series/${encodeURIComponent(series.name)}`}>
          <strong>{series.name}</strong>
        </Link>
        <div className="soft">{series.title}</div>
      </th>
      <td data-label="Newest">
        {series.newest || <span className="faint">none</span>}
        {series.watched && <div className="faint small">watched</div>}
      </td>
      <td data-label="State">
        <div>
          {series.state && <RevisionTag state={series.state} />}
          <div className="faint small">{series.why}</div>
        </div>
      </td>
      <td data-label="Experiment">
        {series.experiment_id === null ? (
          <span className="faint">none</span>
        ) : (
          <Link to={`/experiments/${series.experiment_id}`}>{series.experiment_id}</Link>
        )}
      </td>
      <td data-label="Received">{series.received_at && <Age at={series.received_at} />}</td>
    </tr>
  );
}
