/** What of the rows is shown; all of it stands in the address. */

import type { Pair } from "../api/types";
import { useSearch } from "../ui/use-search";
import { type Asked, SORT_WORDS, SORTS } from "./address";

interface Props {
  asked: Asked;
  pair: Pair;
  change: (name: string, value: string) => void;
  pairHosts: (a: string, b: string) => void;
}

export function Filters({ asked, pair, change, pairHosts }: Props) {
  const [typed, type] = useSearch(asked.find, (text) => {
    change("find", text);
  });
  return (
    <div className="pair-filters" role="search" aria-label="Rows">
      <label className="small">
        <span className="soft">Find</span>
        <input
          className="field"
          type="search"
          maxLength={200}
          value={typed}
          placeholder="case, metric, arm or host"
          onChange={(event) => {
            type(event.target.value);
          }}
        />
      </label>
      {(pair.workloads.length > 1 || asked.workload !== "") && (
        <label className="small">
          <span className="soft">Workload</span>
          <select
            className="field"
            value={asked.workload}
            onChange={(event) => {
              change("workload", event.target.value);
            }}
          >
            <option value="">all</option>
            {[...new Set([...pair.workloads, ...(asked.workload ? [asked.workload] : [])])].map(
              (each) => (
                <option key={each}>{each}</option>
              ),
            )}
          </select>
        </label>
      )}
      <label className="small">
        <span className="soft">Order</span>
        <select
          className="field"
          value={asked.sort}
          onChange={(event) => {
            change("sort", event.target.value === "difference" ? "" : event.target.value);
          }}
        >
          {SORTS.map((sort) => (
            <option key={sort} value={sort}>
              {SORT_WORDS[sort]}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        className="button"
        aria-pressed={asked.only === "differs"}
        onClick={() => {
          change("only", asked.only === "differs" ? "" : "differs");
        }}
      >
        Only what differs
      </button>
      <HostPairs pair={pair} pairHosts={pairHosts} />
    </div>
  );
}

/** A field for each host of A, where there is something to choose. */
function HostPairs({ pair, pairHosts }: Pick<Props, "pair" | "pairHosts">) {
  const isPlain = pair.a.hosts.length === 1 && pair.b.hosts.length === 1;
  if (isPlain || pair.b.hosts.length === 0) return null;
  return pair.a.hosts.map((host) => (
    <label className="small" key={host}>
      <span className="soft">{host} beside</span>
      <select
        className="field"
        value={pair.hosts.find((each) => each.a === host)?.b ?? ""}
        onChange={(event) => {
          pairHosts(host, event.target.value);
        }}
      >
        <option value="">as the service pairs them</option>
        {pair.b.hosts.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
    </label>
  ));
}
