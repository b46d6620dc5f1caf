import { expect, test } from "vitest";
import { largeExperiment } from "../../tests/large-experiment";
import { headingAbove, itemsOf, step, type Item } from "./items";

const rows = largeExperiment(100).comparisons.flatMap((comparison) => comparison.rows);
const items = itemsOf(rows, true);
const COLUMNS = 4;

const kinds = (list: Item[]) => list.map((item) => item.kind);

test("rows stand under a heading of host and workload, each heading once", () => {
  const names = items.flatMap((item) => (item.kind === "group" ? [item.name] : []));
  expect(names).toHaveLength(10);
  expect(new Set(names).size).toBe(10);
  expect(items.flatMap((item) => (item.kind === "row" ? [item.row] : []))).toEqual(rows);
});

test("in another order there are no headings", () => {
  expect(kinds(itemsOf(rows, false))).toEqual(rows.map(() => "row"));
});

test("keys are of their own", () => {
  expect(new Set(items.map((item) => item.key)).size).toBe(items.length);
});

test("arrows pass over headings and stop at the ends", () => {
  expect(items[11]?.kind).toBe("group");
  expect(step(items, COLUMNS, { index: 10, column: 2 }, "ArrowDown")).toEqual({
    index: 12,
    column: 2,
  });
  expect(step(items, COLUMNS, { index: 12, column: 2 }, "ArrowUp")).toEqual({
    index: 10,
    column: 2,
  });
  expect(step(items, COLUMNS, { index: 1, column: 0 }, "ArrowUp")).toEqual({ index: 1, column: 0 });
  expect(step(items, COLUMNS, { index: 109, column: 0 }, "ArrowDown")?.index).toBe(109);
  expect(step(items, COLUMNS, { index: 1, column: 0 }, "ArrowLeft")?.column).toBe(0);
  expect(step(items, COLUMNS, { index: 1, column: 4 }, "ArrowRight")?.column).toBe(4);
});

test("Home and End go to the first and last row, a page is ten rows", () => {
  expect(step(items, COLUMNS, { index: 50, column: 1 }, "Home")).toEqual({ index: 1, column: 1 });
  expect(step(items, COLUMNS, { index: 50, column: 1 }, "End")).toEqual({ index: 109, column: 1 });
  expect(step(items, COLUMNS, { index: 1, column: 0 }, "PageDown")?.index).toBe(12);
  expect(step(items, COLUMNS, { index: 5, column: 0 }, "PageUp")?.index).toBe(1);
});

test("j and k go row by row, past headings, and nowhere beyond the last one", () => {
  expect(step(items, COLUMNS, { index: 10, column: 2 }, "j")).toEqual({ index: 12, column: 2 });
  expect(step(items, COLUMNS, { index: 12, column: 2 }, "k")).toEqual({ index: 10, column: 2 });
  expect(step(items, COLUMNS, { index: 109, column: 0 }, "j")).toBeNull();
  expect(step(items, COLUMNS, { index: 1, column: 0 }, "k")).toBeNull();
});

test("other keys lead nowhere", () => {
  expect(step(items, COLUMNS, { index: 5, column: 0 }, "Enter")).toBeNull();
});

test("the heading over a line is the nearest above it", () => {
  expect(headingAbove(items, 10)).toBe(0);
  expect(headingAbove(items, 11)).toBe(11);
  expect(headingAbove(itemsOf(rows, false), 10)).toBeNull();
});
