/** What the graph shows and how: first what is asked of the service, then how it is drawn. */

import { Choice } from "./choice";
import type { Basis, Meta, Where } from "./decode";
import type { Changes, ViewState } from "./state";

interface ControlProps {
  meta: Meta;
  state: ViewState;
  change: (changes: Changes) => void;
}

interface Greyable {
  /** Whether there are values of q to grey by. */
  greyable?: boolean;
}

const BASIS_WORDS: Record<Basis, readonly [string, string]> = {
  operation: ["per operation", "What one operation costs: added cost shows where it was added"],
  share: ["share", "Share of all samples: added cost makes everything else look smaller"],
  raw: ["samples", "Samples as they were counted"],
};

const WHERE_WORDS: Record<Where, readonly [string, string]> = {
  host: ["host", "What the host's own processors did, the guest's share among it"],
  guest: ["guest", "What the guest saw itself do"],
  "off-cpu": ["waiting", "Where the host's threads waited, by the stack they left with"],
};

const NOT_ASKED_AGAIN = { page: null };

export function DataControls({ meta, change }: Omit<ControlProps, "state">) {
  return (
    <>
      {meta.wheres.length > 1 && (
        <Choice
          label="Profile of the"
          options={meta.wheres.map((where) => [where, ...WHERE_WORDS[where]] as const)}
          value={meta.where}
          choose={(where) => {
            change({ where: where === "host" ? null : where, ...NOT_ASKED_AGAIN });
          }}
        />
      )}
      <Choice
        label="Cost"
        options={meta.bases.map((basis) => [basis, ...BASIS_WORDS[basis]] as const)}
        value={meta.basis}
        choose={(basis) => {
          change({ basis, ...NOT_ASKED_AGAIN });
        }}
      />
      <Choice
        label="Threads and CPUs"
        options={[
          ["1", "together", "CPU 3/KVM and CPU 4/KVM are CPU */KVM"],
          ["0", "each", "Names as they were recorded"],
        ]}
        value={meta.merged ? "1" : "0"}
        choose={(merge) => {
          change({ merge, ...NOT_ASKED_AGAIN });
        }}
      />
    </>
  );
}

export function ViewControls({ meta, state, change }: ControlProps) {
  return (
    <>
      <Choice
        label="Root"
        options={[
          ["flame", "bottom", "Flame graph"],
          ["icicle", "top", "Icicle graph"],
        ]}
        value={state.view}
        choose={(view) => {
          change({ view: view === "flame" ? null : view });
        }}
      />
      <Choice
        label="Width"
        options={[
          ["mean", "mean", "Mean of both groups"],
          ["a", "A", meta.a.label],
          ["b", "B", meta.b.label],
        ]}
        value={state.width}
        choose={(width) => {
          change({ width: width === "mean" ? null : width });
        }}
      />
      <LookControls {...{ state, change }} />
    </>
  );
}

export function LookControls({
  state,
  change,
  greyable = true,
}: Omit<ControlProps, "meta"> & Greyable) {
  return (
    <>
      <Choice
        label="Colour"
        options={[
          ["diff", "of the total", "Difference in percent of all that A costs"],
          [
            "self",
            "own",
            "Difference of the frame's own cost, without what it calls, in percent of all that A costs",
          ],
          ["change", "of the frame", "Difference in percent of what the frame costs in A"],
        ]}
        value={state.colour}
        choose={(colour) => {
          change({ colour: colour === "diff" ? null : colour });
        }}
      />
      {greyable && (
        <label className="small greying">
          <input
            type="checkbox"
            checked={state.greying}
            onChange={(event) => {
              change({ sig: event.target.checked ? null : "0" });
            }}
          />{" "}
          grey where q &gt; 0.05
        </label>
      )}
    </>
  );
}
