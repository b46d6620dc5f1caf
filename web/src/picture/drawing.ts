/** A drawing of the page as a file of its own: it needs neither style sheet nor page. */

import { escaped } from "./escape";

/** What a drawing takes from the page's style sheets. */
const STYLES = [
  ...["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity"],
  ...["opacity", "font-family", "font-size", "font-weight", "text-anchor", "display"],
];
const LINE_PX = 20;
const MARGIN_PX = 12;

/** The drawing with its own styles, below the lines that say what it is. */
export function standalone(drawn: SVGSVGElement, lines: string[]): string {
  const [width, height] = [drawn.clientWidth, drawn.clientHeight];
  const head = MARGIN_PX + lines.length * LINE_PX;
  const copy = drawn.cloneNode(true) as SVGSVGElement;
  dress(drawn, copy);
  for (const link of copy.querySelectorAll("a")) link.removeAttribute("href");
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("x", String(MARGIN_PX));
  copy.setAttribute("y", String(head));
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const page = getComputedStyle(document.body);
  const [across, down] = [width + 2 * MARGIN_PX, height + head + MARGIN_PX];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${across}" height="${down}" viewBox="0 0 ${across} ${down}">`,
    `<title>${escaped(lines.join("; "))}</title>`,
    `<rect width="100%" height="100%" fill="${page.backgroundColor}"/>`,
    ...lines.map(
      (line, at) =>
        `<text x="${MARGIN_PX}" y="${MARGIN_PX + 12 + at * LINE_PX}" font-family="sans-serif" font-size="${at === 0 ? 15 : 12}" font-weight="${at === 0 ? 600 : 400}" fill="${page.color}">${escaped(line)}</text>`,
    ),
    new XMLSerializer().serializeToString(copy),
    "</svg>\n",
  ].join("\n");
}

function dress(from: Element, to: Element): void {
  const style = getComputedStyle(from);
  for (const name of STYLES) {
    const value = style.getPropertyValue(name);
    if (value !== "") to.setAttribute(name, value);
  }
  to.removeAttribute("class");
  to.removeAttribute("tabindex");
  for (const [at, child] of [...from.children].entries()) {
    const copy = to.children[at];
    if (copy !== undefined) dress(child, copy);
  }
}

const RATIO = 2;
/** Browsers refuse canvases beyond this. */
const HIGHEST_PX = 16_000;

/** The same as a picture; null where the browser could not make it, or it would not be readable. */
export async function rasterised(svg: string): Promise<Blob | null> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const [width, height] = [image.naturalWidth, image.naturalHeight];
  const ratio = Math.min(RATIO, HIGHEST_PX / Math.max(width, height));
  if (ratio < 1) return null;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const ctx = canvas.getContext("2d");
  if (ctx === null) return null;
  ctx.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => {
    canvas.toBlob(resolve, "image/png");
  });
}
