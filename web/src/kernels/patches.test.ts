import { expect, test } from "vitest";
import { patchesIn } from "./patches";

const ONE = `From ${"a".repeat(40)} Mon Sep 17 00:00:00 2001\nSubject: one\n\ndiff\n`;
const TWO = `From ${"b".repeat(40)} Mon Sep 17 00:00:00 2001\nSubject: two\n\nFrom here on\n`;

test("patches that follow each other are taken apart", () => {
  expect(patchesIn(ONE + TWO)).toEqual([ONE, TWO]);
  expect(patchesIn(`\n${ONE}`)).toEqual([ONE]);
});

test("a diff alone is one patch, and spaces are none", () => {
  expect(patchesIn("--- a/x\n+++ b/x")).toEqual(["--- a/x\n+++ b/x\n"]);
  expect(patchesIn(" \n ")).toEqual([]);
});
