/** Every experiment, newest first. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { experimentsQuery, isLive } from "../api/queries";
import type { ExperimentSummary } from "../api/types";
import { counted } from "../format/quantity";
import { Age } from "../ui/age";
import { Answer, Loaded } from "../ui/answers";
import { EmulatedMark } from "../ui/emulated";
import { Head, useTitle } from "../ui/page";
import { ExperimentTag } from "../ui/tag";
import "./experiments.css";

export function ExperimentsPage() {
  useTitle("Experiments");
  const query = useQuery(experimentsQuery());
  return (
    <Loaded query={query}>
      {(experiments) =>
        experiments.length === 0 ? <NoneYet /> : <List experiments={experiments} />
      }
    </Loaded>
  );
}

function NoneYet() {
  return (
    <Answer title="No experiment yet">
      <p>An experiment boots hosts into each mode, proves the mode, measures, and compares.</p>
      <p>Start the ready-made one on the emulated lab:</p>
      <pre tabIndex={0}>mitigauge experiment submit experiments/lab-demo.yml</pre>
      <p className="faint">It shows up here by itself.</p>
    </Answer>
  );
}

function List({ experiments }: { experiments: ExperimentSummary[] }) {
  const live = experiments.filter((e) => isLive(e.state)).length;
  return (
    <>
      <Head
        title="Experiments"
        lede={`${counted(experiments.length, "experiment")}${live > 0 ? `, ${live} under way` : ""}`}
      />
      <div className="panel" style={{ marginTop: 0 }}>
        <ExperimentTable experiments={experiments} />
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
