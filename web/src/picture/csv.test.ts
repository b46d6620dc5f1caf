import { expect, test } from "vitest";
import { csv, withUnit } from "./csv";

test("the header comes first, lines end as RFC 4180 says", () => {
  expect(csv({ columns: ["a", "b (ns)"], rows: [["x", 1]] })).toBe("a,b (ns)\r\nx,1\r\n");
  expect(csv({ columns: ["a"], rows: [] })).toBe("a\r\n");
});

test("quotes, commas and line ends are quoted", () => {
  const rows = [['say "x"'], ["a,b"], ["a\nb"], ["plain"]];
  expect(csv({ columns: ["a"], rows })).toBe('a\r\n"say ""x"""\r\n"a,b"\r\n"a\nb"\r\nplain\r\n');
});

test("text that a spreadsheet would run gets an apostrophe, a negative number none", () => {
  const rows = [["=1+1"], ["+1"], ["-1"], ["@x"], ["\tx"], [-1.5], ["a=b"]];
  const lines = csv({ columns: ["=h"], rows }).split("\r\n");
  expect(lines.slice(0, -1)).toEqual([
    ...["'=h", "'=1+1", "'+1", "'-1", "'@x", "'\tx", "-1.5", "a=b"],
  ]);
});

test("numbers keep all their digits; what is no figure is empty", () => {
  const rows = [[0.1 + 0.2, null, NaN, true, false]];
  expect(csv({ columns: ["a", "b", "c", "d", "e"], rows })).toContain(
    "0.30000000000000004,,,yes,no\r\n",
  );
});

test("a name has its unit, where there is one", () => {
  expect([withUnit("mean", "ns"), withUnit("mean", "")]).toEqual(["mean (ns)", "mean"]);
});
