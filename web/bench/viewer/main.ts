import "../../src/styles/tokens.css";
import "../../src/styles/base.css";
import "../../src/styles/frame.css";
import "../../src/styles/controls.css";
import { d3 } from "./d3";
import { ours } from "./ours";
import type { Times } from "./times";
import { frames } from "./tree";

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
