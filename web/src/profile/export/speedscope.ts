/** The file format of https://www.speedscope.app: A and B as two profiles over shared frames. */

import type { Meta } from "../decode";
import { layout } from "../layout";
import type { Tree } from "../tree";

interface Event {
  type: "O" | "C";
  frame: number;
  at: number;
}

export interface SpeedscopeProfile {
  type: "evented";
  name: string;
  unit: "nanoseconds" | "none";
  startValue: number;
  endValue: number;
  events: Event[];
}

export interface SpeedscopeFile {
  $schema: "https://www.speedscope.app/file-format-schema.json";
  name: string;
  exporter: "mitigauge";
  activeProfileIndex: number;
  shared: { frames: { name: string }[] };
  profiles: SpeedscopeProfile[];
}

/** Frames opened and closed from left to right. Events must never step back, not by rounding. */
function events(tree: Tree, side: "a" | "b"): { events: Event[]; end: number } {
  const { x, width } = layout(tree, side);
  const list: Event[] = [];
  const open: number[] = [];
  let last = 0;
  const say = (type: Event["type"], node: number, at: number) => {
    last = Math.max(last, at);
    list.push({ type, frame: tree.symbol[node] ?? 0, at: last });
  };
  const closeUntil = (above: number) => {
    while (open.length > 0 && open.at(-1) !== above) {
      const node = open.pop() ?? 0;
      say("C", node, (x[node] ?? 0) + (width[node] ?? 0));
    }
  };
  for (let i = 1; i < tree.parent.length; i++) {
    if (!((width[i] ?? 0) > 0)) continue;
    closeUntil(tree.parent[i] ?? -1);
    open.push(i);
    say("O", i, x[i] ?? 0);
  }
  closeUntil(-1);
  return { events: list, end: Math.max(last, width[0] ?? 0) };
}

export function speedscope(meta: Meta, tree: Tree): SpeedscopeFile {
  const profile = (side: "a" | "b"): SpeedscopeProfile => {
    const { events: list, end } = events(tree, side);
    return {
      type: "evented",
      name: `${side.toUpperCase()}: ${meta[side].label} (${meta.unit})`,
      unit: meta.unit.startsWith("ns") ? "nanoseconds" : "none",
      startValue: 0,
      endValue: end,
      events: list,
    };
  };
  return {
    $schema: "https://www.speedscope.app/file-format-schema.json",
    name: meta.title,
    exporter: "mitigauge",
    activeProfileIndex: 0,
    shared: { frames: meta.names.map((name) => ({ name })) },
    profiles: [profile("a"), profile("b")],
  };
}
