import { expect, test } from "vitest";
import { namesInPath } from "./names-in-path";

const NAMES = ["Xeon, 8280", "a/b", "100 %", "%2C", "a?b#c&d=e;f:g@h+i$j", "Łódź"];

test.each(NAMES)("a path has the name that was put there: %s", (name) => {
  const path = `/trends/classes/${encodeURIComponent("lab+1")}/${encodeURIComponent(name)}`;
  expect(namesInPath(path, 2)).toEqual(["lab+1", name]);
  expect(namesInPath(path, 1)[0]).toBe(name);
});

test("what stands for nothing stays as it was typed", () => {
  expect(namesInPath("/hosts/50%", 1)[0]).toBe("50%");
});
