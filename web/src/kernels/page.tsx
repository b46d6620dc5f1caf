/** Kernels that were built here or brought in, and orders for more. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Action } from "../act/action";
import type { WantedField } from "../act/fields";
import { useRights } from "../act/rights";
import { api, data } from "../api/client";
import { kernelsQuery } from "../api/queries";
import type { Kernel } from "../api/types";
import { bytes, counted } from "../format/quantity";
import { Age } from "../ui/age";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { Tag } from "../ui/tag";
import { patchesIn } from "./patches";

const TONE = { building: "busy", built: "good", failed: "bad", removed: "quiet" } as const;

export function KernelsPage() {
  useTitle("Kernels");
  const query = useQuery(kernelsQuery());
  return (
    <>
      <Head
        title="Kernels"
        tabs={<PlaceTabs of="fleet" here="kernels" />}
        lede="Built here from a source package and patches, or brought in."
      >
        <Build />
      </Head>
      <Loaded query={query} part>
        {(kernels) => <List kernels={kernels} />}
      </Loaded>
    </>
  );
}

function List({ kernels }: { kernels: Kernel[] }) {
  if (kernels.length === 0)
    return (
      <div className="panel">
        <Empty next={[["mitigauge kernel build PATCHES", "builds one with patches"]]}>
          No kernel was built here yet.
        </Empty>
      </div>
    );
  return (
    <div className="panel" style={{ marginTop: 0 }}>
      <table className="list stack">
        <thead>
          <tr>
            <th scope="col">Kernel</th>
            <th scope="col">State</th>
            <th scope="col">Patches</th>
            <th scope="col">From</th>
            <th scope="col">Begun</th>
          </tr>
        </thead>
        <tbody>
          {kernels.toReversed().map((kernel) => (
            <Row key={kernel.id} kernel={kernel} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ kernel }: { kernel: Kernel }) {
  const name = kernel.label === "" ? kernel.digest.slice(0, 12) : kernel.label;
  return (
    <tr>
      <th scope="row">
        <strong>{name}</strong>
        {kernel.release !== null && <div className="faint small mono">{kernel.release}</div>}
      </th>
      <td data-label="State">
        <div>
          <Tag tone={TONE[kernel.state]} text={kernel.state} />
          {kernel.error !== "" && <div className="small problem-text">{kernel.error}</div>}
        </div>
      </td>
      <td data-label="Patches">
        {kernel.patches.length === 0 ? (
          <span className="faint">none</span>
        ) : (
          <details>
            <summary>{counted(kernel.patches.length, "patch", "patches")}</summary>
            <ol className="patches">
              {kernel.patches.map((patch) => (
                <li key={patch.digest}>{patch.title}</li>
              ))}
            </ol>
          </details>
        )}
      </td>
      <td data-label="From">
        <div>
          {kernel.base}, profile {kernel.profile}
          {kernel.imported && ", brought in"}
          {kernel.package_bytes !== null && (
            <div className="faint small">{bytes(kernel.package_bytes)}</div>
          )}
        </div>
      </td>
      <td data-label="Begun">
        <Age at={kernel.started_at} />
      </td>
    </tr>
  );
}

const FIELDS: WantedField[] = [
  {
    name: "base",
    label: "Source package, or NAME@REVISION of a tree",
    initial: "linux-source-7.2",
    required: true,
    most: 200,
  },
  {
    name: "environment",
    label: "Environment of the hosts it is for",
    initial: "lab",
    required: true,
    most: 60,
  },
  {
    name: "profile",
    label: "Config profile; empty: lab for emulated hosts, else the hosts' own",
    most: 500,
  },
  { name: "label", label: "Label, for people", placeholder: "my-fix", most: 60 },
  {
    name: "patches",
    label: "Patches as git format-patch writes them, one after the other; none: the source itself",
    kind: "long",
    most: 1_000_000,
  },
];

function Build() {
  const { may } = useRights();
  const queries = useQueryClient();
  if (!may("approve a series")) return null;
  return (
    <div className="buttons">
      <Action
        label="Build a kernel"
        fields={FIELDS}
        confirm="Build it"
        run={({ base = "", environment = "", profile = "", label = "", patches = "" }) =>
          data(
            api.POST("/api/kernels", {
              body: {
                base,
                environment,
                profile,
                label,
                layouts: 1,
                loose: false,
                anew: false,
                patches: patchesIn(patches).map((text) => ({ text, title: "" })),
              },
            }),
          )
        }
        settled={() =>
          Promise.all(
            [["jobs"], ["kernels"]].map((queryKey) => queries.invalidateQueries({ queryKey })),
          )
        }
      >
        <p>
          A worker builds it without network; a kernel that was built before is not built again. An
          arm&rsquo;s <code>kernel: built/LABEL</code> boots it then, and its code{" "}
          <strong>runs as root</strong> on hosts of ours.
        </p>
      </Action>
    </div>
  );
}
