import { expect, test } from "vitest";
import { changes, flattened } from "../hosts/facts";
import { byName, naturally } from "./natural";

test("numbers within names are ordered as numbers", () => {
  expect(naturally(["v10", "v2", "v1"])).toEqual(["v1", "v2", "v10"]);
  expect(naturally(["7.10.1", "7.2.12", "7.2.3"])).toEqual(["7.2.3", "7.2.12", "7.10.1"]);
  expect(naturally(["host-10", "host", "host-2"])).toEqual(["host", "host-2", "host-10"]);
});

test("numbers that are too long to be numbers are still in order, and zeros make no chance", () => {
  const long = ["1" + "0".repeat(400), "9".repeat(400)];
  expect(naturally(long)).toEqual([long[1], long[0]]);
  expect(naturally(["b01", "b1"])).toEqual(naturally(["b1", "b01"]));
});

test("whatever has a name is ordered by it", () => {
  const nodes = [{ name: "node12" }, { name: "node3" }];
  expect(byName(nodes, ({ name }) => name).map(({ name }) => name)).toEqual(["node3", "node12"]);
});

test("facts of a host are in the order in which people count", () => {
  const facts = { cpu10: 1, cpu2: 1, cpu1: 1 };
  expect(flattened(facts).map(({ name }) => name)).toEqual(["cpu1", "cpu2", "cpu10"]);
  const named = changes(facts, { cpu10: 2, cpu2: 2 }).map(({ name }) => name);
  expect(named).toEqual(["cpu1", "cpu2", "cpu10"]);
});
