import { expect, test } from "vitest";
import { nameInPath } from "./name-in-path";

const NAMES = ["Xeon, 8280", "a/b", "100 %", "%2C", "a?b#c&d=e;f:g@h+i$j", "Łódź"];

test.each(NAMES)("a path has the name that was put there: %s", (name) => {
  expect(nameInPath(`/series/${encodeURIComponent(name)}`)).toBe(name);
});

test("what stands for nothing stays as it was typed", () => {
  expect(nameInPath("/hosts/50%")).toBe("50%");
});
