import { describe, expect, it } from "vitest";
import type { PriceCheck } from "../api/types";
import { changeText, heldText, linkOf, priceEnds, priceText } from "./words";

const check = (counts: Partial<PriceCheck>): PriceCheck => ({
  id: 1,
  processor: "p",
  title: "P",
  host: "spr-01",
  emulated: false,
  clock: "real",
  measured: { id: 1, name: "one" },
  counted: { id: 2, name: "two" },
  at: "2026-11-26T12:00:00Z",
  held: 45,
  checked: 50,
  whole_held: 30,
  whole: 31,
  signs_right: 28,
  signs: 29,
  ...counts,
});

describe("prices", () => {
  it("have as many digits as their interval deserves", () => {
    expect(priceText({ ns: 0.245, low: 0.12, high: 0.37 })).toBe("0.245\u202fns");
    expect(priceEnds({ ns: 0.245, low: 0.12, high: 0.37 })).toBe("0.120 to 0.370");
    expect(priceText({ ns: 1050, low: 980, high: 1120 })).toBe("1050\u202fns");
  });
  it("have links to the web alone", () => {
    expect(linkOf("https://example.org/a")).toBe("https://example.org/a");
    expect(linkOf("javascript:alert(1)")).toBeNull();
    expect(linkOf("")).toBeNull();
  });
});

describe("a change", () => {
  it("has its sign and its interval", () => {
    expect(changeText({ ns: 12.34, low: 10, high: 14.7 })).toEqual({
      change: "+12.3\u202fns",
      ends: "[+10.0, +14.7]",
    });
    expect(changeText({ ns: -3, low: -3.2, high: -2.8 }).change).toBe("\u22123.000\u202fns");
  });
});

describe("how often predictions held", () => {
  it("says all three counts", () => {
    expect(heldText(check({}))).toBe(
      "45 of 50 hold; of those with every price 30 of 31; signs 28 of 29",
    );
  });
  it("says once what holds where nothing lacks a price", () => {
    expect(heldText(check({ whole: 50, whole_held: 45 }))).toBe("45 of 50 hold; signs 28 of 29");
  });
  it("says what there was nothing of", () => {
    expect(heldText(check({ whole: 0, whole_held: 0, signs: 0, signs_right: 0 }))).toBe(
      "45 of 50 hold; none has every price; no change differs from zero",
    );
  });
});
