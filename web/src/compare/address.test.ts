import { describe, expect, it } from "vitest";
import { askedBy, comparePath, swapped, withPair } from "./address";

const search = (text: string) => new URLSearchParams(text);

describe("the address of two experiments", () => {
  it("leaves out what says nothing", () => {
    expect(askedBy(search("a=x&b=0&sort=worst&only=same&hosts=alone"))).toEqual({
      ...{ a: null, b: null, find: "", workload: "", only: "", sort: "difference", hosts: [] },
    });
    expect(askedBy(search("a=1&b=22&sort=q&only=differs&hosts=x:y&find=+udp+"))).toEqual({
      ...{ a: 1, b: 22, find: "udp", workload: "", only: "differs", sort: "q", hosts: ["x:y"] },
    });
  });

  it("names what is chosen", () => {
    expect(comparePath()).toBe("/experiments?tab=compare");
    expect(comparePath(3)).toBe("/experiments?tab=compare&a=3");
    expect(comparePath(3, 4)).toBe("/experiments?tab=compare&a=3&b=4");
  });

  it("swaps both sides with their hosts, and one side alone", () => {
    expect(swapped(search("a=1&b=2&find=udp&hosts=x:y&hosts=z:w")).toString()).toBe(
      "a=2&b=1&find=udp&hosts=y%3Ax&hosts=w%3Az",
    );
    expect(swapped(search("a=1")).toString()).toBe("b=1");
  });

  it("pairs a host once", () => {
    const paired = withPair(search("a=1&hosts=x:y&hosts=z:w"), "x", "w");
    expect(paired.getAll("hosts")).toEqual(["x:w"]);
    expect(withPair(paired, "x", "").getAll("hosts")).toEqual([]);
  });
});
