/** d3-flame-graph as it is fastest: no transition, no frame narrower than ours draws. */

import flamegraph, { type Node } from "d3-flame-graph";
// Its package does not export the style sheet.
import "../../node_modules/d3-flame-graph/dist/d3-flamegraph.css";
import { select } from "d3-selection";
import type { Times } from "./times";
import { nestedOf, type Frames } from "./tree";

/** Time until the elements are laid out; painting them is not counted. */
function timed(root: HTMLElement, work: () => void): number {
  const start = performance.now();
  work();
  root.getBoundingClientRect();
  return performance.now() - start;
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 300));

function inner(root: Node, steps: number): Node {
  let at = root;
  for (let step = 0; step < steps && at.children; step++) {
    at = at.children.reduce((most, child) =>
      (child.value ?? 0) > (most.value ?? 0) ? child : most,
    );
  }
  return at;
}

export async function d3(root: HTMLElement, frames: Frames): Promise<Times> {
  const nested = nestedOf(frames);
  const chart = flamegraph()
    .width(root.clientWidth)
    .cellHeight(18)
    .transitionDuration(0)
    .minFrameSize(0.5)
    .sort(true);
  const place = select<HTMLElement, unknown>(root).datum<unknown>(nested);
  await pause();
  const first = timed(root, () => {
    place.call(chart);
  });
  await pause();
  const times: Times = { decode: 0, first, page: NaN, zoom: [], search: [] };
  const top = place.datum() as Node;
  for (let round = 0; round < 4; round++) {
    for (const node of [inner(top, 6 + round), top]) {
      times.zoom.push(
        timed(root, () => {
          chart.zoomTo(node);
        }),
      );
      await pause();
    }
  }
  for (const text of ["kvm_7", "vhost", "net_1"]) {
    times.search.push(
      timed(root, () => {
        chart.search(text);
      }),
    );
    await pause();
  }
  return times;
}
