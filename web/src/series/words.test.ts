import { describe, expect, it } from "vitest";
import { patchesText, patchId, ranges, sentencesOf } from "./words";

describe("an answer", () => {
  it("keeps lines that begin with two blanks with the sentence above", () => {
    expect(
      sentencesOf(["patch 2: +55", "  predicted: +12 ns", "  without ibpb", "all: +60"]),
    ).toEqual([
      { text: "patch 2: +55", under: ["predicted: +12 ns", "without ibpb"] },
      { text: "all: +60", under: [] },
    ]);
  });

  it("that begins with such a line has no sentence above it", () => {
    expect(sentencesOf(["  alone"])).toEqual([{ text: "alone", under: [] }]);
  });
});

describe("patches", () => {
  it.each([
    [[4], "4"],
    [[1, 2, 3, 7], "1–3, 7"],
    [[9, 3, 2], "2–3, 9"],
  ])("%j are %s", (numbers, text) => {
    expect(ranges(numbers)).toBe(text);
  });

  it("are one or several", () => {
    expect(patchesText([4])).toBe("patch 4");
    expect(patchesText([4, 5])).toBe("patches 4–5");
  });

  it("have a place on the page, by revision", () => {
    expect(patchId({ id: 12 }, 3)).toBe("revision-12-patch-3");
  });
});
