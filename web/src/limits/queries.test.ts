import { expect, test } from "vitest";
import { nameIn } from "./queries";

test("a file's name is what it says itself", () => {
  expect(nameIn("# ours\nlimits: ours\nlines: []\n")).toBe("ours");
  expect(nameIn('limits: "our.own-1"  # for CI\r\n')).toBe("our.own-1");
});

test("what names nothing is sent all the same, for the service to refuse", () => {
  for (const text of ["", "lines: []", "  limits: within", "limits: ../ours", "limits: two words"])
    expect(nameIn(text)).toBe("limits");
});
