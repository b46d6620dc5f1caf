import { expect, test } from "vitest";
import { tableSvg, type DrawnTable } from "./table-drawing";

const COLOURS = {
  ...{ ink: "#000", soft: "#555", line: "#ccc", ground: "#fff", better: "#00f", worse: "#f00" },
};
const cell = (text: string) => ({ lines: [{ text }] });

function heightIn(svg: string): number {
  return Number(/height="(\d+)"/.exec(svg)?.[1]);
}

test("all rows are drawn, however many there are", () => {
  const rows = Array.from({ length: 3000 }, (_, at) => ({ cells: [cell(`case ${at}`)] }));
  const svg = tableSvg({ columns: [cell("Case")], rows }, ["title"], COLOURS);
  expect(svg.match(/>case \d+</g)).toHaveLength(3000);
  expect(heightIn(svg)).toBeGreaterThan(3000 * 16);
});

test("names of strangers are text", () => {
  const svg = tableSvg(
    { columns: [cell("a")], rows: [{ heading: "<script>" }, { cells: [cell('"&<b>')] }] },
    ["<img>"],
    COLOURS,
  );
  expect(svg).not.toMatch(/<script>|<b>|<img>/);
  expect(svg).toContain("&lt;script&gt;");
});

test("a column is as wide as its longest text, and a verdict has its colour", () => {
  const table: DrawnTable = {
    columns: [cell("Case"), cell("x")],
    rows: [
      {
        cells: [
          cell("a".repeat(50)),
          {
            lines: [{ text: "+5 % worse", tone: "worse" }],
            graphic: {
              width: 140,
              height: 16,
              marks: [{ kind: "box", x: 1, y: 2, width: 3, height: 4, tone: "worse" }],
            },
          },
        ],
      },
    ],
  };
  const svg = tableSvg(table, ["title"], COLOURS);
  const second = Number(/<text x="([\d.]+)"[^>]*>\+5 % worse/.exec(svg)?.[1]);
  expect(second).toBeGreaterThan(50 * 6);
  expect(svg).toContain('fill="#f00"');
  expect(svg).toMatch(
    /<rect x="[\d.]+" y="[\d.]+" width="3" height="4" fill="#f00" opacity="0.35"/,
  );
});
