/** One host: what it is, what it was, and what ran on it. */

import { useQuery } from "@tanstack/react-query";
import { useSearch } from "wouter";
import { HostActions } from "../act/host";
import { hostQuery } from "../api/queries";
import type { Fingerprint, Host } from "../api/types";
import { ExperimentTable } from "../experiments/page";
import { counted } from "../format/quantity";
import { Age, Stamp } from "../ui/age";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";
import { CountedBadge, EmulatedBadge, EmulatedNotice } from "../ui/emulated";
import { Facts } from "../ui/facts";
import { Crumbs, Head, useTitle } from "../ui/page";
import { FactTable } from "./fact-table";
import { Changes } from "./changes";
import { DriftPanel } from "./drift";
import { changes } from "./facts";
import { DoubledRates } from "./doubled-rates";
import "./hosts.css";
import { Now } from "./page";
import { Queues } from "./queue";
import { NoisePanel, TimePanel } from "./work";

export function HostPage({ name }: { name: string }) {
  useTitle(name);
  const environment = new URLSearchParams(useSearch()).get("environment");
  const query = useQuery(hostQuery(name, environment));
  return <Loaded query={query}>{(host) => <Body host={host} />}</Loaded>;
}

function power(host: Host): string {
  if (host.power === null) return "not known before its next experiment";
  return host.power === "none"
    ? "nothing can switch it: a hang needs its watchdog or a person"
    : `switched by ${host.power}`;
}

function Body({ host }: { host: Host }) {
  const newestFirst = host.fingerprints.toSorted(
    (a, b) => Date.parse(b.last_seen_at) - Date.parse(a.last_seen_at),
  );
  return (
    <>
      <Crumbs trail={[{ text: "Fleet", to: "/fleet" }]} />
      <Head
        title={host.name}
        lede={host.host_class}
        tags={
          <>
            <Now host={host} />
            {host.emulated && <EmulatedBadge />}
            {host.clock === "counted" && <CountedBadge />}
          </>
        }
      >
        <HostActions host={host} />
      </Head>
      {host.set_aside_at !== null && <SetAside host={host} />}
      {host.reserved_until !== null && <Reserved host={host} />}
      {host.emulated && <EmulatedNotice counted={host.clock === "counted"} />}
      <section className="panel inside" aria-label="Facts">
        <div className="inside">
          <Facts
            items={[
              ["environment", host.environment],
              ["power", power(host)],
              ["capabilities", host.capabilities.join(", ") || "none named"],
              ["boots", host.boots],
              ["lab faults", host.lab_faults],
              ["last seen", host.last_seen_at && <Age at={host.last_seen_at} />],
            ]}
          />
        </div>
      </section>
      {host.queue && <Queues queues={[host.queue]} />}
      <DriftPanel drift={host.drift} />
      <NoisePanel noise={host.noise} />
      <DoubledRates rates={host.doubled} />
      <TimePanel host={host} />
      <section className="panel" aria-labelledby="fingerprints">
        <header>
          <h2 id="fingerprints">Fingerprints</h2>
          <span className="faint small">
            newest first; each with what changed from the one before
          </span>
        </header>
        {newestFirst.length === 0 && (
          <Empty
            next={[
              [
                `mitigauge host check ${host.name} --environment ${host.environment}`,
                "tells whether the host can be reached",
              ],
            ]}
          >
            None has been taken yet: each boot that is measured takes one.
          </Empty>
        )}
        {newestFirst.map((print, i) => (
          <FingerprintItem
            key={print.id}
            print={print}
            before={newestFirst[i + 1]}
            open={i === 0}
          />
        ))}
      </section>
      <section className="panel" aria-labelledby="experiments">
        <header>
          <h2 id="experiments">Experiments</h2>
        </header>
        {host.experiments.length === 0 ? (
          <Empty
            next={[
              [
                "mitigauge experiment submit SPEC",
                `plans one; ${host.name} stands under its hosts`,
              ],
            ]}
          >
            No experiment has used this host yet.
          </Empty>
        ) : (
          <ExperimentTable experiments={host.experiments} />
        )}
      </section>
    </>
  );
}

/** Why no run begins on the host, and how it comes back. */
function SetAside({ host }: { host: Host }) {
  return (
    <p className="notice" role="status">
      <strong>Set aside{host.set_aside_by !== "" && ` by ${host.set_aside_by}`}:</strong>{" "}
      {host.set_aside_reason}. Its runs wait
      {host.probe_at !== null && (
        <>
          {" "}
          until one may try again at <Stamp at={host.probe_at} />
        </>
      )}
      . Once the host is mended, <code>mitigauge host resume {host.name}</code> lets them go on at
      once.
    </p>
  );
}

/** Who has the host, and how it is given back. */
function Reserved({ host }: { host: Host }) {
  if (host.reserved_until === null) return null;
  const environment = host.environment === "lab" ? "" : ` --environment ${host.environment}`;
  return (
    <p className="notice" role="status">
      <strong>Reserved by {host.reserved_by}</strong> until <Stamp at={host.reserved_until} />:{" "}
      {host.reserved_reason}. No run begins on it before. It is given back, or taken from{" "}
      {host.reserved_by}, by{" "}
      <code>
        mitigauge host release {host.name}
        {environment}
      </code>
      .
    </p>
  );
}

interface ItemProps {
  print: Fingerprint;
  before: Fingerprint | undefined;
  open: boolean;
}

function FingerprintItem({ print, before, open }: ItemProps) {
  const changed = before ? changes(before.facts, print.facts) : [];
  return (
    <div className="fingerprint">
      <div className="fingerprint-head">
        <h3 className="mono">{print.digest.slice(0, 12)}</h3>
        <span className="soft">
          <Stamp at={print.first_seen_at} /> to <Stamp at={print.last_seen_at} />,{" "}
          {counted(print.boots, "boot")}
        </span>
      </div>
      {before ? <Changes changed={changed} /> : <p className="faint">The first one taken.</p>}
      <details open={open && !before}>
        <summary>Facts that no arm sets</summary>
        <FactTable facts={print.facts} empty="None." marked={[]} />
      </details>
    </div>
  );
}
