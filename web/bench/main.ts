import "../src/styles/tokens.css";
import "../src/styles/base.css";
import "../src/styles/frame.css";
import "../src/styles/controls.css";
import { d3 } from "./d3";
import { ours } from "./ours";
import { frames } from "./tree";

/** Milliseconds of one page's life: the first painting is of a cold page. */
export interface Times {
  first: number;
  zoom: number[];
  search: number[];
  /** Frames or elements that were drawn first. */
  drawn: number;
}

declare global {
  interface Window {
    bench: (viewer: "ours" | "d3", count: number) => Promise<Times>;
  }
}

window.bench = async (viewer, count) => {
  const root = document.getElementById("root");
  if (root === null) throw new Error("index.html has no root");
  await document.fonts.ready;
  return viewer === "ours" ? ours(root, frames(count)) : d3(root, frames(count));
};
