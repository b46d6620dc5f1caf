import { expect, test } from "vitest";
import { asked, functionsPath } from "./address";

const of = (text: string) => asked(new URLSearchParams(text));

test("an address that names no case on a host asks for nothing", () => {
  expect(of("experiment=1&case=2")).toBeNull();
  expect(of("experiment=1&case=-2&host=a")).toBeNull();
  expect(of("experiment=x&case=2&host=a")).toBeNull();
});

test("what the address does not say, or says wrongly, is as usual", () => {
  expect(of("experiment=1&case=2&host=a&sort=size&of=both&page=0&basis=ounces")).toEqual({
    ...{ experiment: 1, case: 2, host: "a", where: "host", basis: null, measure: "self" },
    ...{ sort: "difference", arm: "", upwards: false, search: "", page: 1 },
  });
});

test("a choice is read back as it was written", () => {
  const view = of(
    "experiment=1&case=2&host=a&sort=q&arm=ibpb&up=1&of=total&search=bhb&page=3&where=guest",
  );
  expect(view).toMatchObject({ sort: "q", arm: "ibpb", upwards: true, measure: "total" });
  expect(view).toMatchObject({ search: "bhb", page: 3, where: "guest" });
});

test("a search is no longer than the service takes", () => {
  expect(of(`experiment=1&case=2&host=a&search=${"x".repeat(999)}`)?.search).toHaveLength(200);
});

test("the path of a row leads to its case", () => {
  expect(functionsPath(7, { case_id: 3, host: "lab intel" })).toBe(
    "/profiles?tab=arms&experiment=7&case=3&host=lab+intel",
  );
});
