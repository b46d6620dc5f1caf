import { expect, test } from "vitest";
import { drawing, HEIGHT, WIDTH } from "./layout";

const point = (day: number, value: number, half: number | null = null) => ({
  at: `2026-11-${String(day).padStart(2, "0")}T00:00:00Z`,
  value,
  low: half === null ? null : value - half,
  high: half === null ? null : value + half,
});

const picture = { id: "p", title: "t", unit: "%", zero: true, changed_at: null };

test("later values lie further right, and larger ones higher, whatever order they come in", () => {
  const { dots } = drawing({ ...picture, points: [point(9, 4), point(2, 1), point(5, 2)] });
  expect(dots.map((dot) => dot.value)).toEqual([1, 2, 4]);
  expect(dots.map((dot) => dot.x)).toEqual([...dots.map((dot) => dot.x)].sort((a, b) => a - b));
  expect(dots[0]?.y).toBeGreaterThan(dots[2]?.y ?? 0);
});

test("an interval that is far too long is cut at the picture's edge", () => {
  const { dots } = drawing({ ...picture, points: [point(2, 1, 1000), point(3, 2, 0.1)] });
  for (const dot of dots) {
    const [top, bottom] = dot.range ?? [0, 0];
    expect(top).toBeGreaterThanOrEqual(0);
    expect(bottom).toBeLessThanOrEqual(HEIGHT);
    expect(dot.x).toBeLessThanOrEqual(WIDTH);
  }
});

test("a change lies between the values before and after it", () => {
  const of = {
    ...picture,
    zero: false,
    points: [point(2, 1), point(4, 1), point(6, 2)],
    changed_at: "2026-11-06T00:00:00Z",
  };
  const { dots, change, zero } = drawing(of);
  expect(zero).toBeNull();
  expect(change).toBeGreaterThan(dots[1]?.x ?? 0);
  expect(change).toBeLessThan(dots[2]?.x ?? 0);
});

test("equal values are a level line within the picture", () => {
  const { dots } = drawing({ ...picture, zero: false, points: [point(2, 7), point(3, 7)] });
  expect(dots[0]?.y).toBe(dots[1]?.y);
  expect(dots[0]?.y).toBeGreaterThan(0);
  expect(dots[0]?.y).toBeLessThan(HEIGHT);
});

test("one wild value stands at the edge, and the others keep their heights", () => {
  const values = [1, 2, 1.5, 900, 1, 2];
  const { dots } = drawing({ ...picture, points: values.map((value, at) => point(at + 1, value)) });
  expect(dots.map((dot) => dot.edge)).toEqual([null, null, null, "above", null, null]);
  expect((dots[0]?.y ?? 0) - (dots[1]?.y ?? 0)).toBeGreaterThan(HEIGHT / 4);
});
