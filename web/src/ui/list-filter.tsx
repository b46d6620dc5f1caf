/** What a list is narrowed by, in the address: words, and states. */

import { useAddress } from "./use-address";
import { useSearch } from "./use-search";

export interface Narrowed<State extends string> {
  find?: string;
  state?: State[];
}

interface Filter<State extends string> {
  asked: Narrowed<State>;
  /** Whether it leaves anything out. */
  narrows: boolean;
  change: (name: string, value: string) => void;
}

/** Words of the address that are no state ask for nothing. */
export function useListFilter<State extends string>(states: readonly State[]): Filter<State> {
  const [search, changeTo] = useAddress();
  const find = search.get("find") ?? "";
  const state = states.find((each) => each === search.get("state"));
  return {
    asked: { ...(find !== "" && { find }), ...(state !== undefined && { state: [state] }) },
    narrows: find !== "" || state !== undefined,
    change: (name, value) => {
      changeTo(name, value === "" ? null : value);
    },
  };
}

interface ListFilterProps<State extends string> {
  /** What is listed, for who does not see it. */
  label: string;
  filter: Filter<State>;
  states: Record<State, string>;
  placeholder: string;
}

interface FindFieldProps {
  /** As it stands in the address. */
  find: string;
  placeholder: string;
  write: (text: string) => void;
}

/** Words to look for; the address follows what is typed. */
export function FindField({ find, placeholder, write }: FindFieldProps) {
  const [typed, type] = useSearch(find, write);
  return (
    <label className="small picked">
      Find{" "}
      <input
        className="field"
        type="search"
        value={typed}
        maxLength={200}
        placeholder={placeholder}
        onChange={(event) => {
          type(event.target.value);
        }}
      />
    </label>
  );
}

export function ListFilter<State extends string>(props: ListFilterProps<State>) {
  const { label, filter, states, placeholder } = props;
  const { asked, change } = filter;
  return (
    <div className="filters" role="search" aria-label={label}>
      <FindField
        find={asked.find ?? ""}
        placeholder={placeholder}
        write={(text) => {
          change("find", text);
        }}
      />
      <label className="small picked">
        State{" "}
        <select
          className="field"
          value={asked.state?.[0] ?? ""}
          onChange={(event) => {
            change("state", event.target.value);
          }}
        >
          <option value="">all</option>
          {(Object.entries(states) as [State, string][]).map(([state, words]) => (
            <option key={state} value={state}>
              {words}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

/** In a list's place, where nothing is like that. */
export function NoneLikeThat({ what }: { what: string }) {
  return (
    <div className="panel">
      <p className="inside soft">No {what} is like that.</p>
    </div>
  );
}

/** Labels of words, for the choice. */
export function labels<State extends string>(
  words: Record<State, { label: string }>,
): Record<State, string> {
  return Object.fromEntries(
    Object.entries<{ label: string }>(words).map(([state, { label }]) => [state, label]),
  ) as Record<State, string>;
}
