declare module "d3-flame-graph" {
  import type { Selection } from "d3-selection";

  /** What the chart makes of a nested frame. */
  export interface Node {
    value?: number;
    children?: Node[];
  }
  export interface FlameGraph {
    (selection: Selection<HTMLElement, unknown, null, undefined>): void;
    width(pixels: number): this;
    cellHeight(pixels: number): this;
    transitionDuration(milliseconds: number): this;
    minFrameSize(pixels: number): this;
    sort(on: boolean): this;
    zoomTo(node: Node): void;
    search(term: string): void;
  }
  export default function flamegraph(): FlameGraph;
}
