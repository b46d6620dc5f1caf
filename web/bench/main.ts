import "../src/styles/tokens.css";
import "../src/styles/base.css";
import "../src/styles/frame.css";
import "../src/styles/controls.css";
import { d3 } from "./d3";
import { ours } from "./ours";
import { frames } from "./tree";

/** Milliseconds of one page's life: the first painting is of a cold page. */
export interface Times {
  /** From bytes to frames in order; d3-flame-graph is given its objects ready. */
  decode: number;
  /** The graph alone, from frames in memory. */
  first: number;
  /** The graph with all that the page has around it. */
  page: number;
  zoom: number[];
  search: number[];
}

declare global {
  interface Window {
    bench: (viewer: "ours" | "d3", count: number) => Promise<Times>;
  }
}

window.bench = async (viewer, count) => {
  const root = document.getElementById("root");
  if (root === null) throw new Error("index.html has no root");
  // As on the real page, which has shown text before there is anything to draw.
  await document.fonts.load("12px 'Plex Mono'");
  await document.fonts.ready;
  await new Promise(requestAnimationFrame);
  return viewer === "ours" ? ours(root, frames(count)) : d3(root, frames(count));
};
