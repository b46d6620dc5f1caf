import { describe, expect, test } from "vitest";
import { deep, frame, nodeOf, profileOf } from "./example";
import { cut, frameAt, layout, span, walk, wider, type Width } from "./layout";
import type { Profile } from "./decode";

const PROFILE = profileOf(
  frame("all", 0, 0, frame("a", 10, 0, frame("c", 50, 20)), frame("b", 40, 80)),
);

function widthOf(profile: Profile, name: string, basis: Width): number {
  return layout(profile.tree, basis).width[nodeOf(profile, name)] ?? NaN;
}

describe("a frame is as wide as", () => {
  test("the mean of both groups", () => {
    expect(widthOf(PROFILE, "c", "mean")).toBe(35);
    expect(widthOf(PROFILE, "all", "mean")).toBe(100);
  });

  test("either group alone", () => {
    expect(widthOf(PROFILE, "b", "a")).toBe(40);
    expect(widthOf(PROFILE, "b", "b")).toBe(80);
  });

  test("its children together, where they are wider than itself", () => {
    const { tree } = PROFILE;
    const shrunk = { ...tree, a: tree.a.map((v, i) => (i === 0 ? 1 : v)) };
    expect(layout(shrunk, "a").width[0]).toBe(100);
  });

  test("nothing, where its cost is not a number or negative", () => {
    const { tree } = PROFILE;
    const at = nodeOf(PROFILE, "b");
    for (const wrong of [NaN, -5]) {
      const broken = { ...tree, a: tree.a.map((v, i) => (i === at ? wrong : v)) };
      expect(layout(broken, "a").width[at]).toBe(0);
    }
  });
});

test("no frame reaches beyond its parent, in any basis", () => {
  const { tree } = PROFILE;
  for (const basis of ["mean", "a", "b"] as const) {
    const { x, width } = layout(tree, basis);
    for (let i = 1; i < tree.parent.length; i++) {
      const above = tree.parent[i] ?? 0;
      const right = (x[i] ?? 0) + (width[i] ?? 0);
      expect(x[i]).toBeGreaterThanOrEqual(x[above] ?? 0);
      expect(right).toBeLessThanOrEqual((x[above] ?? 0) + (width[above] ?? 0) + 1e-9);
    }
  }
});

test("children lie side by side in the order of their names", () => {
  const { x } = layout(PROFILE.tree, "mean");
  expect(x[nodeOf(PROFILE, "a")]).toBe(0);
  expect(x[nodeOf(PROFILE, "b")]).toBe(40);
});

test("500 frames deep, the last has the width of the first", () => {
  const { width, deepest, depth } = layout(profileOf(deep(500)).tree, "mean");
  expect(deepest).toBe(500);
  expect(depth[500]).toBe(500);
  expect(width[500]).toBe(width[0]);
});

describe("what is drawn", () => {
  const at = layout(PROFILE.tree, "mean");
  const draw = (name: string, pixels: number) =>
    cut(PROFILE.tree, at, nodeOf(PROFILE, name), pixels);

  test("is everything that is wide enough, each caller once", () => {
    expect(draw("all", 100).nodes).toEqual([0, 1, 2, 3]);
    expect(draw("all", 100).above).toEqual([]);
    expect(draw("c", 100).above).toEqual([0, 1]);
  });

  test("leaves out what is narrower than half a pixel, with all in it", () => {
    expect(draw("all", 1.2).nodes).toEqual([0, 3]);
  });

  test("spreads the zoomed frame and its callers over the full width", () => {
    const zoomed = draw("a", 200);
    expect(span(at, zoomed, 0)).toEqual({ left: 0, wide: 200 });
    expect(span(at, zoomed, 1)).toEqual({ left: 0, wide: 200 });
    expect(span(at, zoomed, 2)).toEqual({ left: 0, wide: 175 });
  });

  test("counts the rows that it needs", () => {
    expect(draw("b", 100).rows).toBe(2);
    expect(draw("all", 100).rows).toBe(3);
  });

  test("of an empty profile is its root alone", () => {
    const { tree } = profileOf(frame("all", 0, 0, frame("x", 0, 0)));
    const empty = cut(tree, layout(tree, "mean"), 0, 100);
    expect(empty.nodes).toEqual([0]);
    expect(span(layout(tree, "mean"), empty, 0)).toEqual({ left: 0, wide: 100 });
  });
});

describe("the frame under the pointer", () => {
  const at = layout(PROFILE.tree, "mean");
  const whole = cut(PROFILE.tree, at, 0, 100);

  test.each([
    [0, 99, "all"],
    [1, 39, "a"],
    [1, 41, "b"],
    [2, 34, "c"],
  ])("in row %i at %i is %s", (row, left, name) => {
    expect(frameAt(at, whole, row, left)).toBe(nodeOf(PROFILE, name));
  });

  test("is none beside and above the frames", () => {
    expect(frameAt(at, whole, 2, 38)).toBeNull();
    expect(frameAt(at, whole, 9, 5)).toBeNull();
  });

  test("is a caller in the rows of the callers", () => {
    const zoomed = cut(PROFILE.tree, at, nodeOf(PROFILE, "c"), 100);
    expect(frameAt(at, zoomed, 1, 99)).toBe(nodeOf(PROFILE, "a"));
  });
});

describe("arrow keys lead", () => {
  const at = layout(PROFILE.tree, "mean");
  const go = (name: string, step: Parameters<typeof walk>[3]) =>
    walk(PROFILE.tree, at, nodeOf(PROFILE, name), step);

  test("to the caller, and stay at the root", () => {
    expect(go("c", "caller")).toBe(nodeOf(PROFILE, "a"));
    expect(go("all", "caller")).toBe(0);
  });

  test("to the widest callee, and stay where there is none", () => {
    expect(go("all", "callee")).toBe(nodeOf(PROFILE, "b"));
    expect(go("b", "callee")).toBe(nodeOf(PROFILE, "b"));
  });

  test("to the frames beside, and stay at the ends", () => {
    expect(go("a", "right")).toBe(nodeOf(PROFILE, "b"));
    expect(go("b", "left")).toBe(nodeOf(PROFILE, "a"));
    expect(go("a", "left")).toBe(nodeOf(PROFILE, "a"));
    expect(go("b", "right")).toBe(nodeOf(PROFILE, "b"));
    expect(go("all", "left")).toBe(0);
  });
});

test("zooming out skips callers that are as wide as the frame", () => {
  const { tree } = profileOf(
    frame("all", 0, 0, frame("x", 0, 0, frame("y", 0, 0, frame("z", 5, 5))), frame("w", 5, 5)),
  );
  const at = layout(tree, "mean");
  expect(wider(tree, at, 4)).toBe(0);
  expect(wider(tree, at, 0)).toBe(0);
});
