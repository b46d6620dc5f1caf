/** The viewer as the page has it: its graph with controls, inspector, legend and exports. */

import { useState } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { reference } from "../../src/profile/colour";
import { decode, type Profile } from "../../src/profile/decode";
import { figure as figureOf, type Scene } from "../../src/profile/figure";
import { GraphTab } from "../../src/profile/graph-tab";
import { readPalette } from "../../src/profile/palette";
import "../../src/profile/profile.css";
import { Stage } from "../../src/profile/stage";
import { changed, viewState, WHOLE, type Changes } from "../../src/profile/state";
import type { Times } from "./times";
import { bytesOf, type Frames } from "./tree";

let typeInto: (text: string) => void = () => undefined;

function Harness({ profile }: { profile: Profile }) {
  const [query, setQuery] = useState(() => new URLSearchParams({ zoom: WHOLE }));
  const [text, setText] = useState("");
  typeInto = setText;
  const change = (changes: Changes) => {
    setQuery((before) => changed(before, changes));
  };
  const state = viewState(query);
  return (
    <GraphTab {...{ profile, state, text, change }} address={() => "?"} instructions={() => null} />
  );
}

/** Time until the pixels are there: reading one makes the browser finish them. */
function timed(root: HTMLElement, work: () => void): number {
  const start = performance.now();
  flushSync(work);
  const canvas = root.querySelector("canvas");
  canvas?.getContext("2d")?.getImageData(0, 0, 1, 1);
  return performance.now() - start;
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 60));

function element(tag: "div" | "canvas", className = ""): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  return made;
}

/** The graph alone, which is all that a library of flame graphs has. */
function bareGraph(root: HTMLElement, profile: Profile): number {
  const [box, tall, hovered, chosen] = [
    element("div", "flame"),
    element("div", "flame-tall"),
    element("div", "ring"),
    element("div", "ring"),
  ];
  const canvas = document.createElement("canvas");
  const { tree, meta } = profile;
  const first = timed(root, () => {
    tall.append(canvas, hovered, chosen);
    box.append(tall);
    root.append(box);
    const figure = figureOf(tree, meta.names, "mean", reference(tree));
    const scene: Scene = {
      ...{ figure, view: "flame", palette: readPalette(), matching: null },
      look: { colour: "diff", greying: true },
    };
    new Stage({ box, tall, canvas, hovered, chosen }).show(scene, 0);
  });
  box.remove();
  return first;
}

const ROUNDS = 4;

export async function ours(root: HTMLElement, frames: Frames): Promise<Times> {
  const bytes = bytesOf(frames);
  await pause();
  const start = performance.now();
  const profile = decode(bytes);
  const times: Times = {
    decode: performance.now() - start,
    first: 0,
    page: 0,
    zoom: [],
    search: [],
  };
  await pause();
  times.first = bareGraph(root, profile);
  await pause();
  const app = createRoot(root);
  times.page = timed(root, () => {
    app.render(<Harness profile={profile} />);
  });
  await pause();
  const box = root.querySelector<HTMLElement>(".flame");
  if (box === null) throw new Error("no graph was drawn");
  const press = (key: string) => {
    box.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  };
  for (let round = 0; round < ROUNDS; round++) {
    for (let step = 0; step < 6 + round; step++) {
      flushSync(() => {
        press("ArrowUp");
      });
      await pause();
    }
    for (const key of ["Enter", "Home"]) {
      times.zoom.push(
        timed(root, () => {
          press(key);
        }),
      );
      await pause();
    }
  }
  for (const text of ["kvm_7", "vhost", "net_1"]) {
    times.search.push(
      timed(root, () => {
        typeInto(text);
      }),
    );
    await pause();
  }
  return times;
}
