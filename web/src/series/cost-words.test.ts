import { describe, expect, it } from "vitest";
import type { PatchCost } from "../api/types";
import {
  columnsOf,
  eventsOf,
  figureOf,
  firstProcessor,
  functionsOf,
  growthText,
  interactionText,
  isCostly,
  notAlone,
  predictedOf,
  sizeText,
} from "./cost-words";

const cost = (of: Partial<PatchCost>): PatchCost => ({
  ...{ case: "getpid", host: "lab-intel", mode: "off", exact: 0, difference: of.exact ?? 0 },
  ...{ lines: 0, in_its_code: of.exact ?? 0, functions: [], others: [], predictions: [] },
  events: [],
  why_none: "",
  ...of,
});

const row = (of: Partial<Parameters<typeof figureOf>[0]>) => ({
  ...{ same_code: false, why_none: "", costs: [], alone: [] },
  ...of,
});

const HERE = { case: "getpid", host: "lab-intel" };

describe("a size", () => {
  it("says what grew, and what shrank", () => {
    expect(growthText({ code: 24, boot: 0, data: -8 })).toBe(
      "size: +24 instructions, −8 bytes of data",
    );
    expect(growthText({ code: 0, boot: 30, data: 0 })).toBe("size: +30 that run at boot alone");
    expect(growthText({ code: 0, boot: 0, data: 0 })).toBe("size: as before");
  });
});

describe("a figure", () => {
  it.each([
    [55, 55, "+55"],
    [0, 0.2, "0"],
    [-3, -3, "\u22123"],
    [null, 1.5, "~+1.5"],
    [null, 0.04, "~+0.04"],
  ])("of %j and %f is %s", (exact, difference, text) => {
    expect(sizeText({ exact, difference })).toBe(text);
  });

  it("of a patch that costs more says so, and what it costs alone", () => {
    const of = row({ costs: [cost({ exact: 20 })], alone: [cost({ exact: 6 })] });
    expect(figureOf(of, HERE)).toEqual({ text: "+20", way: "more", why: "", alone: "+6" });
  });

  it("alone is left out where two boots of one kernel differ as much", () => {
    const of = row({ costs: [cost({ exact: 20 })], alone: [cost({ exact: 19 })] });
    expect(figureOf(of, HERE).alone).toBe("");
  });

  it("of one instruction in code that no patch changes is no cost", () => {
    const once = cost({ exact: 1, in_its_code: 0 });
    expect(isCostly(once)).toBe(false);
    expect(figureOf(row({ costs: [once] }), HERE).way).toBe("none");
    expect(isCostly(cost({ exact: 1, in_its_code: 1 }))).toBe(true);
  });

  it("of the same code is none, whatever it costs alone", () => {
    const of = row({ same_code: true, alone: [cost({ exact: 6 })] });
    expect(figureOf(of, HERE)).toEqual({ text: "0", way: "none", why: "", alone: "+6" });
  });

  it("that is not known says why", () => {
    const why = (of: Parameters<typeof row>[0]) => {
      const { text, way, why } = figureOf(row(of), HERE);
      return [text, way, why];
    };
    expect(why({ why_none: "does not build" })).toEqual(["?", "unknown", "does not build"]);
    expect(why({ costs: [cost({ why_none: "no boot" })] })).toEqual(["?", "unknown", "no boot"]);
    expect(why({})).toEqual(["?", "unknown", "it was not counted"]);
  });
});

it("columns in which something costs anything come first", () => {
  const [free, costly] = [cost({ case: "pipe" }), cost({ exact: 55 })];
  const rows = [{ ...row({ costs: [free, costly] }), patches: [1], titles: [""] }];
  const whole = [{ ...free, host: "lab-amd" }];
  const body = { rows: rows.map((each) => ({ ...each, ...REST })), whole };
  expect(columnsOf(body).map((column) => `${column.case} ${column.host}`)).toEqual([
    "getpid lab-intel",
    "pipe lab-intel",
    "pipe lab-amd",
  ]);
});

const REST = { alone_why: "", changed: [], changed_count: 0 };

describe("functions", () => {
  it("stand once, the largest first, with the most of any case", () => {
    const part = (name: string, exact: number) => ({ function: name, exact, difference: exact });
    const costs = [
      cost({ exact: 12, in_its_code: 9, functions: [part("f", 4), part("g", 5)] }),
      cost({ case: "pipe", exact: 9, functions: [part("f", 4), part("g", -7)] }),
    ];
    expect(functionsOf(costs)).toEqual([
      { name: "g", text: "up to \u22127" },
      { name: "f", text: "+4" },
      { name: "", text: "+3" },
    ]);
  });
});

describe("a prediction", () => {
  const on = (ns: number, missing: string[] = []) => ({
    ...{ processor: "zen2", title: "Zen 2", ns, low: ns - 1, high: ns + 1, missing },
  });

  it("is said once where all cases that cost anything have it", () => {
    const costs = [
      cost({ exact: 55, predictions: [on(12.34)] }),
      cost({ case: "pipe", exact: 55, predictions: [on(12.34)] }),
      cost({ case: "read", predictions: [on(0)] }),
    ];
    expect(predictedOf(costs, "zen2")).toEqual([
      { text: "+12.3 ns [+11.3, +13.3]", missing: [], cases: [] },
    ]);
    expect(predictedOf(costs, "zen3")).toEqual([]);
  });

  it("names its cases where they differ, and what has no price", () => {
    const costs = [
      cost({ exact: 55, predictions: [on(12)] }),
      cost({ case: "pipe", exact: 3, predictions: [on(2, ["ibpb"])] }),
    ];
    expect(predictedOf(costs, "zen2").map(({ cases, missing }) => [cases, missing])).toEqual([
      [["getpid"], []],
      [["pipe"], ["ibpb"]],
    ]);
  });

  it("is of the processor that the service names first", () => {
    const body = { whole: [cost({ predictions: [on(1)] })], rows: [] };
    expect(firstProcessor(body)?.title).toBe("Zen 2");
    expect(firstProcessor({ whole: [], rows: [] })).toBeUndefined();
  });
});

it("patches that interact are named with what both cost", () => {
  const each = { patch: 7, case: "getppid", host: "lab-intel", alone: 6, after: 20 };
  expect(interactionText({ ...each, others: [3] })).toBe(
    "Patch 7 interacts with patch 3: +20 instructions an operation of getppid on lab-intel in its place, +6 alone on the base.",
  );
  expect(interactionText({ ...each, others: [] })).toContain("which one cannot be told");
});

it("why patches were not measured alone is said once for all", () => {
  const why = (patches: number[], alone_why: string) => ({
    ...{ ...row({}), ...REST, patches, titles: [], alone_why },
  });
  expect(notAlone([why([1], ""), why([2, 3], "together"), why([6, 7], "together")])).toEqual([
    { why: "together", patches: [2, 3, 6, 7] },
  ]);
});

it("what costs on real processors is said once for all cases", () => {
  const event = { event: "verw", title: "VERW", protects: true };
  const costs = [
    cost({ events: [{ ...event, a: 2, b: 1, exact: -1 }] }),
    cost({ case: "pipe", events: [{ ...event, a: 2, b: 1, exact: -1 }] }),
    cost({ case: "fork", events: [{ ...event, a: 3, b: 3, exact: 0 }] }),
    cost({ case: "exec", events: [{ ...event, a: 3, b: 3.25, exact: null }] }),
  ];
  expect(eventsOf(costs)).toEqual(["VERW \u22121", "VERW ~+0.25"]);
});
