import { describe, expect, test } from "vitest";
import { deep, frame, profileOf } from "../example";
import { figure, type Scene } from "../figure";
import { cut } from "../layout";
import type { Palette } from "../palette";
import { fileName } from "../../picture/file";
import { decimal, folded, stackTable } from "./folded";
import { speedscope } from "./speedscope";
import { escaped } from "../../picture/escape";
import { svg } from "./svg";

const HOSTILE = `<script>alert("1")</script>&'`;
const PROFILE = profileOf(
  frame("all", 0, 0, frame("cpu", 1, 0, frame("f;g\n", 2.5, 4)), frame(HOSTILE, 0, 1e-7)),
);
const { meta, tree } = PROFILE;

const PALETTE: Palette = {
  fill: Array.from({ length: 12 }, (_, i) => `rgb(${i} 0 0)`),
  ...{ ground: "white", ink: "black", faint: "grey", hatch: "grey", match: "teal", font: "mono" },
};

function sceneOf(profile: typeof PROFILE, matching: Uint8Array | null = null): Scene {
  return {
    figure: figure(profile.tree, profile.meta.names, "mean", 3.5),
    look: { colour: "diff", greying: false },
    ...{ view: "flame", palette: PALETTE, matching },
  };
}

function drawing(scene: Scene): string {
  const whole = cut(scene.figure.tree, scene.figure.layout, 0, 800);
  return svg(scene, whole, [HOSTILE, "colours"], "ns/op");
}

test("the table of stacks has both costs as numbers, with their unit", () => {
  expect(stackTable(tree, meta)).toEqual({
    columns: ["stack", `A: ${meta.a.label} (${meta.unit})`, `B: ${meta.b.label} (${meta.unit})`],
    rows: [
      [HOSTILE, 0, 1e-7],
      ["cpu", 1, 0],
      ["cpu;f:g", 2.5, 4],
    ],
  });
});

describe("folded stacks", () => {
  test("have both costs of each frame without its children, as difffolded writes", () => {
    expect(folded(tree, meta.names, ["a", "b"])).toEqual([
      `${HOSTILE} 0 0.0000001\n`,
      "cpu 1 0\n",
      "cpu;f:g 2.5 4\n",
    ]);
  });

  test("of one side leave out what that side does not have", () => {
    expect(folded(tree, meta.names, ["a"])).toEqual(["cpu 1\n", "cpu;f:g 2.5\n"]);
  });

  test("keep what is in no stack", () => {
    const { meta: m, tree: t } = profileOf(frame("all", 3, 0, frame("x", 1, 1)));
    expect(folded(t, m.names, ["a", "b"])[0]).toBe("[not in any stack] 3 0\n");
  });

  test("never take the rounding of 32 bits for cost", () => {
    const rounded = profileOf(frame("all", 0, 0, frame("x", 0.1, 0.1), frame("y", 0.2, 0.2)));
    expect(folded(rounded.tree, rounded.meta.names, ["a"])).toHaveLength(2);
  });

  test("hold 500 frames in a line", () => {
    const { meta: m, tree: t } = profileOf(deep(500));
    const lines = folded(t, m.names, ["a", "b"]);
    expect(lines).toHaveLength(1);
    expect(lines[0]?.split(";")).toHaveLength(500);
  });

  test.each([
    [1e-7, "0.0000001"],
    [1e-12, "0"],
    [1.5e9, "1500000000"],
    [100, "100"],
    [0.25, "0.25"],
  ])("write %f as %s: their readers know no exponents", (value, text) => {
    expect(decimal(value)).toBe(text);
  });
});

describe("a speedscope file", () => {
  const file = speedscope(meta, tree);

  test("has both groups as profiles over the same frames", () => {
    expect(file.$schema).toBe("https://www.speedscope.app/file-format-schema.json");
    expect(file.profiles.map((p) => p.name)).toEqual(["A: off (ns/op)", "B: bhb-clear (ns/op)"]);
    expect(file.shared.frames.map((f) => f.name)).toEqual(meta.names);
    expect(file.profiles[0]?.unit).toBe("nanoseconds");
  });

  test("closes every frame that it opens, the inner ones first", () => {
    for (const { events } of file.profiles) {
      const open: number[] = [];
      for (const { type, frame: at } of events) {
        if (type === "O") open.push(at);
        else expect(open.pop()).toBe(at);
      }
      expect(open).toEqual([]);
    }
  });

  test("never steps back, and ends at the total", () => {
    for (const [i, { events, endValue }] of file.profiles.entries()) {
      const at = events.map((event) => event.at);
      expect(at).toEqual(at.toSorted((x, y) => x - y));
      expect(endValue).toBeCloseTo(i === 0 ? 3.5 : 4);
    }
  });

  test("leaves out frames that a group does not have", () => {
    const [a] = file.profiles;
    expect(a?.events.some((event) => meta.names[event.frame] === HOSTILE)).toBe(false);
  });

  test("of an empty profile has no events", () => {
    const empty = profileOf(frame("all", 0, 0));
    expect(speedscope(empty.meta, empty.tree).profiles[0]?.events).toEqual([]);
  });
});

describe("an SVG", () => {
  test("shows markup in names as text", () => {
    const text = drawing(sceneOf(profileOf(frame("all", 0, 0, frame(HOSTILE, 1, 1)))));
    expect(text).not.toContain("<script");
    expect(text).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;");
  });

  test("has a rectangle and a title for every frame drawn", () => {
    const text = drawing(sceneOf(profileOf(deep(20))));
    expect(text.match(/<g/g)).toHaveLength(21);
    expect(text.match(/<title>/g)).toHaveLength(22);
  });

  test("hatches what is new or gone", () => {
    const text = drawing(
      sceneOf(profileOf(frame("all", 0, 0, frame("n", 0, 5), frame("g", 5, 0)))),
    );
    expect(text).toContain('fill="url(#new)"');
    expect(text).toContain('fill="url(#gone)"');
    expect(text).toContain("new: n");
  });

  test("fades what the search does not match", () => {
    const profile = profileOf(frame("all", 0, 0, frame("x", 1, 1)));
    const matching = Uint8Array.from(profile.meta.names, (name) => Number(name === "x"));
    expect(drawing(sceneOf(profile, matching)).match(/opacity/g)).toHaveLength(1);
  });

  test("has nothing that XML forbids", () => {
    expect(escaped("a\u0000b\u001bc\ud800d\uffff")).toBe("a\ufffdb\ufffdc\ufffdd\ufffd");
    expect(escaped("tab\tand line\n")).toBe("tab\tand line\n");
    expect(escaped("\ud83d\ude00")).toBe("\ud83d\ude00");
  });
});

const wordsOf = (of: typeof meta) => [of.title, of.a.label, "vs", of.b.label, of.basis];

describe("a file is called", () => {
  test("by case, groups and basis", () => {
    expect(fileName(wordsOf(meta), "svg")).toBe(
      "mitigauge-syscall-basic-off-vs-bhb-clear-operation.svg",
    );
  });

  test("without anything that a path could be made of", () => {
    const named = { ...meta, title: "../../etc/passwd", a: { ...meta.a, label: "<b>\u202e" } };
    expect(fileName(wordsOf(named), "png")).toMatch(/^[a-z0-9-]+\.png$/);
  });

  test("not longer than file systems take", () => {
    const named = { ...meta, title: "x".repeat(5000), a: { ...meta.a, label: "y".repeat(5000) } };
    expect(fileName(wordsOf(named), "svg").length).toBeLessThan(255);
  });
});
