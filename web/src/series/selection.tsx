/** Which mitigation is chosen where: what was found first, then both kernels side by side. */

import { useMemo } from "react";
import type { Revision, SelectionCell, SelectionGroup, Selections } from "../api/types";
import { counted } from "../format/quantity";
import { Tag } from "../ui/tag";
import { useAddress } from "../ui/use-address";
import type { Tone } from "../words";
import { SelectionMatrix } from "./selection-matrix";
import {
  AXES,
  cellText,
  foundText,
  inAddress,
  kernelText,
  lettersOf,
  narrowed,
  NOTHING,
  ownLines,
  placesOf,
  saysTheSame,
  TO_LOOK_AT,
  valuesOf,
  type Asked,
  type Axis,
  type Place,
} from "./selection-places";

/** Findings that are shown at once; the worst come first. */
const MOST_GROUPS = 8;
const MOST_CELLS = 3;
/** Places that are told in words beneath the matrix: about as many as one processor has. */
const MOST_IN_WORDS = 40;
/** So many are told at once; more would hide what follows from whoever did not ask for them. */
const MOST_OPEN = 8;

interface SelectionProps {
  of: Selections;
  revision: Revision;
}

export function SelectionOf({ of, revision }: SelectionProps) {
  const places = useMemo(() => placesOf(of), [of]);
  if (places.length === 0) return null;
  return (
    <>
      {of.groups.length > 0 && <Findings of={of} />}
      <Matrix places={places} revision={revision} />
    </>
  );
}

function Findings({ of }: { of: Selections }) {
  const first = of.groups.slice(0, MOST_GROUPS);
  const rest = of.groups.slice(MOST_GROUPS);
  return (
    <div className="inside selection-findings">
      <Groups of={of} groups={first} />
      {rest.length > 0 && (
        <details>
          <summary>{counted(rest.length, "more finding")}</summary>
          <Groups of={of} groups={rest} />
        </details>
      )}
    </div>
  );
}

function toneOf(finding: string): Tone {
  if (TO_LOOK_AT.includes(finding)) return "bad";
  return finding === "no proof" ? "void" : "quiet";
}

function Groups({ of, groups }: { of: Selections; groups: SelectionGroup[] }) {
  return (
    <ul aria-label="What was found">
      {groups.map((group, at) => (
        <li key={at}>
          <Tag tone={toneOf(group.finding)} text={group.finding} /> {kernelText(of, group)},{" "}
          {counted(group.cells.length, "cell")}: {group.why}
          <div className="soft small">
            {group.cells.slice(0, MOST_CELLS).join("; ")}
            {group.cells.length > MOST_CELLS && <More cells={group.cells.slice(MOST_CELLS)} />}
          </div>
        </li>
      ))}
    </ul>
  );
}

function More({ cells }: { cells: string[] }) {
  return (
    <details>
      <summary>and {cells.length} more</summary>
      <ul>
        {cells.map((cell) => (
          <li key={cell}>{cell}</li>
        ))}
      </ul>
    </details>
  );
}

function Matrix({ places, revision }: { places: Place[]; revision: Revision }) {
  const [search, change] = useAddress();
  const asked: Asked = {
    processor: search.get("processor"),
    option: search.get("option"),
    mitigations: search.get("mitigations"),
  };
  const shown = narrowed(places, asked);
  // Of all places, so that a letter keeps its meaning whatever is shown.
  const letters = useMemo(() => lettersOf(places), [places]);
  const all = shown.length === places.length;
  return (
    <>
      <div className="inside filters" role="search" aria-label={`Places of ${revision.label}`}>
        {AXES.map((axis) => (
          <Picked key={axis} {...{ axis, places, change }} chosen={asked[axis]} />
        ))}
        <span className="soft small" role="status">
          {all ? counted(places.length, "place") : `${shown.length} of ${places.length} places`}
        </span>
      </div>
      {shown.length === 0 ? (
        <p className="inside soft">No place is like that.</p>
      ) : (
        <SelectionMatrix places={shown} letters={letters} revision={revision} />
      )}
      {shown.length > MOST_IN_WORDS && (
        <p className="inside small soft">
          {MOST_IN_WORDS} places or fewer are told in words as well, with the kernel’s own lines.
        </p>
      )}
      {shown.length > 0 && shown.length <= MOST_IN_WORDS && (
        <InWords places={shown} revision={revision} />
      )}
    </>
  );
}

const AXIS: Record<Axis, { label: string; none: string }> = {
  processor: { label: "Processor", none: "none" },
  option: { label: "Option", none: "no option" },
  mitigations: { label: "mitigations=", none: "not said" },
};

function valueText(axis: Axis, value: string): string {
  if (value === "") return AXIS[axis].none;
  return axis === "mitigations" ? value.replace(/^mitigations=/, "") : value;
}

interface PickedProps {
  axis: Axis;
  places: readonly Place[];
  chosen: string | null;
  change: (name: string, value: string | null) => void;
}

function Picked({ axis, places, chosen, change }: PickedProps) {
  const values = valuesOf(places, axis);
  // A link may name what this selection does not have.
  const foreign = chosen !== null && !values.some((value) => inAddress(value) === chosen);
  return (
    <label className="small picked">
      {AXIS[axis].label}{" "}
      <select
        className="field"
        value={chosen ?? ""}
        onChange={(event) => {
          change(axis, event.target.value === "" ? null : event.target.value);
        }}
      >
        <option value="">any</option>
        {[...values, ...(foreign ? [chosen === NOTHING ? "" : chosen] : [])].map((value) => (
          <option key={value} value={inAddress(value)}>
            {valueText(axis, value)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The same places without letters, each with what the kernels say themselves. */
function InWords({ places, revision }: { places: Place[]; revision: Revision }) {
  const few = places.length <= MOST_OPEN;
  return (
    <details className="selection-words" key={String(few)} open={few}>
      <summary className="inside">{counted(places.length, "place")} in words</summary>
      <table className="list stack" aria-label={`Places of ${revision.label} in words`}>
        <thead>
          <tr>
            <th scope="col">Place</th>
            <th scope="col">Base</th>
            <th scope="col">This revision</th>
            <th scope="col">Found</th>
          </tr>
        </thead>
        <tbody>
          {places.map((place) => (
            <Told key={`${place.processor} ${place.mitigations} ${place.option}`} place={place} />
          ))}
        </tbody>
      </table>
    </details>
  );
}

function Told({ place }: { place: Place }) {
  const { processor, mitigations, option, base, revision } = place;
  const found = foundText(place);
  return (
    <tr>
      <th scope="row">
        {processor}
        <div className="mono small">
          {[mitigations, option].filter(Boolean).join(" ") || "no option"}
        </div>
      </th>
      <td data-label="Base">
        <Shown cell={base} />
      </td>
      <td data-label="This revision">
        {saysTheSame(place) ? <span className="faint">the same</span> : <Shown cell={revision} />}
      </td>
      <td data-label="Found">
        {found.length > 0 ? found.join(", ") : <span className="faint">nothing</span>}
      </td>
    </tr>
  );
}

function Shown({ cell }: { cell: SelectionCell | undefined }) {
  return (
    <div>
      {cellText(cell)}
      {ownLines(cell).map((line) => (
        <div key={line} className="mono small soft">
          {line}
        </div>
      ))}
    </div>
  );
}
