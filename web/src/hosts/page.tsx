/** Every host the service knows. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { hostsQuery, queueQuery } from "../api/queries";
import type { HostState, HostSummary } from "../api/types";
import { counted } from "../format/quantity";
import { Age } from "../ui/age";
import { Answer, Loaded } from "../ui/answers";
import { NextCommands } from "../ui/empty";
import { CountedMark, EmulatedMark, MarkedOnce } from "../ui/emulated";
import { ListFilter, NoneLikeThat, useListFilter } from "../ui/list-filter";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { Tag } from "../ui/tag";
import "./hosts.css";
import { Queues } from "./queue";

const HOST_STATE: Record<HostState, string> = {
  free: "free",
  "in-use": "in use",
  reserved: "reserved",
  "set-aside": "set aside",
};

/** Several environments may have a host of the same name. */
function hostPath(host: HostSummary): string {
  const environment = encodeURIComponent(host.environment);
  return `/hosts/${encodeURIComponent(host.name)}?environment=${environment}`;
}

export function HostsPage() {
  useTitle("Fleet");
  const filter = useListFilter(Object.keys(HOST_STATE) as HostState[]);
  const query = useQuery(hostsQuery(filter.asked));
  return (
    <>
      <Head
        title="Fleet"
        tabs={<PlaceTabs of="fleet" here="hosts" />}
        lede={query.data && inShort(query.data)}
      />
      <Loaded query={query} part>
        {(hosts) =>
          hosts.length === 0 && !filter.narrows ? (
            <NoneYet />
          ) : (
            <>
              <ListFilter
                label="Hosts"
                filter={filter}
                states={HOST_STATE}
                placeholder="name, class or capability"
              />
              {hosts.length === 0 ? <NoneLikeThat what="host" /> : <List hosts={hosts} />}
            </>
          )
        }
      </Loaded>
    </>
  );
}

function NoneYet() {
  return (
    <Answer title="No host yet" part>
      <p>A host shows up with the first experiment that uses it.</p>
      <NextCommands
        next={[
          ["mitigauge demo --recorded", "shows a recorded experiment with its hosts, at once"],
          ["mitigauge lab up", "starts the emulated hosts of this machine"],
          ["mitigauge experiment submit experiments/lab-demo.yml", "plans an experiment on them"],
        ]}
      />
    </Answer>
  );
}

export function Now({ host }: { host: HostSummary }) {
  if (host.reserved_until !== null)
    return (
      <Tag tone="void" text={`reserved by ${host.reserved_by}`} title={host.reserved_reason} />
    );
  if (host.leased_by !== "") return <Tag tone="busy" text={`in use by ${host.leased_by}`} />;
  if (host.set_aside_at !== null) return <Tag tone="bad" text="set aside" />;
  return <Tag tone="quiet" text="free" />;
}

/** Whether nothing runs on it before a person has done something. */
function needsAPerson(host: HostSummary): boolean {
  return host.set_aside_at !== null;
}

/** Those that need a person, then the others; each in the order in which they came. */
function neededFirst(hosts: HostSummary[]): HostSummary[] {
  return [...hosts.filter(needsAPerson), ...hosts.filter((host) => !needsAPerson(host))];
}

function inShort(hosts: HostSummary[]): string {
  const [busy, aside] = [
    hosts.filter((host) => host.leased_by !== "").length,
    hosts.filter(needsAPerson).length,
  ];
  return [
    counted(hosts.length, "host"),
    `${busy} in use`,
    ...(aside === 0 ? [] : [`${aside} set aside`]),
  ].join(", ");
}

function List({ hosts }: { hosts: HostSummary[] }) {
  const queue = useQuery(queueQuery());
  return (
    <>
      <Loaded query={queue} part>
        {(queues) => <Queues queues={queues} />}
      </Loaded>
      <div className="panel">
        <MarkedOnce of={hosts}>
          <table className="list stack">
            <thead>
              <tr>
                <th scope="col">Host</th>
                <th scope="col">Class</th>
                <th scope="col">Capabilities</th>
                <th scope="col">Now</th>
                <th scope="col">Boots</th>
                <th scope="col">Lab faults</th>
                <th scope="col">Last seen</th>
              </tr>
            </thead>
            <tbody>
              {neededFirst(hosts).map((host) => (
                <tr key={`${host.environment} ${host.name}`}>
                  <th scope="row">
                    <div className="buttons">
                      <Link to={hostPath(host)}>
                        <strong>{host.name}</strong>
                      </Link>
                      {host.emulated && <EmulatedMark />}
                      {host.clock === "counted" && <CountedMark />}
                    </div>
                    <div className="faint">environment {host.environment}</div>
                  </th>
                  <td data-label="Class">{host.host_class}</td>
                  <td data-label="Can">
                    {host.capabilities.length === 0 ? (
                      <span className="faint">none named</span>
                    ) : (
                      host.capabilities.join(", ")
                    )}
                  </td>
                  <td data-label="Now">
                    <div>
                      <Now host={host} />
                      {host.set_aside_at !== null && (
                        <div className="faint small">{host.set_aside_reason}</div>
                      )}
                    </div>
                  </td>
                  <td data-label="Boots">{host.boots}</td>
                  <td data-label="Lab faults">{host.lab_faults}</td>
                  <td data-label="Last seen">
                    {host.last_seen_at === null ? (
                      <span className="faint">never</span>
                    ) : (
                      <Age at={host.last_seen_at} />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </MarkedOnce>
      </div>
    </>
  );
}
