import { describe, expect, it } from "vitest";
import { askedBy, changed, filtersOf, pageOf } from "./filter";

const of = (text: string) => new URLSearchParams(text);

describe("what an address asks for", () => {
  it("is nothing where it says nothing", () => {
    expect(askedBy(of(""))).toEqual({});
    expect(askedBy(of("find=+&state=&sort=newest&page=1&other=x"))).toEqual({});
  });

  it("takes each word", () => {
    const text =
      "find=udp&state=running&state=failed&verdict=worse&host=a&since=2026-11-01&sort=name";
    expect(askedBy(of(text))).toEqual({
      find: "udp",
      state: ["running", "failed"],
      verdict: "worse",
      host: "a",
      since: "2026-11-01",
      sort: "name",
    });
  });

  it("leaves out what the service would refuse", () => {
    expect(askedBy(of("state=done&verdict=bad&sort=best&since=yesterday&page=-1"))).toEqual({});
    expect(askedBy(of(`find=${"x".repeat(300)}`)).find).toHaveLength(200);
  });

  it("takes the worst effect as an order", () => {
    expect(askedBy(of("sort=effect"))).toEqual({ sort: "effect" });
  });

  it("counts pages from one", () => {
    expect(askedBy(of("page=3")).offset).toBe(100);
    expect([pageOf(of("page=0")), pageOf(of("page=2")), pageOf(of("page=999999"))]).toEqual([
      1, 2, 1,
    ]);
  });

  it("says which filters are set", () => {
    expect(filtersOf(askedBy(of("find=a&who=b&sort=name&page=2")))).toEqual(["find", "who"]);
  });
});

describe("a change of the address", () => {
  it("begins at the first page and keeps all else", () => {
    expect(changed(of("find=a&page=3"), "host", "b").toString()).toBe("find=a&host=b");
    expect(changed(of("find=a&host=b"), "find", "").toString()).toBe("host=b");
  });

  it("keeps the filters on another page", () => {
    expect(changed(of("find=a"), "page", "2").toString()).toBe("find=a&page=2");
    expect(changed(of("find=a&page=2"), "page", "1").toString()).toBe("find=a");
  });
});
