import { expect, test } from "vitest";
import { edgeOf, leastOf, wildOf } from "./bulk";

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
