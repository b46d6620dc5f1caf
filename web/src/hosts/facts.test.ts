import { expect, test } from "vitest";
import { changes, flattened } from "./facts";

test("nested facts get dotted names; absent ones stay absent", () => {
  expect(
    flattened({ smt: false, packages: { iperf3: "3.18" }, governor: null, cpus: [0, 1] }),
  ).toEqual([
    { name: "cpus", value: "0, 1" },
    { name: "governor", value: null },
    { name: "packages.iperf3", value: "3.18" },
    { name: "smt", value: "no" },
  ]);
});

test("only what differs is a change, and zero is not absent", () => {
  expect(changes({ a: 1, b: 0, c: "x" }, { a: 1, b: null, d: "y" })).toEqual([
    { name: "b", before: "0", after: null },
    { name: "c", before: "x", after: null },
    { name: "d", before: null, after: "y" },
  ]);
});
