import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { CountedMark, EmulatedMark, MarkedOnce, type Measured } from "./emulated";

function words(of: Measured[]): string {
  const rows = of.map((row, at) =>
    createElement("i", { key: at }, row.emulated && createElement(EmulatedMark)),
  );
  const list = createElement(MarkedOnce, { of, children: rows });
  return renderToStaticMarkup(list).replaceAll(/<[^>]+>/g, "");
}

const often = (text: string) => text.split("emulated").length - 1;

test("what all rows are is said once and explained, and in no row again", () => {
  const text = words([{ emulated: true }, { emulated: true }, { emulated: true }]);
  expect(text).toContain("All of these were measured on emulated processors");
  expect(text).toContain("hardware barriers cost nothing");
  expect(text.endsWith("nothing.")).toBe(true);
});

test("what some rows are stands in them, and is explained once", () => {
  const text = words([{ emulated: true }, { emulated: false }]);
  expect(text).toContain("Rows with this mark were measured on emulated processors");
  expect(text.endsWith("emulated")).toBe(true);
  expect(text.split("barriers")).toHaveLength(2);
});

test("a list of real hosts says nothing of it", () => {
  expect(often(words([{ emulated: false }, { emulated: false }]))).toBe(0);
});

test("a mark outside of a list explains itself", () => {
  const mark = renderToStaticMarkup(createElement(CountedMark));
  expect(mark).toContain("title=");
  expect(mark).toContain("counted time");
});
