import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { inBoth, minute } from "../format/time";
import { Age, Stamp } from "./age";

const AT = "2026-07-14T12:00:00Z";

test("an age has its date beside it, for who prints or copies it", () => {
  const text = renderToStaticMarkup(createElement(Age, { at: AT }));
  expect(text).toContain(`dateTime="${AT}"`);
  expect(text).toContain(`title="${inBoth(AT)}"`);
  expect(text.replaceAll(/<[^>]+>/g, "")).toMatch(new RegExp(`ago, ${minute(AT)}$`));
});

test("every time says on hover what it is in UTC", () => {
  expect(inBoth(AT)).toContain("(2026-07-14 12:00:00 UTC)");
  expect(renderToStaticMarkup(createElement(Stamp, { at: AT }))).toContain("UTC)");
});
