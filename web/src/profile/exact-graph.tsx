/** The flame graph whose totals are exact counts, and whose shape is that of sampled stacks. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { ApiError } from "../api/client";
import type { ExactTable } from "../api/types";
import { Loading } from "../ui/answers";
import { reference } from "./colour";
import { ViewControls } from "./controls";
import type { Profile } from "./decode";
import { Exports } from "./exports";
import { figure as figureOf, type Scene } from "./figure";
import { Graph } from "./graph";
import { Legend } from "./legend";
import { usePalette } from "./palette";
import { findPath, pathId } from "./path";
import { exactGraphQuery } from "./query";
import { WHOLE } from "./state";
import type { TabProps } from "./tab";
import { useMatches } from "./use-matches";

interface ExactGraphProps extends Omit<TabProps, "profile"> {
  asked: string;
  table: ExactTable;
}

export function ExactGraph({ asked, table, ...tab }: ExactGraphProps) {
  const query = useQuery(exactGraphQuery(asked));
  const { state, change } = tab;
  return (
    <section className="panel profile-panel" aria-labelledby="exact-graph">
      <header>
        <h2 id="exact-graph">Flame graph, exact totals</h2>
        {query.data && (
          <div className="controls">
            <ViewControls meta={query.data.meta} {...{ state, change }} greyable={false} />
          </div>
        )}
      </header>
      {query.isPending && <Loading />}
      {query.error && <Missing error={query.error} />}
      {query.data && <Drawn {...tab} table={table} profile={query.data} />}
    </section>
  );
}

/** Why there is none, and how to get one. */
function Missing({ error }: { error: Error }) {
  if (!(error instanceof ApiError)) throw error;
  return (
    <div className="inside" role="note">
      <p>
        {error.message} {error.hint}
      </p>
      <p className="small soft">
        The graph needs sampled stacks of the same case and arms for its shape: set{" "}
        <code>profile: true</code> for the workload in the spec and run it again.
      </p>
    </div>
  );
}

function Drawn({
  profile,
  table,
  state,
  text,
  change,
  address,
}: Omit<ExactGraphProps, "asked"> & Pick<TabProps, "profile">) {
  const { meta, tree } = profile;
  const palette = usePalette();
  const figure = useMemo(
    () => figureOf(tree, meta.names, state.width, reference(tree)),
    [tree, meta.names, state.width],
  );
  const matching = useMatches(figure, text)?.symbols ?? null;
  const { colour, view } = state;
  const scene: Scene = useMemo(
    () => ({ figure, view, palette, matching, look: { colour, greying: false } }),
    [figure, view, palette, matching, colour],
  );
  const zoom = useMemo(() => findPath(tree, meta.names, state.zoom) ?? 0, [tree, meta, state.zoom]);
  const listed = useMemo(
    () => new Set(table.functions.map((row) => row.function)),
    [table.functions],
  );
  return (
    <>
      <Graph
        scene={scene}
        meta={meta}
        label={`Flame graph with exact totals of ${meta.title}, ${meta.a.label} and ${meta.b.label}`}
        zoom={zoom}
        zoomTo={(node) => {
          if (node === zoom) return;
          change({ zoom: node === 0 ? WHOLE : pathId(tree, meta.names, node) }, false);
        }}
        sandwich={(fn) => address({ tab: "sandwich", fn, callers: null, callees: null })}
        instructions={(fn) => (listed.has(fn) ? address({ fn, lines: null }) : null)}
      />
      <Legend look={scene.look} palette={palette} whole={figure.whole} unit={meta.unit} known />
      <footer className="inside small soft notes">
        <p>
          Instructions an operation: exact totals, shape from samples. What a function runs by
          itself is counted; who called it is estimated from {samplesOf(profile)} sampled stacks.
          Functions that no sample saw stand under <em>[not sampled]</em>. There is no q: the totals
          are not sampled.
        </p>
      </footer>
      <Exports scene={scene} profile={profile} zoom={zoom} />
    </>
  );
}

function samplesOf({ meta }: Profile): string {
  return `${meta.a.samples} and ${meta.b.samples}`;
}
