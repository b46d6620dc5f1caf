import { expect, test } from "vitest";
import { aired, edgeOf, leastOf, offScaleInWords, robustScale, wildOf, wildOfGroups } from "./bulk";

const calm = [100, 101, 99, 100.5, 99.5, 100, 100.2, 99.8, 101, 100];
const wildIn = (values: number[]) =>
  wildOf(values, leastOf(values)).flatMap((wild, at) => (wild ? [values[at]] : []));

test("a spike is outside, wherever it stands, and so are two in a row", () => {
  expect(wildIn([...calm, 900, ...calm])).toEqual([900]);
  expect(wildIn([900, ...calm])).toEqual([900]);
  expect(wildIn([...calm, 3])).toEqual([3]);
  expect(wildIn([...calm, 900, 850, ...calm])).toEqual([900, 850]);
});

test("levels are no spikes, however far apart and however short the last one is", () => {
  const after = calm.map((value) => value * 3);
  expect(wildIn([...calm, ...after])).toEqual([]);
  expect(wildIn([...calm, ...after.slice(0, 3)])).toEqual([]);
  expect(wildIn([...calm, ...after, 5000])).toEqual([5000]);
});

test("values that fit into a picture are all in it", () => {
  expect(wildIn(calm)).toEqual([]);
  expect(wildIn([100, 100, 100, 100, 100, 100, 103])).toEqual([]);
  expect(wildIn([1, 500])).toEqual([]);
  expect(wildIn([0, 0, 0, 0, 0, 0, 0])).toEqual([]);
});

test("values that are all alike but one have the one outside", () => {
  expect(wildIn([100, 100, 100, 100, 100, 100, 200])).toEqual([200]);
});

test("a value beyond the scale is drawn at the edge that is nearest", () => {
  const scale = { low: 1, high: 2 };
  expect([0, 1, 2, 3].map((value) => edgeOf(value, scale))).toEqual(["below", null, null, "above"]);
});

test("an arm that is far from the others is no wild value, one boot of it is", () => {
  const [slow, wild] = [[5000, 5010, 4990, 5005], 90_000];
  expect(wildOfGroups([calm, slow], 1).flat()).not.toContain(true);
  expect(wildOfGroups([calm, [...slow, wild]], 1)).toEqual([
    calm.map(() => false),
    [false, false, false, false, true],
  ]);
});

test("an arm that scatters more than the others is judged by its own scatter", () => {
  expect(wildOfGroups([calm, [100, 160, 60, 130, 75]], 1).flat()).not.toContain(true);
});

test("of two values nobody can tell which one is wild", () => {
  expect(wildOfGroups([calm, [100, 9000]], 1).flat()).not.toContain(true);
});

const points = (values: number[], half = 1) =>
  values.map((value) => ({ value, low: value - half, high: value + half }));

test("a scale holds all intervals, and what must lie inside", () => {
  expect(robustScale([points(calm)], { inOrder: true, inside: [0] })).toEqual({
    low: 0,
    high: 102,
  });
});

test("one value a hundred times the others is off the scale, and so is its interval", () => {
  const scale = robustScale([points([...calm, 10_000, ...calm])], { inOrder: true });
  expect(scale).toEqual({ low: 98, high: 102 });
  expect(edgeOf(10_000, scale)).toBe("above");
  expect(robustScale([points([...calm, 10_000])], { inOrder: false })).toEqual(scale);
});

test("an interval far longer than the others is cut, and intervals that are all long are not", () => {
  const long = [...points(calm), { value: 100, low: -900, high: 1100 }];
  const { low, high } = robustScale([long], { inOrder: true });
  expect(low).toBeGreaterThan(90);
  expect(high).toBeLessThan(110);
  expect(robustScale([points([100, 100.1], 5)], { inOrder: true })).toEqual({
    low: 95,
    high: 105.1,
  });
});

test("a scale of nothing, of what is no number, and of one value can be drawn", () => {
  expect(robustScale([], { inOrder: true })).toEqual({ low: 0, high: 1 });
  expect(robustScale([[{ value: NaN }, { value: 3 }]], { inOrder: true })).toEqual({
    low: 3,
    high: 3,
  });
  expect(aired({ low: 3, high: 3 })).toEqual({ low: 2.85, high: 3.15 });
});

test("values off the scale are named, the newest of many", () => {
  expect(offScaleInWords([])).toBe("");
  expect(offScaleInWords(["9 s"])).toBe("1 value off the scale, at its edge: 9 s.");
  expect(offScaleInWords(["1", "2", "3", "4", "5"])).toBe(
    "5 values off the scale, at its edge: 2, 3, 4, 5 and 1 older.",
  );
});
