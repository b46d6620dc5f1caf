import { describe, expect, it } from "vitest";
import type { Price, PriceMachine, ProcessorRanking } from "../api/types";
import {
  branchesText,
  breakEvenTexts,
  chanceText,
  changeText,
  costText,
  csvPath,
  forgottenText,
  identityText,
  intervalText,
  kindsText,
  linkOf,
  misfitText,
  nsText,
  placeText,
  priceEnds,
  priceText,
  trustRuleText,
} from "./words";

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

const price = (kind: Price["kind"]): Price => ({
  ...{ event: "verw", title: "VERW", ns: 7, low: 6, high: 8, kind },
  ...{ source: "x", url: "", machines: [] },
});
const machine = (isVirtual: boolean) => ({ is_virtual: isVirtual }) as PriceMachine;

describe("a processor", () => {
  it("says how many prices are known in which way, and never mixes them", () => {
    const prices = [price("published"), price("measured"), price("derived"), price("measured")];
    expect(kindsText(prices)).toBe("2 measured, 1 derived, 1 published");
    expect(kindsText([price("derived")])).toBe("1 derived");
  });
  it("was measured on what its machines are, or it is not known", () => {
    expect(placeText([])).toBeNull();
    expect(placeText([machine(true), machine(true)])).toBe("virtual");
    expect(placeText([machine(false)])).toBe("bare");
    expect(placeText([machine(true), machine(false)])).toBe("bare and virtual");
  });
  it("has the numbers that it says", () => {
    const of = {
      vendor: "AuthenticAMD",
      family: 26,
      model: 2,
      stepping: 1,
      caches: "",
      masked: "",
    };
    const numbers = "AuthenticAMD, family 26, model 2, stepping 1";
    expect(identityText({ ...of, name: "AMD EPYC" })).toBe(`AMD EPYC: ${numbers}`);
    expect(identityText({ ...of, name: "" })).toBe(numbers);
  });
  it("has an error of its prices, or none that is known", () => {
    expect(misfitText(8.14)).toMatch(/^8\.1\u202f% \(root mean square\)/);
    expect(misfitText(0)).toBeNull();
  });
  it("is trusted by a rule that is said", () => {
    const rule = { share_percent: 80, near_percent: 15, far_percent: 30 };
    expect(trustRuleText(rule)).toBe(
      "Trusted where 80\u202f% of them are predicted within 15\u202f%, and all within 30\u202f%.",
    );
  });
  it("has a file of what is shown", () => {
    expect(csvPath("")).toBe("/api/prices.csv");
    expect(csvPath("zen 4&x")).toBe("/api/prices.csv?model=zen+4%26x");
  });
});

describe("a predicted cost", () => {
  it("has its interval; what does nothing has none", () => {
    expect(costText({ ns: 73.57, low: 62.03, high: 85.1 })).toEqual({
      cost: "73.6\u202fns",
      ends: "[62.0, 85.1]",
    });
    expect(costText({ ns: 0, low: 0, high: 0 })).toEqual({ cost: "0\u202fns", ends: "" });
    expect(intervalText({ ns: 5.85, low: 5.7, high: 5.97 })).toBe("5.850\u202fns [5.700, 5.970]");
    expect(intervalText({ ns: 0, low: 0, high: 0 })).toBe("0\u202fns");
  });
  it("has four digits where it has no interval", () => {
    expect([0.1234, 72.1027, 1997.14, 19620.9].map(nsText)).toEqual([
      "0.12\u202fns",
      "72.1\u202fns",
      "1997\u202fns",
      "19\u202f621\u202fns",
    ]);
  });
  it("has an order with a chance, or no order", () => {
    expect(chanceText(null)).toBeNull();
    expect(chanceText(1)).toBe("over 99\u202f%");
    expect(chanceText(0.9999)).toBe("over 99\u202f%");
    expect(chanceText(0.504)).toBe("50\u202f%");
  });
  it("says what a missing price would have to be, of the mode that lacks it", () => {
    const even = { event: "ibpb", mode: "ibpb", other: "bhb-clear", ns: 70.56 };
    const of = { break_even: [even, { ...even, mode: "other" }] } as unknown as ProcessorRanking;
    expect(breakEvenTexts(of, "ibpb")).toEqual([
      "It costs as much as bhb-clear where one ibpb takes 70.6\u202fns; where one takes more, bhb-clear is cheaper.",
    ]);
    expect(breakEvenTexts(of, "off")).toEqual([]);
  });
  it("says what comes on top behind an emptied branch predictor, where that is known", () => {
    expect(forgottenText(1038.2)).toContain("up to 1038\u202fns more behind it");
    expect(forgottenText(null)).toBeNull();
  });
  it("is of so many branches of each kind", () => {
    expect(branchesText({ indirect: 1024, taken: 16 })).toBe("1024 indirect, 16 taken");
  });
});
