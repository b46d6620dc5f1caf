/** Which two groups are compared: arms, hosts and experiments that have profiles of the case. */

import { useQuery } from "@tanstack/react-query";
import { profileGroupsQuery } from "../api/queries";
import type { ProfileGroup } from "../api/types";
import { counted } from "../format/quantity";
import type { Meta, Selection } from "./decode";
import type { Changes } from "./state";

interface Props {
  meta: Meta;
  change: (changes: Changes) => void;
}

/** A value for an option; equal for equal groups. */
export function keyOf({ experiment_id, case_id, host, arm }: Selection): string {
  return JSON.stringify([experiment_id, case_id, host, arm]);
}

/** The address of both groups; B says only where it is not of A's case and host. */
export function groupsQuery(a: Selection, b: Selection): Changes {
  return {
    experiment: String(a.experiment_id),
    case: String(a.case_id),
    host: a.host,
    a: a.arm,
    b: b.arm,
    b_experiment: b.experiment_id === a.experiment_id ? null : String(b.experiment_id),
    b_case: b.case_id === a.case_id ? null : String(b.case_id),
    b_host: b.host === a.host ? null : b.host,
  };
}

export function Groups({ meta, change }: Props) {
  const [a, b] = [meta.a.of, meta.b.of];
  const query = useQuery({
    ...profileGroupsQuery(a?.experiment_id ?? 0, a?.case_id ?? 0, meta.where),
    enabled: a !== null,
  });
  if (a === null || b === null || query.data === undefined) return null;
  const sides = { meta, groups: query.data };
  // Another pair has other frames: what was zoomed and chosen stays where it is found.
  return (
    <>
      <Group
        {...sides}
        letter="A"
        chosen={a}
        choose={(of) => {
          change({ ...groupsQuery(of, b), page: null });
        }}
      />
      <Group
        {...sides}
        letter="B"
        chosen={b}
        choose={(of) => {
          change({ ...groupsQuery(a, of), page: null });
        }}
      />
    </>
  );
}

interface GroupProps {
  letter: string;
  meta: Meta;
  groups: ProfileGroup[];
  chosen: Selection;
  choose: (of: Selection) => void;
}

function Group({ letter, meta, groups, chosen, choose }: GroupProps) {
  const experiments = [...new Set(groups.map((group) => group.experiment_id))];
  return (
    <span className="choice small">
      <span className="faint" aria-hidden="true">
        {letter}
      </span>
      <select
        className="field"
        aria-label={`Group ${letter}`}
        value={keyOf(chosen)}
        onChange={(event) => {
          const of = groups.find((group) => keyOf(group) === event.target.value);
          if (of) choose(of);
        }}
      >
        {experiments.map((id) => (
          <Options key={id} groups={groups.filter((g) => g.experiment_id === id)} meta={meta} />
        ))}
      </select>
    </span>
  );
}

function Options({ groups, meta }: { groups: ProfileGroup[]; meta: Meta }) {
  const first = groups[0];
  if (first === undefined) return null;
  return (
    <optgroup label={`${first.experiment} (experiment ${first.experiment_id})`}>
      {groups.map((group) => (
        <option key={keyOf(group)} value={keyOf(group)} disabled={group.event !== meta.event}>
          {group.arm} on {group.host}, {counted(group.profiles, "profile")}
          {group.event !== meta.event && ` of ${group.event}`}
        </option>
      ))}
    </optgroup>
  );
}
