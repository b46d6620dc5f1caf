import { describe, expect, test } from "vitest";
import { frame, profileOf } from "./example";
import { drawable, fitted, rowTop } from "./figure";
import {
  changeText,
  differenceText,
  fateOf,
  frameInWords,
  intervalText,
  qText,
  shareText,
} from "./words";

const plain = (text: string) => text.replaceAll("\u202f", " ").replaceAll("\u2212", "-");

describe("a difference is said", () => {
  test("with its sign, its unit and its interval in one scale", () => {
    expect(plain(differenceText(12.3, 10.1, 14.5, "ns/op"))).toBe("+12.30 ns/op (+10.10 … +14.50)");
    expect(plain(differenceText(-1500, -1600, -1400, "ns/op"))).toBe(
      "-1.500 µs/op (-1.600 … -1.400)",
    );
  });

  test("without an interval where none is known", () => {
    expect(plain(differenceText(2, NaN, NaN, "%"))).toBe("+2.000 %");
    expect(intervalText(NaN, 1, { factor: 1, label: "" })).toBe("unknown");
  });

  test("as relative change, or as new, gone or none, never as infinity", () => {
    expect(plain(changeText(100, 104.1))).toBe("+4.1%");
    expect(changeText(0, 5)).toBe("new");
    expect(changeText(5, 0)).toBe("gone");
    expect(changeText(0, 0)).toBe("none");
    expect(changeText(NaN, NaN)).toBe("none");
  });

  test("with q that is small, or not known", () => {
    expect([qText(0.0001), qText(0.04), qText(NaN)]).toEqual(["< 0.001", "0.040", "unknown"]);
  });
});

test("a share of nothing is nothing", () => {
  expect(plain(shareText(0, 0))).toBe("0.0 %");
  expect(plain(shareText(0.5, 100))).toBe("0.50 %");
});

test("a frame in one sentence", () => {
  const { tree, meta } = profileOf(frame("all", 0, 0, frame("x", 0, 5)));
  expect(fateOf(tree, 1)).toBe("new");
  expect(plain(frameInWords(tree, 1, meta.names[1] ?? "", "ns/op", 50))).toBe(
    "x, new, a 0 ns/op, b 5.000 ns/op, difference +5.000 ns/op, 10.0 % of the total, q unknown",
  );
});

describe("a name on the canvas", () => {
  test("cannot turn its direction around or break its line", () => {
    expect(drawable("a\u202eb\nc\u2066d\u0000")).toBe("a·b·c·d·");
  });

  test("is shortened to the letters that fit, and left out when none does", () => {
    expect(fitted("do_syscall_64", 20)).toBe("do_syscall_64");
    expect(fitted("do_syscall_64", 6)).toBe("do_sy…");
    expect(fitted("do_syscall_64", 1)).toBe("");
  });
});

test("the root lies at the bottom of a flame graph and on top of an icicle graph", () => {
  expect(rowTop("flame", 0, 180)).toBe(162);
  expect(rowTop("icicle", 0, 180)).toBe(0);
});
