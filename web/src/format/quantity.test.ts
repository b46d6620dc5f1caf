import { describe, expect, test } from "vitest";
import {
  bytes,
  commonScale,
  counted,
  duration,
  fixed,
  interval,
  listed,
  percent,
  quantity,
  scaled,
  spanOfTime,
} from "./quantity";

const plain = (text: string) => text.replaceAll("\u202f", " ");

describe("a quantity is shown in the unit a person would choose", () => {
  test.each([
    [1.7741e9, "bit/s", "1.774 Gbit/s"],
    [108.34e6, "bit/s", "108.3 Mbit/s"],
    [999, "bit/s", "999.0 bit/s"],
    [3.712e-7, "s", "371.2 ns"],
    [371.2, "ns", "371.2 ns"],
    [1100, "ns", "1.100 µs"],
    [0.00029, "s", "290.0 µs"],
    [420, "ns/call", "420.0 ns/call"],
    [12, "count", "12"],
    [12.4, "count", "12.40"],
    [0.83, "percent", "0.830 %"],
    [0, "s", "0 s"],
    [1234567, "count", "1 234 567"],
    [5, "cycles", "5.000 cycles"],
  ])("%f %s is %s", (value, unit, text) => {
    expect(plain(quantity(value, unit))).toBe(text);
  });

  test("values side by side share the scale of the largest", () => {
    const scale = commonScale([2.32e9, 108e6], "bit/s");
    expect(scale.label).toBe("Gbit/s");
    expect(scaled(108e6, scale)).toBe("0.108");
    expect(listed([2.32e9, 108e6], scale)).toBe("2.320  0.108");
  });
});

describe("percentages carry their sign", () => {
  test.each([
    [18.84, "+18.8%"],
    [-3.44, "\u22123.4%"],
    [-0.044, "\u22120.04%"],
    [0, "0.00%"],
    [-0.001, "0.00%"],
    [1940.2, "+1940%"],
  ])("%f is %s", (value, text) => {
    expect(plain(percent(value))).toBe(text);
  });

  test("an interval's end just off zero is not shown as zero", () => {
    expect(interval(-8.04, -0.03)).toBe("\u22128.04, \u22120.03");
  });

  test("an interval that says nothing is not spelled out", () => {
    expect(interval(-100, 6.2e6)).toBe("\u2212100, >+1000");
    expect(interval(1200, 1500)).toBe("+1200, +1500");
  });

  test("an interval keeps one number of decimals for both ends", () => {
    expect(interval(-0.5, 12.34)).toBe("\u22120.5, +12.3");
    expect(interval(-0.51, 0.2)).toBe("\u22120.51, +0.20");
  });
});

test("a number that is not finite is named, not hidden", () => {
  expect(fixed(Number.NaN, 1)).toBe("not a number");
});

test("a time left is a range that widens outwards to whole units", () => {
  expect(spanOfTime(10, 40)).toBe("under a minute");
  expect(spanOfTime(30, 70)).toBe("about 1–2 min");
  expect(spanOfTime(250, 400)).toBe("about 4–7 min");
  expect(spanOfTime(300, 300)).toBe("about 5 min");
  expect(spanOfTime(5400, 9000)).toBe("about 1.5–2.5 h");
  expect(spanOfTime(-5, -1)).toBe("under a minute");
});

test("durations, bytes and counts read as words", () => {
  expect(duration(34.4)).toBe("34 s");
  expect(duration(720)).toBe("12 min");
  expect(duration(4800)).toBe("1 h 20 min");
  expect(duration(3600)).toBe("1 h");
  expect(duration(200000)).toBe("2 d");
  expect(plain(bytes(4123168768))).toBe("3.8 GiB");
  expect(plain(bytes(512))).toBe("512 B");
  expect(counted(1, "boot")).toBe("1 boot");
  expect(counted(0, "boot")).toBe("0 boots");
});
