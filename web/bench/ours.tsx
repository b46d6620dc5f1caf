/** The viewer as the page has it: its graph with controls, inspector, legend and exports. */

import { useState } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { decode, type Profile } from "../src/profile/decode";
import { GraphTab } from "../src/profile/graph-tab";
import "../src/profile/profile.css";
import { changed, viewState, type Changes } from "../src/profile/state";
import type { Times } from "./main";
import { bytesOf, type Frames } from "./tree";

let typeInto: (text: string) => void = () => undefined;

function Harness({ profile }: { profile: Profile }) {
  const [query, setQuery] = useState(() => new URLSearchParams());
  const [text, setText] = useState("");
  typeInto = setText;
  const change = (changes: Changes) => {
    setQuery((before) => changed(before, changes));
  };
  const state = viewState(query);
  return <GraphTab {...{ profile, state, text, change }} address={() => "?"} />;
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

export async function ours(root: HTMLElement, frames: Frames): Promise<Times> {
  const bytes = bytesOf(frames);
  const app = createRoot(root);
  await pause();
  const first = timed(root, () => {
    app.render(<Harness profile={decode(bytes)} />);
  });
  await pause();
  const box = root.querySelector<HTMLElement>(".flame");
  if (box === null) throw new Error("no graph was drawn");
  const press = (key: string) => {
    box.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  };
  const times: Times = { first, zoom: [], search: [], drawn: 0 };
  for (let round = 0; round < 4; round++) {
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
  for (const text of ["kvm_7", "vhost", "net_1", ""]) {
    times.search.push(
      timed(root, () => {
        typeInto(text);
      }),
    );
    await pause();
  }
  return times;
}
