import { expect, test } from "vitest";
import { deep, frame, nodeOf, profileOf } from "./example";
import { findPath, pathId } from "./path";

const FULL = frame(
  "all",
  0,
  0,
  frame("a", 1, 1, frame("f", 1, 1)),
  frame("b", 1, 1, frame("f", 1, 1)),
);

function find(profile: ReturnType<typeof profileOf>, id: string) {
  return findPath(profile.tree, profile.meta.names, id);
}

function idOf(profile: ReturnType<typeof profileOf>, node: number) {
  return pathId(profile.tree, profile.meta.names, node);
}

test("every frame has an id of its own and is found by it", () => {
  const profile = profileOf(FULL);
  const ids = [...profile.tree.parent.keys()].map((node) => idOf(profile, node));
  expect(new Set(ids).size).toBe(5);
  const fresh = profileOf(FULL);
  expect(ids.map((id) => find(fresh, id))).toEqual([0, 1, 2, 3, 4]);
});

test("a frame keeps its id when others come and go", () => {
  const full = profileOf(FULL);
  const less = profileOf(frame("all", 0, 0, frame("b", 9, 9, frame("f", 2, 2), frame("0", 1, 1))));
  const id = idOf(full, 4);
  expect(find(less, id)).toBe(nodeOf(less, "f"));
});

test("an id that this tree does not have finds nothing", () => {
  const profile = profileOf(FULL);
  expect(find(profile, "0123456789abcdef")).toBeNull();
  expect(find(profile, "")).toBeNull();
  expect(find(profile, "<script>")).toBeNull();
});

test("a frame 500 deep has an id as short as any", () => {
  const id = idOf(profileOf(deep(500)), 500);
  expect(id).toHaveLength(16);
  expect(find(profileOf(deep(500)), id)).toBe(500);
});
