import { expect, test } from "vitest";
import type { BisectionProposal } from "../api/types";
import {
  isNothingToSearch,
  parametersFrom,
  parametersOf,
  proposalAsked,
  requestOf,
} from "./request";

const asked = (text: string) => proposalAsked(new URLSearchParams(text));

test("an address names a regression or a whole cell, and else nothing", () => {
  expect(asked("regression=7")).toEqual({ regression: 7 });
  expect(asked("experiment=3&case=4&host=h&arm=a&metric=m")).toEqual({
    experiment: 3,
    case: 4,
    host: "h",
    arm: "a",
    metric: "m",
  });
  for (const text of ["", "regression=-1", "regression=x", "experiment=3&case=4&host=h&arm=a"])
    expect(asked(text)).toBeNull();
});

test("parameters come back as they went, numbers as numbers", () => {
  const parameters = { test: "basic", loops: 300000, share: 0.5, word: "1e9" };
  expect(parametersFrom(parametersOf(parameters))).toEqual(parameters);
  expect(parametersFrom("  ")).toEqual({});
  expect(parametersFrom("a=b=c, bare")).toEqual({ a: "b=c", bare: "" });
});

test("only what it goes over is sent", () => {
  const values = { over: "arms", series: "toys", arms: "arms: []", hosts: "a, b", boots: "40" };
  expect(requestOf(values, 5)).toMatchObject({
    series: "",
    arms: "arms: []",
    hosts: ["a", "b"],
    boots: 40,
    regression: 5,
  });
  expect(requestOf({ ...values, over: "series" }, null)).toMatchObject({
    series: "toys",
    arms: "",
    regression: null,
  });
});

test("what was proposed with one change is no search until more is named", () => {
  const of = (changes: number | null) =>
    ({ arms: "arms: [a, b]", series: "", revision: "", changes }) as BisectionProposal;
  const proposed = { over: "arms", arms: "arms: [a, b]\n", series: "", revision: "" };
  expect(isNothingToSearch(proposed, of(1))).toBe(true);
  expect(isNothingToSearch({ ...proposed, arms: "arms: [a, c, b]" }, of(1))).toBe(false);
  expect(isNothingToSearch({ ...proposed, over: "series", series: "bhb" }, of(1))).toBe(false);
  expect(isNothingToSearch(proposed, of(2))).toBe(false);
  expect(isNothingToSearch(proposed, of(null))).toBe(false);
});
