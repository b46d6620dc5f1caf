import { expect, test } from "vitest";
import { payload, type Frame } from "../../tests/profile-payload";
import { deepTree, needleTree, syscallTree } from "../../tests/profile-tree";
import { decode } from "./decode";
import { differingFunctions, differingPart, ENOUGH, partOf } from "./difference";
import { layout } from "./layout";

function opened(root: Frame) {
  const { tree, meta, functions } = decode(payload(root));
  const { end } = layout(tree, "mean");
  const name = (node: number) => meta.names[tree.symbol[node] ?? 0];
  const part = differingPart(tree, end);
  const of = (fn: string) => {
    const found = partOf(tree, end, meta.names.indexOf(fn));
    return found && [name(found.zoom), name(found.most)];
  };
  return { name, part, of, functions, meta };
}

/** A frame that differs by itself. */
function differing(name: string, by: number): Frame {
  return { name, a: 10, b: 10 + by, q: 0.01 };
}

test("the part that opens holds nearly all of what differs, and no smaller one does", () => {
  const { name, part } = opened(syscallTree());
  expect(name(part?.zoom ?? -1)).toBe("entry_SYSCALL_64_after_hwframe");
  expect(part?.share).toBeGreaterThanOrEqual(ENOUGH);
  // One of five lies in kworker.
  expect([part?.inside, part?.all]).toEqual([4, 5]);
  expect(name(part?.most ?? -1)).toBe("clear_bhb_loop");
});

test("a single frame that differs is shown within its caller", () => {
  const { name, part } = opened({
    ...{ name: "all", q: 0.01 },
    children: [
      { name: "outer", q: 0.01, children: [differing("grown", 5), { name: "same", a: 9, b: 9 }] },
      { name: "other", a: 50, b: 50, q: 0.9 },
    ],
  });
  expect(name(part?.zoom ?? -1)).toBe("outer");
  expect([part?.share, part?.inside, part?.all]).toEqual([1, 1, 1]);
});

test("differences in parts of equal size are held by the whole alone", () => {
  const { part } = opened({
    name: "all",
    children: [
      { name: "left", children: [differing("grown", 5)] },
      { name: "right", children: [differing("shrunk", -5)] },
    ],
  });
  expect(part?.zoom).toBe(0);
});

test("callers are significant for no more than what they call", () => {
  const { part } = opened(deepTree(40));
  expect(part?.all).toBe(1);
  expect(part?.zoom).toBe(39);
});

test("without a significant frame there is no part", () => {
  expect(opened(needleTree(5)).part).toBeNull();
  expect(opened({ name: "all" }).part).toBeNull();
});

test("a function is found in all of its places, or within its caller", () => {
  const { of } = opened(syscallTree());
  expect(of("clear_bhb_loop")).toEqual(["entry_SYSCALL_64_after_hwframe", "clear_bhb_loop"]);
  expect(of("syscall")).toEqual(["syscall", "syscall"]);
  // In do_syscall_64 and, once more, in the do_syscall_64 within it.
  expect(of("__rcu_read_lock")).toEqual(["do_syscall_64", "__rcu_read_lock"]);
  expect(of("nowhere")).toBeNull();
});

test("functions that differ by themselves come with the largest difference first", () => {
  const { functions, meta } = opened(syscallTree());
  const names = differingFunctions(functions).map((row) => meta.names[functions.symbol[row] ?? 0]);
  expect(names.slice(0, 3)).toEqual(["clear_bhb_loop", "x64_sys_call", "amd_clear_divider"]);
  expect(names).not.toContain("__rcu_read_lock");
  expect(names).not.toContain("entry_SYSCALL_64_after_hwframe");
});
