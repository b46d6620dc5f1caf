/** The current view as an SVG file that needs nothing else: no script, no font, no style sheet. */

import { GREY, shade } from "../colour";
import {
  drawnHeight,
  fitted,
  FONT_PX,
  LABEL_FROM_PX,
  PADDING_PX,
  ROW_PX,
  rowTop,
  type Scene,
} from "../figure";
import { span, type Cut } from "../layout";
import { label } from "../paint";
import { NEW } from "../tree";
import { frameInWords } from "../words";

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text for XML: markup becomes letters, and what XML forbids becomes a replacement mark. */
export function escaped(text: string): string {
  return text
    .replace(/[\p{Cs}\ufffe\uffff]/gu, "\ufffd")
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, "\ufffd") // eslint-disable-line no-control-regex
    .replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? "");
}

const HATCHES = [
  ["new", "M-1 8L8 -1"],
  ["gone", "M-1 -1L8 8"],
] as const;

/** Widths of letters differ between fonts; this is on the safe side for a fixed-width one. */
const LETTER_PX = FONT_PX * 0.62;
const TITLE_PX = 24;

function frameSvg(scene: Scene, cut: Cut, node: number, unit: string): string {
  const { figure, look, palette, matching } = scene;
  const { tree, layout, names, whole } = figure;
  const { left, wide } = span(layout, cut, node);
  const top = rowTop(scene.view, layout.depth[node] ?? 0, drawnHeight(cut)) + TITLE_PX;
  const symbol = tree.symbol[node] ?? 0;
  const flag = tree.flags[node] ?? 0;
  const matched = matching?.[symbol] === 1;
  const fill = palette.fill[shade(tree, node, whole, look)] ?? palette.fill[GREY] ?? "";
  const place = `x="${left.toFixed(2)}" y="${top}" width="${wide.toFixed(2)}" height="${ROW_PX - 1}"`;
  const parts = [
    `<title>${escaped(frameInWords(tree, node, names[symbol] ?? "", unit, whole))}</title>`,
    `<rect ${place} fill="${fill}"/>`,
  ];
  if (flag !== 0) parts.push(`<rect ${place} fill="url(#${flag & NEW ? "new" : "gone"})"/>`);
  if (matched) {
    parts.push(
      `<rect x="${left.toFixed(2)}" y="${top + ROW_PX - 3}" width="${wide.toFixed(2)}" height="2" fill="${palette.match}"/>`,
    );
  }
  const letters = Math.floor((wide - 2 * PADDING_PX) / LETTER_PX);
  const text = wide < LABEL_FROM_PX ? "" : fitted(label(names, symbol, flag), letters);
  if (text !== "") {
    parts.push(
      `<text x="${(left + PADDING_PX).toFixed(2)}" y="${top + ROW_PX - 6}">${escaped(text)}</text>`,
    );
  }
  const faded = matching !== null && !matched ? ' opacity="0.35"' : "";
  return `<g${faded}>${parts.join("")}</g>`;
}

export function svg(scene: Scene, cut: Cut, title: string, unit: string): string {
  const { palette } = scene;
  const height = drawnHeight(cut) + TITLE_PX;
  const patterns = HATCHES.map(
    ([id, path]) =>
      `<pattern id="${id}" width="7" height="7" patternUnits="userSpaceOnUse"><path d="${path}" stroke="${palette.hatch}" stroke-width="1.5"/></pattern>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${cut.pixels}" height="${height}" viewBox="0 0 ${cut.pixels} ${height}" font-family="monospace" font-size="${FONT_PX}" fill="${palette.ink}">`,
    `<title>${escaped(title)}</title>`,
    `<defs>${patterns.join("")}</defs>`,
    `<rect width="100%" height="100%" fill="${palette.ground}"/>`,
    `<text x="4" y="16">${escaped(title)}</text>`,
    ...[...cut.above, ...cut.nodes].map((node) => frameSvg(scene, cut, node, unit)),
    "</svg>\n",
  ].join("\n");
}
