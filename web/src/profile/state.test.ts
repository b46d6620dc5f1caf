import { describe, expect, test } from "vitest";
import { changed, dataQuery, viewState } from "./state";

const read = (text: string) => viewState(new URLSearchParams(text));

describe("the address", () => {
  test("without a word of the view means the defaults", () => {
    expect(read("a=1&b=2")).toMatchObject({
      ...{ tab: "graph", view: "flame", width: "mean", colour: "diff", greying: true },
      ...{ search: "", zoom: "", fn: "", measure: "self" },
      ...{ sort: "difference", descending: true, page: 1 },
    });
  });

  test("gives back what it was given", () => {
    const query =
      "tab=functions&view=icicle&width=b&colour=change&sig=0&q=vm&of=total&sort=q&page=3";
    expect(read(query)).toMatchObject({
      ...{ tab: "functions", view: "icicle", width: "b", colour: "change", greying: false },
      ...{ search: "vm", measure: "total", sort: "q", descending: false, page: 3 },
    });
  });

  test.each(["tab=x", "view=", "width=c", "sort=-nothing", "page=-1", "page=1.5", "page=x"])(
    "with %s means the default",
    (text) => {
      expect(read(text)).toMatchObject({ tab: "graph", view: "flame", width: "mean", page: 1 });
      expect(read(text).sort).toBe("difference");
    },
  );

  test("keeps hostile names as they are", () => {
    const fn = "<img src=x onerror=alert(1)>&tab=graph";
    expect(read(new URLSearchParams({ fn }).toString()).fn).toBe(fn);
  });
});

test("the service is asked for the data alone, in one order", () => {
  const query = new URLSearchParams("zoom=1&where=x=y&b=2&a=1&q=vm&metric=m&basis=raw&tab=graph");
  expect(dataQuery(query)).toBe("a=1&b=2&basis=raw&metric=m&where=x%3Dy");
});

test("a repeated parameter of the data is kept", () => {
  expect(dataQuery(new URLSearchParams("where=a&where=b"))).toBe("where=a&where=b");
});

test("changes leave the rest of the address alone", () => {
  const before = new URLSearchParams("a=1&zoom=2&q=x");
  expect(changed(before, { zoom: null, q: "", tab: "functions" }).toString()).toBe(
    "a=1&tab=functions",
  );
  expect(before.get("zoom")).toBe("2");
});
