import { expect, test } from "vitest";
import { frame, profileOf, type Frame } from "./example";
import { layout } from "./layout";
import { sandwich } from "./sandwich";
import { GONE, NEW, type Tree } from "./tree";

function halves(root: Frame, name: string) {
  const { meta, tree } = profileOf(root);
  const made = sandwich(tree, layout(tree, "mean").end, meta.names, meta.names.indexOf(name));
  if (made === null) throw new Error(`no ${name}`);
  const lines = (half: Tree) =>
    [...half.symbol].map((symbol, node) => {
      const above = half.symbol[half.parent[node] ?? -1];
      const from = above === undefined ? "" : `${meta.names[above] ?? ""} > `;
      return `${from}${meta.names[symbol] ?? ""} ${half.a[node] ?? NaN} ${half.b[node] ?? NaN}`;
    });
  return { ...made, up: lines(made.callers), down: lines(made.callees) };
}

const TWICE = frame(
  "all",
  0,
  0,
  frame("p", 1, 1, frame("f", 2, 3, frame("leaf", 4, 4))),
  frame("q", 1, 1, frame("f", 5, 6, frame("leaf", 1, 0))),
);

test("calls from several places are put together", () => {
  const { up, down, frames } = halves(TWICE, "f");
  expect(frames).toBe(2);
  expect(up).toEqual(["f 12 13", "f > p 6 7", "f > q 6 6"]);
  expect(down).toEqual(["f 12 13", "f > leaf 5 4"]);
});

test("a function that calls itself is counted once", () => {
  const { up, down } = halves(frame("all", 0, 0, frame("f", 1, 1, frame("f", 2, 2))), "f");
  expect(up).toEqual(["f 3 3"]);
  expect(down).toEqual(["f 3 3", "f > f 2 2"]);
});

test("recursion through another function is counted once as well", () => {
  const loop = frame("all", 0, 0, frame("f", 1, 1, frame("g", 1, 1, frame("f", 2, 2))));
  expect(halves(loop, "f").up).toEqual(["f 4 4"]);
  expect(halves(loop, "g").up).toEqual(["g 3 3", "g > f 3 3"]);
});

test("a thread has no callers: the root calls nothing", () => {
  expect(halves(TWICE, "p").up).toEqual(["p 7 8"]);
});

test("what is only on one side is new or gone", () => {
  const tree = frame("all", 0, 0, frame("f", 0, 0, frame("n", 0, 1), frame("o", 1, 0)));
  expect([...halves(tree, "f").callees.flags]).toEqual([0, NEW, GONE]);
});

test("frames put together have no interval and no q", () => {
  const { callees } = halves(TWICE, "f");
  expect(callees.q[1]).toBeNaN();
  expect(callees.low[0]).toBeNaN();
});

test("a function that no frame bears has no sandwich", () => {
  const { meta, tree } = profileOf(TWICE);
  expect(sandwich(tree, layout(tree, "mean").end, [...meta.names, "no"], 99)).toBeNull();
});
