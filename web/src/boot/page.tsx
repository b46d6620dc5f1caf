/** One boot: its proof, what was measured under it, and everything to trace it by. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { bootQuery } from "../api/queries";
import type { Attempt, Boot } from "../api/types";
import { duration } from "../format/quantity";
import { clock, secondsBetween } from "../format/time";
import { FactTable } from "../hosts/fact-table";
import { Stamp } from "../ui/age";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";
import { CountedBadge, EmulatedBadge, EmulatedNotice } from "../ui/emulated";
import { Crumbs, Head, useTitle } from "../ui/page";
import { BootTag } from "../ui/tag";
import { BOOT_STATE } from "../words";
import "./boot.css";
import { Proof } from "./proof";
import { Results } from "./results";

export function BootPage({ id }: { id: number }) {
  const query = useQuery(bootQuery(id));
  useTitle(query.data ? `Boot ${id}: ${query.data.arm} on ${query.data.host}` : "");
  return <Loaded query={query}>{(boot) => <Body boot={boot} />}</Loaded>;
}

function Body({ boot }: { boot: Boot }) {
  return (
    <>
      <Crumbs
        trail={[
          { text: "Experiments", to: "/experiments" },
          { text: boot.experiment, to: `/experiments/${boot.experiment_id}` },
        ]}
      />
      <Head
        title={`Boot ${boot.id}`}
        tags={
          <>
            <BootTag state={boot.state} />
            {boot.emulated && <EmulatedBadge />}
            {boot.clock === "counted" && <CountedBadge />}
          </>
        }
        lede={
          <>
            <span className="mono">{boot.mode}</span> on{" "}
            <Link to={`/hosts/${encodeURIComponent(boot.host)}`}>{boot.host}</Link>, block{" "}
            {boot.block}, place {boot.order}
            {boot.attempt > 1 && `, attempt ${boot.attempt}`}
            {boot.started_at && (
              <>
                , <Stamp at={boot.started_at} />
              </>
            )}
          </>
        }
      />
      {boot.reason !== "" && (
        <p className="problem">
          <strong>{BOOT_STATE[boot.state].label}:</strong> {boot.reason}
        </p>
      )}
      {boot.emulated && <EmulatedNotice counted={boot.clock === "counted"} />}
      <Proof boot={boot} />
      <section className="panel" aria-labelledby="results">
        <header>
          <h2 id="results">Results</h2>
          <span className="faint small">raw iterations, in order</span>
        </header>
        <Results boot={boot} />
      </section>
      <section className="panel" aria-labelledby="steps">
        <header>
          <h2 id="steps">Steps</h2>
        </header>
        <Steps steps={boot.steps} />
      </section>
      <div className="columns">
        <section className="panel" aria-labelledby="vulnerabilities">
          <header>
            <h2 id="vulnerabilities">Vulnerability files</h2>
            <span className="faint small mono">/sys/devices/system/cpu/vulnerabilities</span>
          </header>
          <FactTable
            facts={boot.vulnerabilities}
            empty="Not read."
            marked={Object.keys(boot.vulnerabilities).filter((file) => judgedBy(boot, file))}
          />
        </section>
        <section className="panel" aria-labelledby="fingerprint">
          <header>
            <h2 id="fingerprint">Fingerprint</h2>
          </header>
          <FactTable facts={boot.fingerprint} empty="Not taken." />
        </section>
      </div>
      <details className="panel" open={boot.state === "did_not_boot"}>
        <summary>
          <h2>Serial console, last lines</h2>
        </summary>
        {boot.serial_tail === "" ? (
          <p className="inside faint">Nothing was kept.</p>
        ) : (
          <pre className="console" tabIndex={0} aria-label="Serial console, last lines">
            {boot.serial_tail}
          </pre>
        )}
      </details>
    </>
  );
}

/** Whether the file's text is the state that the mode was judged by. */
function judgedBy(boot: Boot, file: string): boolean {
  const wanted = [boot.observed ?? "", ...boot.expected];
  return (
    wanted.some((text) => text.startsWith(`${file}:`)) ||
    boot.vulnerabilities[file] === boot.observed
  );
}

function Steps({ steps }: { steps: Attempt[] }) {
  if (steps.length === 0) {
    return (
      <Empty next={[["mitigauge worker", "boots and measures what is planned"]]}>
        It has not been started.
      </Empty>
    );
  }
  return (
    <table className="list stack">
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col">Outcome</th>
          <th scope="col">Detail</th>
          <th scope="col">Attempt</th>
          <th scope="col">Lease epoch</th>
          <th scope="col">Started</th>
          <th scope="col">Took</th>
        </tr>
      </thead>
      <tbody>
        {steps.map((step) => {
          const took = secondsBetween(step.started_at, step.finished_at);
          return (
            <tr key={`${step.step} ${step.epoch} ${step.attempt} ${step.started_at}`}>
              <th scope="row">{step.step}</th>
              <td data-label="Outcome">{step.outcome}</td>
              <td data-label="Detail">{step.detail}</td>
              <td data-label="Attempt">{step.attempt}</td>
              <td data-label="Epoch">{step.epoch}</td>
              <td data-label="Started">
                <time dateTime={step.started_at}>{clock(step.started_at)}</time>
              </td>
              <td data-label="Took" className="nowrap">
                {took === null ? "not finished" : duration(took)}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
