/** A matrix with the interval of each cell, as an SVG file. Pure. */

import type { Colours, Tone } from "./colours";
import { escaped } from "./escape";

/** A part of a small drawing, in pixels from its upper left corner. */
export type Mark =
  | { kind: "line"; x1: number; y1: number; x2: number; y2: number; tone: Tone; width?: number }
  | { kind: "box"; x: number; y: number; width: number; height: number; tone: Tone }
  | { kind: "tip"; x: number; y: number; towards: "left" | "right"; tone: Tone };

export interface Graphic {
  width: number;
  height: number;
  marks: Mark[];
}

export interface Text {
  text: string;
  tone?: Tone;
  bold?: boolean;
}

export interface DrawnCell {
  lines: Text[];
  /** Below the lines. */
  graphic?: Graphic;
}

/** A heading goes over all columns. */
export type DrawnRow = { heading: string } | { cells: DrawnCell[] };

export interface DrawnTable {
  columns: DrawnCell[];
  rows: DrawnRow[];
}

const FONT_PX = 12;
const LINE_PX = 16;
const PAD_X = 10;
const PAD_Y = 6;
const MARGIN_PX = 12;
const TITLE_PX = 20;
/** Of a letter, on the safe side for a sans-serif font. */
const LETTER_PX = FONT_PX * 0.6;

function widthOf({ lines, graphic }: DrawnCell): number {
  const longest = lines.reduce((most, { text }) => Math.max(most, text.length), 0);
  return Math.max(Math.ceil(longest * LETTER_PX), graphic?.width ?? 0) + 2 * PAD_X;
}

function heightOf({ lines, graphic }: DrawnCell): number {
  return lines.length * LINE_PX + (graphic === undefined ? 0 : graphic.height + 4) + 2 * PAD_Y;
}

const TIPS = {
  left: "l6 -4v8z",
  right: "l-6 -4v8z",
} as const;

function markSvg(mark: Mark, left: number, top: number, colours: Colours): string {
  const colour = colours[mark.tone];
  switch (mark.kind) {
    case "line":
      return `<line x1="${left + mark.x1}" x2="${left + mark.x2}" y1="${top + mark.y1}" y2="${top + mark.y2}" stroke="${colour}" stroke-width="${mark.width ?? 1}"/>`;
    case "box":
      return `<rect x="${left + mark.x}" y="${top + mark.y}" width="${mark.width}" height="${mark.height}" fill="${colour}" opacity="0.35"/>`;
    case "tip":
      return `<path d="M${left + mark.x} ${top + mark.y}${TIPS[mark.towards]}" fill="${colour}"/>`;
  }
}

function cellSvg(cell: DrawnCell, left: number, top: number, colours: Colours): string {
  const x = left + PAD_X;
  const words = cell.lines.map(({ text, tone = "ink", bold }, at) => {
    const y = top + PAD_Y + (at + 1) * LINE_PX - 4;
    const weight = bold ? ' font-weight="600"' : "";
    return `<text x="${x}" y="${y}" fill="${colours[tone]}"${weight}>${escaped(text)}</text>`;
  });
  const below = top + PAD_Y + cell.lines.length * LINE_PX + 2;
  const marks = cell.graphic?.marks.map((mark) => markSvg(mark, x, below, colours)) ?? [];
  return [...words, ...marks].join("");
}

/** *lines* stand above the table, the first one is its title. */
export function tableSvg({ columns, rows }: DrawnTable, lines: string[], colours: Colours): string {
  const body = rows.flatMap((row) => ("cells" in row ? [row.cells] : []));
  const widths = columns.map((_, at) =>
    [columns, ...body].reduce((most, cells) => {
      const cell = cells[at];
      return cell === undefined ? most : Math.max(most, widthOf(cell));
    }, 0),
  );
  const lefts = widths.map((_, at) =>
    widths.slice(0, at).reduce((sum, width) => sum + width, MARGIN_PX),
  );
  const written = lines.map((line, at) => line.length * (at === 0 ? 8.5 : LETTER_PX));
  const across = Math.ceil(
    Math.max(
      widths.reduce((sum, width) => sum + width, 0),
      ...written,
    ) +
      2 * MARGIN_PX,
  );
  const parts: string[] = [];
  let top = MARGIN_PX + lines.length * TITLE_PX;
  const put = (cells: readonly DrawnCell[], headed: boolean) => {
    parts.push(...cells.map((cell, at) => cellSvg(cell, lefts[at] ?? 0, top, colours)));
    top += cells.reduce((most, cell) => Math.max(most, heightOf(cell)), 0);
    parts.push(
      `<line x1="${MARGIN_PX}" x2="${across - MARGIN_PX}" y1="${top}" y2="${top}" stroke="${colours.line}" stroke-width="${headed ? 1.5 : 0.5}"/>`,
    );
  };
  put(columns, true);
  for (const row of rows)
    put("cells" in row ? row.cells : [{ lines: [{ text: row.heading, bold: true }] }], false);
  const down = top + MARGIN_PX;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${across}" height="${down}" viewBox="0 0 ${across} ${down}" font-family="sans-serif" font-size="${FONT_PX}">`,
    `<title>${escaped(lines.join("; "))}</title>`,
    `<rect width="100%" height="100%" fill="${colours.ground}"/>`,
    ...lines.map(
      (line, at) =>
        `<text x="${MARGIN_PX}" y="${MARGIN_PX + 12 + at * TITLE_PX}" font-size="${at === 0 ? 15 : 12}" font-weight="${at === 0 ? 600 : 400}" fill="${colours.ink}">${escaped(line)}</text>`,
    ),
    ...parts,
    "</svg>\n",
  ].join("\n");
}
