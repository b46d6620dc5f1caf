import { describe, expect, test } from "vitest";
import { decode, PayloadError } from "./decode";
import { deep, encode, frame, META, namesInOrder, nodeOf, payload, profileOf } from "./example";

const TREE = frame("all", 0, 0, frame("b", 1, 2), frame("a", 3, 4, frame("c", 5, 6)));

function bytes(change: (head: DataView) => void): ArrayBuffer {
  const buffer = payload(TREE);
  change(new DataView(buffer));
  return buffer;
}

const NONE: number[] = [];
const FUNCTIONS = Object.fromEntries(
  [
    ...["f_symbol", "f_self_a", "f_self_b", "f_total_a", "f_total_b"],
    ...["fs_low", "fs_high", "fs_q", "ft_low", "ft_high", "ft_q"],
  ].map((name) => [name, NONE]),
);

function columns(parent: number[], symbol: number[]) {
  const zero = parent.map(() => 0);
  return {
    ...{ parent, symbol, a: zero, b: zero, low: zero, high: zero, q: zero, flags: zero },
    ...FUNCTIONS,
  };
}

describe("a sound answer", () => {
  test("gives its description, its frames and its functions", () => {
    const { meta, tree, functions } = profileOf(TREE);
    expect(meta.title).toBe("syscall basic");
    expect(tree.parent.length).toBe(4);
    expect(tree.a[0]).toBe(9);
    expect(functions.symbol.length).toBe(4);
  });

  test("has its siblings in the order of their names, whatever order they came in", () => {
    expect(namesInOrder(profileOf(TREE))).toEqual(["all", "a", "c", "b"]);
  });

  test("keeps each frame's figures when frames are put in order", () => {
    const profile = profileOf(TREE);
    expect(profile.tree.b[nodeOf(profile, "a")]).toBe(10);
    expect(profile.tree.b[nodeOf(profile, "b")]).toBe(2);
    expect(profile.tree.parent[nodeOf(profile, "c")]).toBe(nodeOf(profile, "a"));
  });

  test("puts a subtree that is scattered into one run", () => {
    const scattered = encode(
      { ...META, names: ["all", "x", "y", "z"] },
      columns([-1, 0, 0, 1], [0, 1, 2, 3]),
    );
    expect(namesInOrder(decode(scattered))).toEqual(["all", "x", "z", "y"]);
  });

  test("may have one node", () => {
    expect(profileOf(frame("all", 1, 1)).tree.parent.length).toBe(1);
  });

  test("may be 500 frames deep", () => {
    expect(profileOf(deep(500)).tree.parent.length).toBe(501);
  });

  test("keeps unknown figures unknown", () => {
    expect(profileOf(frame("all", 1, 1)).tree.q[0]).toBeNaN();
  });

  test("is read at any alignment of its description", () => {
    for (const title of ["", "1", "12", "123", "1234", "Füße"]) {
      expect(profileOf(TREE, { title }).meta.title).toBe(title);
    }
  });
});

describe("an answer that is not one says why", () => {
  test.each([
    ["empty", new ArrayBuffer(0), /ends before its head/],
    [
      "of another kind",
      bytes((head) => {
        head.setUint8(0, 0x7b);
      }),
      /does not begin with MGPD/,
    ],
    [
      "of a later version",
      bytes((head) => {
        head.setUint32(4, 2, true);
      }),
      /version is 2/,
    ],
    ["cut within its description", payload(TREE).slice(0, 200), /ends within its description/],
    ["cut within a column", payload(TREE).slice(0, -60), /ends within its column/],
    ["without names", encode({}, {}), /no list of names/],
    ["without columns", encode({ names: [] }, {}), /no column parent/],
    ["without a root", encode({ names: [] }, columns([], [])), /no root/],
    ["begun by another frame", encode({ names: ["x"] }, columns([0], [0])), /not the root/],
    [
      "with a child before its parent",
      encode({ names: ["x"] }, columns([-1, 2, 0], [0, 0, 0])),
      /Frame 1/,
    ],
    ["with two roots", encode({ names: ["x"] }, columns([-1, -1], [0, 0])), /Frame 1/],
    ["with a name that is not there", encode({ names: ["x"] }, columns([-1], [7])), /no name 7/],
    [
      "with columns of several lengths",
      encode({ names: ["x"] }, { ...columns([-1], [0]), q: [1, 2] }),
      /differ in length/,
    ],
  ])("%s", (_, buffer, why) => {
    expect(() => decode(buffer)).toThrow(PayloadError);
    expect(() => decode(buffer)).toThrow(why);
  });

  test("with a description that is not JSON", () => {
    const buffer = bytes((head) => {
      head.setUint8(16, 0x21);
    });
    expect(() => decode(buffer)).toThrow(/not JSON/);
  });

  test("with a column of another type", () => {
    const buffer = encode({ names: ["x"] }, columns([-1], [0]));
    const text = new TextDecoder("latin1")
      .decode(buffer)
      .replace('"type":"int32"', '"type":"uint8"');
    expect(() => decode(Uint8Array.from(text, (c) => c.charCodeAt(0)).buffer)).toThrow(
      /not of type int32/,
    );
  });
});
