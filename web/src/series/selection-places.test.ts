import { describe, expect, it } from "vitest";
import type { SelectionCell, Selections } from "../api/types";
import {
  foundText,
  isChanged,
  isUnproven,
  kernelText,
  lettersOf,
  linesOf,
  mustBeLookedAt,
  narrowed,
  ownLines,
  placesOf,
  placeText,
  saysTheSame,
  sidesOf,
  sidesText,
  valuesOf,
} from "./selection-places";

const cell = (of: Partial<SelectionCell>): SelectionCell => ({
  ...{ kernel: "7.2-base", processor: "Zen 2", mitigations: "", option: "", log: [], code: "" },
  ...{ state: "Mitigation: IBPB", unproven: "", findings: [] },
  ...of,
});

const both = (base: Partial<SelectionCell>, revision: Partial<SelectionCell>) => [
  cell(base),
  cell({ ...base, ...revision, kernel: "7.2-this" }),
];

const body = (...cells: SelectionCell[]): Selections => ({
  ...{ kind: "selection", spec: "vmscape", title: "VMSCAPE", asked: cells.length, groups: [] },
  cells,
  kernels: [
    {
      name: "base",
      patches: [],
      release: "7.2-base",
      content: "",
      skipped: "",
      revision: "",
      by_code: false,
    },
    {
      name: "this",
      patches: [1],
      release: "7.2-this",
      content: "",
      skipped: "",
      revision: "",
      by_code: false,
    },
  ],
});

const VULNERABLE = { state: "Vulnerable" };

const SOME = placesOf(
  body(
    ...both({}, {}),
    ...both({ option: "vmscape=on" }, VULNERABLE),
    ...both({ mitigations: "mitigations=off", option: "vmscape=on", ...VULNERABLE }, {}),
    ...both({ processor: "Skylake" }, { state: null }),
  ),
);

/** The one place of some cells, and what stands in its cell. */
function one(...cells: SelectionCell[]) {
  const [place] = placesOf(body(...cells));
  if (place === undefined) throw new Error("no place");
  const sides = sidesText(sidesOf(place, lettersOf([place])));
  return { place, sides };
}

describe("places", () => {
  it("have both kernels side by side", () => {
    expect(SOME).toHaveLength(4);
    expect(SOME[1]?.base?.state).toBe("Mitigation: IBPB");
    expect(SOME[1]?.revision?.state).toBe("Vulnerable");
  });

  it("are narrowed by each axis; a dash stands for nothing said", () => {
    const asked = { processor: null, mitigations: null, option: null };
    expect(narrowed(SOME, asked)).toHaveLength(4);
    expect(narrowed(SOME, { ...asked, processor: "Zen 2" })).toHaveLength(3);
    expect(narrowed(SOME, { ...asked, processor: "Zen 2", mitigations: "-" })).toHaveLength(2);
    expect(narrowed(SOME, { ...asked, option: "vmscape=on", mitigations: "-" })).toHaveLength(1);
    expect(narrowed(SOME, { ...asked, processor: "Zen 9" })).toEqual([]);
  });

  it("are lines by processor and mitigations", () => {
    expect(valuesOf(SOME, "option")).toEqual(["", "vmscape=on"]);
    expect(
      linesOf(SOME).map(([processor, lines]) => [
        processor,
        lines.map(([words, row]) => [words, row.length]),
      ]),
    ).toEqual([
      [
        "Zen 2",
        [
          ["", 2],
          ["mitigations=off", 1],
        ],
      ],
      ["Skylake", [["", 1]]],
    ]);
  });
});

describe("letters", () => {
  it("go by the states in their order, also of a file that is not there", () => {
    expect([...lettersOf(SOME)]).toEqual([
      ["Mitigation: IBPB", "A"],
      ["Vulnerable", "B"],
      ["no such file", "C"],
    ]);
  });

  it("are none for what proves nothing, and enough for many states", () => {
    expect(lettersOf(placesOf(body(cell({ unproven: "it did not end" })))).size).toBe(0);
    const many = Array.from({ length: 28 }, (_, at) =>
      cell({ option: `a=${at}`, state: `S${String(at).padStart(2, "0")}` }),
    );
    expect(lettersOf(placesOf(body(...many))).get("S27")).toBe("B2");
  });
});

describe("a cell", () => {
  it("is one letter where both kernels are alike, else two", () => {
    expect(one(...both({}, {})).sides).toBe("A");
    expect(one(...both({}, VULNERABLE)).sides).toBe("A → B");
    expect(one(cell({})).sides).toBe("A → –");
  });

  it("marks what somebody must look at, by kernel", () => {
    const worse = both(VULNERABLE, { findings: ["worse than asked"] });
    expect(one(...worse).sides).toBe("A = A!");
    expect(mustBeLookedAt(one(...worse).place)).toBe(true);
    const before = both({ ...VULNERABLE, findings: ["worse than asked"] }, { findings: [] });
    expect(one(...before).sides).toBe("A! = A");
    expect(mustBeLookedAt(one(...before).place)).toBe(false);
    expect(one(...both({}, { findings: ["not known"] })).sides).toBe("A = A°");
    expect(one(...both({}, { ...VULNERABLE, findings: ["changed"] })).sides).toBe("A → B");
  });

  it("is no change where one kernel proves nothing", () => {
    const { place, sides } = one(...both({}, { state: null, unproven: "it did not end" }));
    expect([isChanged(place), isUnproven(place), sides]).toEqual([false, true, "A → ?"]);
    expect(isChanged(one(...both({}, VULNERABLE)).place)).toBe(true);
    expect(isChanged(one(...both({}, {})).place)).toBe(false);
  });

  it("is told in words", () => {
    expect(placeText(one(...both({}, {})).place)).toBe("both: Mitigation: IBPB");
    const worse = { ...VULNERABLE, findings: ["weaker than before" as const] };
    expect(placeText(one(...both({}, worse)).place)).toBe(
      "base: Mitigation: IBPB; this revision: Vulnerable; weaker than before (this revision)",
    );
    expect(foundText(one(...both({ findings: ["not known"] }, {})).place)).toEqual([
      "not known (both)",
    ]);
    expect(placeText(one(...both({}, { unproven: "it did not end" })).place)).toContain(
      "this revision: no proof: it did not end",
    );
  });
});

it("lines of the kernel are shown where they say more than the state", () => {
  const log = ["VMSCAPE: Vulnerable", "VMSCAPE: Ignoring unknown option (on)."];
  const before = cell({ ...VULNERABLE, log });
  expect(ownLines(before)).toEqual(log.slice(1));
  expect(ownLines(undefined)).toEqual([]);
  const { place } = one(before, cell({ ...VULNERABLE, kernel: "7.2-this" }));
  expect([saysTheSame(place), isChanged(place)]).toEqual([false, false]);
  expect(saysTheSame(one(...both(VULNERABLE, {})).place)).toBe(true);
});

it("kernels go by what they are", () => {
  expect(kernelText(body(), { kernel: "7.2-base" })).toBe("base");
  expect(kernelText(body(), { kernel: "7.2-this" })).toBe("this revision");
  expect(kernelText(body(), { kernel: "7.3" })).toBe("7.3");
});
