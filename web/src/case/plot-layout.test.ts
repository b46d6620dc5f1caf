import { expect, test } from "vitest";
import {
  plotPlace,
  plotScale,
  rangePath,
  secondsOf,
  valuePath,
  type PlotLine,
} from "./plot-layout";

const FRAME = { left: 0, right: 100, top: 0, bottom: 50 };
const line = (values: (number | null)[]): PlotLine => ({
  ...{ arm: 0, values, low: values, high: values },
});

test("a second without a value is a gap in the line, and no zero", () => {
  const seconds = [0, 1, 2, 3, 4];
  const drawn = line([10, 10, null, 10, 10]);
  const scale = { low: 0, high: 10 };
  const place = plotPlace(FRAME, seconds, scale);
  expect(valuePath(secondsOf(seconds, drawn), place)).toBe("M0 0L25 0M75 0L100 0");
});

test("the scale begins at 0, and one wild second does not flatten the others", () => {
  const values = [5, 6, 5, 6, 900, 5, 6];
  const seconds = values.map((_, at) => at);
  const scale = plotScale(seconds, [line(values)]);
  expect(scale.low).toBe(0);
  expect(scale.high).toBeLessThan(10);
  const place = plotPlace(FRAME, seconds, scale);
  expect(place.y(900)).toBe(0);
});

test("the range of boots is an area, and none of a single second", () => {
  const of = { arm: 0, values: [2, 2], low: [1, 1], high: [3, 3] };
  const place = plotPlace(FRAME, [0, 1], { low: 0, high: 5 });
  expect(rangePath(secondsOf([0, 1], of), place)).toBe("M0 20L100 20L100 40L0 40Z");
  expect(rangePath(secondsOf([0], of), place)).toBe("");
});

test("nothing but zeros can be drawn", () => {
  expect(plotScale([0, 1], [line([0, 0])])).toEqual({ low: 0, high: 1 });
  expect(plotScale([], [])).toEqual({ low: 0, high: 1 });
});
