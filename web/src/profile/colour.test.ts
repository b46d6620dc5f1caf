import { describe, expect, test } from "vitest";
import { change, EVEN, GREY, LIMITS, reference, shade, shadeOf, STRONGEST } from "./colour";
import { frame, nodeOf, profileOf } from "./example";

describe("a shade is one step for each limit that is reached", () => {
  test.each([
    [0, EVEN],
    [0.09, EVEN],
    [-0.09, EVEN],
    [0.1, EVEN + 1],
    [-0.3, EVEN - 2],
    [2.9, EVEN + 3],
    [10, STRONGEST],
    [1e9, STRONGEST],
    [-1e9, 0],
    [NaN, GREY],
  ])("%f %% of the total", (percent, wanted) => {
    expect(shadeOf(percent, LIMITS.diff)).toBe(wanted);
  });
});

const PROFILE = profileOf({
  name: "all",
  a: 80,
  b: 80,
  children: [
    { name: "sure", a: 10, b: 15, q: 0.01 },
    { name: "chance", a: 5, b: 10, q: 0.2 },
    { name: "unknown", a: 5, b: 10 },
    { name: "fresh", a: 0, b: 1, q: 0.01 },
    { name: "left", a: 0.5, b: 0, q: 0.01 },
  ],
});

function of(name: string, colour: "diff" | "change", greying: boolean) {
  const { tree } = PROFILE;
  return shade(tree, nodeOf(PROFILE, name), reference(tree), { colour, greying });
}

test("without a significant difference a frame is grey", () => {
  expect(of("sure", "diff", true)).toBe(EVEN + 4);
  expect(of("chance", "diff", true)).toBe(GREY);
  expect(of("unknown", "diff", true)).toBe(GREY);
});

test("with greying off every difference has its shade", () => {
  expect(of("chance", "diff", false)).toBe(EVEN + 4);
  expect(of("unknown", "diff", false)).toBe(EVEN + 4);
});

test("the same difference is a larger change of a smaller frame", () => {
  expect(of("sure", "change", false)).toBe(EVEN + 4);
  expect(of("chance", "change", false)).toBe(STRONGEST);
});

test("new and gone have the outermost shades of change, and no percentage", () => {
  expect(of("fresh", "change", true)).toBe(STRONGEST);
  expect(of("left", "change", true)).toBe(0);
  expect(change(0, 5)).toBeNull();
  expect(change(5, 0)).toBe(-100);
});

test("new and gone are shaded by their weight where colour is of the total", () => {
  expect(of("fresh", "diff", true)).toBe(EVEN + 2);
  expect(of("left", "diff", true)).toBe(EVEN - 2);
});

test("an empty a is replaced by b as what differences are set against", () => {
  expect(reference(profileOf(frame("all", 0, 7)).tree)).toBe(7);
});
