/** Every experiment, newest first. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { experimentsQuery, isLive } from "../api/queries";
import type { ExperimentSummary } from "../api/types";
import { counted } from "../format/quantity";
import { Age } from "../ui/age";
import { Answer, Loaded } from "../ui/answers";
import { NextCommands } from "../ui/empty";
import { CountedMark, EmulatedMark } from "../ui/emulated";
import { Head, useTitle } from "../ui/page";
import { RecordedTag } from "../ui/recorded";
import { ExperimentTag } from "../ui/tag";
import "./experiments.css";

export function ExperimentsPage() {
  useTitle("Experiments");
  const query = useInfiniteQuery(experimentsQuery());
  return (
    <Loaded query={query}>
      {({ pages }) => {
        const experiments = pages.flatMap((page) => page.experiments);
        if (experiments.length === 0) return <NoneYet />;
        return (
          <List
            experiments={experiments}
            more={query.hasNextPage ? () => void query.fetchNextPage() : null}
            busy={query.isFetchingNextPage}
          />
        );
      }}
    </Loaded>
  );
}

function NoneYet() {
  return (
    <Answer title="No experiment yet">
      <p>An experiment boots hosts into each mode, proves the mode, measures, and compares.</p>
      <NextCommands
        next={[
          ["mitigauge demo --recorded", "shows one that was recorded, at once"],
          [
            "mitigauge experiment submit experiments/lab-demo.yml",
            "plans the same on emulated hosts of this machine",
          ],
          ["mitigauge worker", "carries out what is planned"],
        ]}
      />
      <p className="faint">It shows up here by itself.</p>
    </Answer>
  );
}

interface ListProps {
  experiments: ExperimentSummary[];
  /** Fetches older ones; null where there are none. */
  more: (() => void) | null;
  busy: boolean;
}

function List({ experiments, more, busy }: ListProps) {
  const live = experiments.filter((e) => isLive(e.state)).length;
  return (
    <>
      <Head
        title="Experiments"
        lede={`${more ? "the newest " : ""}${counted(experiments.length, "experiment")}${live > 0 ? `, ${live} under way` : ""}`}
      />
      <div className="panel" style={{ marginTop: 0 }}>
        <ExperimentTable experiments={experiments} />
        {more && (
          <p className="inside">
            <button type="button" className="button" disabled={busy} onClick={more}>
              Older experiments
            </button>
          </p>
        )}
      </div>
    </>
  );
}

export function ExperimentTable({ experiments }: { experiments: ExperimentSummary[] }) {
  const headlines = experiments.some((e) => e.headline !== "");
  return (
    <table className="list stack experiments">
      <thead>
        <tr>
          <th scope="col">Experiment</th>
          <th scope="col">State</th>
          <th scope="col">Boots</th>
          {headlines && <th scope="col">Largest effect</th>}
          <th scope="col">Hosts</th>
          <th scope="col">Submitted</th>
        </tr>
      </thead>
      <tbody>
        {experiments.map((e) => (
          <tr key={e.id}>
            <th scope="row">
              <Link to={`/experiments/${e.id}`}>
                <strong>{e.name}</strong>
              </Link>
              <div className="soft">{e.question}</div>
            </th>
            <td data-label="State">
              <div className="buttons state">
                <ExperimentTag state={e.state} />
                {e.emulated && <EmulatedMark />}
                <RecordedTag recorded={e.recorded} />
                {e.counted && <CountedMark />}
              </div>
            </td>
            <td data-label="Boots">
              <div className="boots">
                <span className="nowrap">
                  {e.boots_done} of {e.boots_total}
                </span>
                {isLive(e.state) && (
                  <progress
                    value={e.boots_done}
                    max={Math.max(1, e.boots_total)}
                    aria-label={`Boots done of ${e.name}`}
                  />
                )}
              </div>
            </td>
            {headlines && <td data-label="Effect">{e.headline}</td>}
            <td data-label="Hosts">
              <div className="hosts">
                {e.hosts.map((host) => (
                  <span key={host}>{host}</span>
                ))}
              </div>
            </td>
            <td data-label="Submitted">
              <Age at={e.created_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
