import { describe, expect, test } from "vitest";
import type { BootPoint } from "../api/types";
import { domain, placement, spread, ticks } from "./layout";

function boot(block: number, order: number): BootPoint {
  return {
    boot_id: block * 10 + order,
    block,
    order,
    arm_id: 1,
    arm: "off",
    state: "effective",
    counts: true,
    mean: 1,
    iterations: [1],
    warmup: [],
    disturbed: [],
    at: null,
  };
}

test("ticks are round and inside the range", () => {
  const [first, ...rest] = ticks(0.98, 2.03, 5);
  expect(first).toBeCloseTo(1, 9);
  expect(rest).toHaveLength(2);
  expect(rest[1]).toBeCloseTo(2, 9);
  expect(ticks(3, 3, 5)).toEqual([3]);
});

describe("the range of values", () => {
  test("holds all of them with air on both sides", () => {
    expect(domain([10, 20])).toEqual([9, 21]);
  });
  test("is never empty", () => {
    expect(domain([5, 5])).toEqual([4.75, 5.25]);
    expect(domain([0])).toEqual([-1, 1]);
    expect(domain([])).toEqual([0, 1]);
  });
});

test("boots of a block stand in the order they ran in, blocks side by side", () => {
  const points = [boot(1, 2), boot(1, 1), boot(3, 1), boot(3, 2)];
  const place = placement(
    points,
    { left: 0, right: 80, top: 0, bottom: 100 },
    { low: 0, high: 10 },
  );
  expect(place.blocks).toEqual([1, 3]);
  expect(points.map(place.x)).toEqual([30, 10, 50, 70]);
  expect(place.y(0)).toBe(100);
  expect(place.y(10)).toBe(0);
  // What the scale does not reach lies at its edge.
  expect(place.y(1000)).toBe(0);
});

test("labels that would cover each other move apart in their order", () => {
  expect(spread([50, 52, 10], 14, 200)).toEqual([50, 64, 10]);
  expect(spread([98, 99], 14, 100)).toEqual([86, 100]);
});
