/** The graph with its controls, its legend, what the search found, and its exports. */

import { useMemo, useState } from "react";
import { counted } from "../format/quantity";
import { reference, type Look } from "./colour";
import { ViewControls } from "./controls";
import type { Meta } from "./decode";
import { differingPart, partOf } from "./difference";
import { Differences, ShownPart } from "./differences";
import { Exports } from "./exports";
import { figure as figureOf, type Figure, type Scene } from "./figure";
import { Graph, type Aim } from "./graph";
import { Legend } from "./legend";
import { usePalette } from "./palette";
import { findPath, pathId } from "./path";
import type { Matches } from "./search";
import { WHOLE } from "./state";
import type { TabProps } from "./tab";
import { cost, type Tree } from "./tree";
import { useMatches } from "./use-matches";
import { costText, shareText } from "./words";

export function useLook({ colour, greying }: Look): Look {
  return useMemo(() => ({ colour, greying }), [colour, greying]);
}

function isKnown(tree: Tree): boolean {
  return tree.q.some((q) => !Number.isNaN(q));
}

export function GraphTab({ profile, state, text, change, address, instructions }: TabProps) {
  const { meta, tree } = profile;
  const palette = usePalette();
  const look = useLook(state);
  const figure = useMemo(
    () => figureOf(tree, meta.names, state.width, reference(tree)),
    [tree, meta.names, state.width],
  );
  const found = useMatches(figure, text);
  const { end } = figure.layout;
  const part = useMemo(() => differingPart(tree, end), [tree, end]);
  const zoom = useMemo(() => {
    if (state.zoom === "") return part?.zoom ?? 0;
    return findPath(tree, meta.names, state.zoom) ?? 0;
  }, [tree, meta.names, state.zoom, part]);
  const [shown, setShown] = useState<Aim | null>(null);
  const opened = part === null ? null : { zoom: part.zoom, node: part.most };
  const known = useMemo(() => isKnown(tree), [tree]);
  const matching = found?.symbols ?? null;
  const scene: Scene = useMemo(
    () => ({ figure, look, palette, matching, view: state.view }),
    [figure, look, palette, matching, state.view],
  );
  const zoomTo = (node: number) => {
    if (node === zoom) return;
    change({ zoom: node === 0 ? WHOLE : pathId(tree, meta.names, node) }, false);
  };
  const show = (symbol: number) => {
    const found = partOf(tree, end, symbol);
    if (found === null) return;
    setShown({ zoom: found.zoom, node: found.most });
    zoomTo(found.zoom);
  };
  return (
    <section className="panel profile-panel" aria-labelledby="graph">
      <header>
        <h2 id="graph">Graph</h2>
        <div className="controls">
          <ViewControls meta={meta} state={state} change={change} />
        </div>
      </header>
      <Differences
        profile={profile}
        show={show}
        table={address({ tab: "functions", of: null, sort: "q", page: null })}
      />
      <ShownPart {...{ part, known, zoom, zoomTo }} />
      {state.zoom !== "" && state.zoom !== WHOLE && zoom === 0 && (
        <p className="inside small" role="note">
          The frame this address zooms to is not in these profiles; everything is shown.
        </p>
      )}
      {found && <Found found={found} figure={figure} meta={meta} />}
      <Graph
        scene={scene}
        meta={meta}
        label={`Flame graph of ${meta.title}, ${meta.a.label} and ${meta.b.label}`}
        zoom={zoom}
        zoomTo={zoomTo}
        aim={shown?.zoom === zoom ? shown : opened}
        chose={(fn) => {
          change({ fn });
        }}
        sandwich={(fn) => address({ tab: "sandwich", fn, callers: null, callees: null })}
        instructions={instructions}
      />
      <Legend look={look} palette={palette} whole={figure.whole} unit={meta.unit} known={known} />
      <Exports scene={scene} profile={profile} zoom={zoom} />
    </section>
  );
}

/** How many frames match and what they cost; a frame within another is not counted again. */
function Found({ found, figure, meta }: { found: Matches; figure: Figure; meta: Meta }) {
  const { tree } = figure;
  if (found.frames === 0) {
    return (
      <p className="inside small found" role="status">
        No name matches.
      </p>
    );
  }
  const side = (value: number, total: number) =>
    `${costText(value, meta.unit)} (${shareText(value, total)})`;
  return (
    <p className="inside small found" role="status">
      {counted(found.frames, "frame")} of {counted(found.names, "name")} match: A{" "}
      {side(found.a, cost(tree.a, 0))}, B {side(found.b, cost(tree.b, 0))}
    </p>
  );
}
