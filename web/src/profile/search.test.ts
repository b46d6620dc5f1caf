import { describe, expect, test } from "vitest";
import { frame, profileOf } from "./example";
import { layout } from "./layout";
import { matches, understood } from "./search";

const PROFILE = profileOf(
  frame(
    "all",
    0,
    0,
    frame("vm_exit", 1, 2, frame("memcpy", 3, 4, frame("vm_exit", 5, 6))),
    frame("Memcpy.isra", 7, 8),
  ),
);

function find(text: string) {
  const test = understood(text);
  if (typeof test !== "function") throw new Error(`not understood: ${text}`);
  return matches(PROFILE.tree, layout(PROFILE.tree, "mean"), PROFILE.meta.names, test);
}

describe("what is typed", () => {
  test.each(["", "  "])("as %j searches nothing", (text) => {
    expect(understood(text)).toBeNull();
  });

  test("is part of a name, in capitals or not", () => {
    expect(find("MEMCPY").frames).toBe(2);
  });

  test("between slashes is an expression", () => {
    expect(find("/^vm_/").names).toBe(1);
    expect(find("/memcpy$/").frames).toBe(1);
    expect(find("/memcpy/i").frames).toBe(2);
  });

  test("may be an expression whose end is still to come", () => {
    expect(find("/^vm").frames).toBe(2);
  });

  test.each(["/(/", "/[/", "/*/", "/a/ii"])("as %s is said to be wrong, not thrown", (text) => {
    expect(understood(text)).toEqual({ wrong: expect.any(String) as string });
  });

  test("with letters that mean something in expressions is taken as written", () => {
    expect(find(".isra").frames).toBe(1);
    expect(find("(").frames).toBe(0);
  });
});

describe("matching frames cost", () => {
  test("what the outermost of them cost: one within another is not counted again", () => {
    expect(find("vm_exit")).toMatchObject({ frames: 2, names: 1, a: 9, b: 12 });
  });

  test("nothing twice, also where different names match", () => {
    expect(find("/vm|mem/i")).toMatchObject({ frames: 4, names: 3, a: 16, b: 20 });
  });

  test("everything, when the root matches", () => {
    expect(find("all")).toMatchObject({ frames: 1, a: 16, b: 20 });
  });

  test("nothing, when none matches", () => {
    expect(find("no such")).toMatchObject({ frames: 0, a: 0, b: 0 });
  });
});
