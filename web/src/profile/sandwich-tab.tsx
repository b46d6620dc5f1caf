/** One function with all that calls it above and all that it calls below. */

import { useMemo } from "react";
import { Link } from "wouter";
import { counted } from "../format/quantity";
import { reference, type Look } from "./colour";
import { LookControls } from "./controls";
import type { Meta } from "./decode";
import { Exports } from "./exports";
import { figure as figureOf, type View } from "./figure";
import { Graph } from "./graph";
import { Name } from "./inspector";
import { layout, type Width } from "./layout";
import { Legend } from "./legend";
import { usePalette } from "./palette";
import { findPath, pathId } from "./path";
import { sandwich } from "./sandwich";
import type { TabProps } from "./tab";
import { cost, type Tree } from "./tree";
import { useMatches } from "./use-matches";
import { costText, differenceText } from "./words";

export function SandwichTab(props: TabProps) {
  const { profile, state, change, address } = props;
  const { meta, tree } = profile;
  const halves = useMemo(() => {
    const symbol = meta.names.indexOf(state.fn);
    return symbol < 0 ? null : sandwich(tree, layout(tree, "mean").end, meta.names, symbol);
  }, [meta.names, tree, state.fn]);
  const palette = usePalette();
  if (state.fn === "" || halves === null) {
    return (
      <div className="panel inside">
        <p>
          {state.fn === "" ? (
            "No function is chosen. "
          ) : (
            <>
              <Name>{state.fn}</Name> is in none of these stacks: it may have been left out as too
              small, or have another name when threads are put together.{" "}
            </>
          )}
          Choose one in the <Link to={address({ tab: "functions" })}>table of functions</Link>, or a
          frame in the <Link to={address({ tab: null })}>graph</Link>.
        </p>
      </div>
    );
  }
  const root = halves.callees;
  const [a, b] = [cost(root.a, 0), cost(root.b, 0)];
  const whole = reference(tree);
  // Merged frames have no interval and no q: greying them would hide everything.
  const look: Look = { colour: state.colour, greying: false };
  const half = { ...props, whole };
  return (
    <section className="panel profile-panel" aria-labelledby="sandwich">
      <header>
        <h2 id="sandwich">
          <Name>{state.fn}</Name>
        </h2>
        <div className="controls">
          <LookControls state={state} change={change} greyable={false} />
        </div>
      </header>
      <p className="inside small">
        A {costText(a, meta.unit)}, B {costText(b, meta.unit)}, difference{" "}
        {differenceText(b - a, NaN, NaN, meta.unit)}, from {counted(halves.frames, "place")} in the
        graph; a recursive call is counted once. Frames put together have no interval.
      </p>
      <h3 className="inside">Callers</h3>
      <Half {...half} tree={halves.callers} view="flame" zoomKey="callers" />
      <h3 className="inside">Callees</h3>
      <Half {...half} tree={halves.callees} view="icicle" zoomKey="callees" />
      <Legend look={look} palette={palette} whole={whole} unit={meta.unit} known={true} />
    </section>
  );
}

interface HalfProps extends TabProps {
  tree: Tree;
  view: View;
  whole: number;
  zoomKey: "callers" | "callees";
}

function Half({ tree, view, whole, zoomKey, ...props }: HalfProps) {
  const { profile, state, text, change, address, instructions } = props;
  const { names } = profile.meta;
  const meta: Meta = profile.meta;
  const palette = usePalette();
  const scaled: Width = state.width;
  const figure = useMemo(() => figureOf(tree, names, scaled, whole), [tree, names, scaled, whole]);
  const matching = useMatches(figure, text)?.symbols ?? null;
  const { colour } = state;
  const scene = useMemo(
    () => ({ figure, view, palette, matching, look: { colour, greying: false } }),
    [figure, view, palette, matching, colour],
  );
  const zoom = findPath(tree, names, state[zoomKey]) ?? 0;
  const what = `${zoomKey === "callers" ? "Callers" : "Callees"} of ${state.fn}`;
  return (
    <>
      <Graph
        scene={scene}
        meta={meta}
        label={what}
        zoom={zoom}
        zoomTo={(node) => {
          change({ [zoomKey]: node === 0 ? null : pathId(tree, names, node) }, false);
        }}
        sandwich={(fn) => address({ fn, callers: null, callees: null })}
        instructions={instructions}
      />
      <Exports scene={scene} profile={profile} zoom={zoom} part={what} />
    </>
  );
}
