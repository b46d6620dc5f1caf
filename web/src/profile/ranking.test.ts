import { describe, expect, test } from "vitest";
import { profileOf } from "./example";
import { ranked, SORTS, vouched, type Sort } from "./ranking";

const { functions, meta } = profileOf({
  name: "all",
  children: [
    { name: "b", a: 1, b: 5, q: 0.02, half: 1 },
    { name: "a", a: 4, b: 3, q: 0.5, half: 3 },
    { name: "n", a: 0, b: 2 },
  ],
});

function order(sort: Sort, descending = false, matching: Uint8Array | null = null) {
  const rows = ranked(functions, meta.names, {
    measure: functions.self,
    ...{ sort, descending, matching },
  });
  return rows.map((row) => meta.names[functions.symbol[row] ?? 0]).join(" ");
}

describe("functions are in the order of", () => {
  test.each([
    ["name", false, "a all b n"],
    ["name", true, "n b all a"],
    ["self_a", true, "a b all n"],
    ["self_b", true, "b a n all"],
    ["total_a", true, "all a b n"],
    ["total_b", true, "all b a n"],
    ["difference", true, "b n all a"],
    ["difference", false, "a all n b"],
    ["interval", true, "b a all n"],
    ["q", false, "b a all n"],
    ["change", true, "b a all n"],
  ] as const)("%s, descending %s", (sort, descending, wanted) => {
    expect(order(sort, descending)).toBe(wanted);
  });
});

test("those without a number come last either way", () => {
  for (const descending of [true, false]) expect(order("q", descending)).toMatch(/all n$/);
});

test("every order has every function", () => {
  for (const sort of SORTS) expect(order(sort).split(" ")).toHaveLength(4);
});

test("only those that match are listed", () => {
  const matching = Uint8Array.from(meta.names, (name) => Number(name === "n"));
  expect(order("name", false, matching)).toBe("n");
});

test("an interval vouches for its end that is nearer to zero", () => {
  expect(vouched(2, 5)).toBe(2);
  expect(vouched(-5, -2)).toBe(-2);
  expect(vouched(-1, 2)).toBe(0);
  expect(vouched(NaN, 2)).toBeNaN();
});
