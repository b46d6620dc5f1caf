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
import { escaped } from "../../picture/escape";
import { label } from "../paint";
import { NEW } from "../tree";
import { frameInWords } from "../words";

const HATCHES = [
  ["new", "M-1 8L8 -1"],
  ["gone", "M-1 -1L8 8"],
] as const;

/** Widths of letters differ between fonts; this is on the safe side for a fixed-width one. */
const LETTER_PX = FONT_PX * 0.62;
const LINE_PX = 20;

function frameSvg(scene: Scene, cut: Cut, node: number, unit: string, head: number): string {
  const { figure, look, palette, matching } = scene;
  const { tree, layout, names, whole } = figure;
  const { left, wide } = span(layout, cut, node);
  const top = rowTop(scene.view, layout.depth[node] ?? 0, drawnHeight(cut)) + head;
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

/** *lines* stand above the frames: the title, and what the colours mean. */
export function svg(scene: Scene, cut: Cut, lines: string[], unit: string): string {
  const { palette } = scene;
  const head = lines.length * LINE_PX + 4;
  const height = drawnHeight(cut) + head;
  const patterns = HATCHES.map(
    ([id, path]) =>
      `<pattern id="${id}" width="7" height="7" patternUnits="userSpaceOnUse"><path d="${path}" stroke="${palette.hatch}" stroke-width="1.5"/></pattern>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${cut.pixels}" height="${height}" viewBox="0 0 ${cut.pixels} ${height}" font-family="monospace" font-size="${FONT_PX}" fill="${palette.ink}">`,
    `<title>${escaped(lines.join("; "))}</title>`,
    `<defs>${patterns.join("")}</defs>`,
    `<rect width="100%" height="100%" fill="${palette.ground}"/>`,
    ...lines.map((line, at) => `<text x="4" y="${16 + at * LINE_PX}">${escaped(line)}</text>`),
    ...[...cut.above, ...cut.nodes].map((node) => frameSvg(scene, cut, node, unit, head)),
    "</svg>\n",
  ].join("\n");
}
