/** Draws a cut of a figure on a canvas. */

import { GREY, shade } from "./colour";
import {
  drawable,
  fitted,
  FONT_PX,
  LABEL_FROM_PX,
  PADDING_PX,
  ROW_PX,
  rowTop,
  type Scene,
} from "./figure";
import { span, type Cut } from "./layout";
import { GONE, NEW } from "./tree";

/** The part of the drawing that the canvas shows, in CSS pixels, and device pixels per CSS one. */
export interface Window {
  top: number;
  height: number;
  /** Of the whole drawing. */
  drawing: number;
  ratio: number;
}

const FADED = 0.22;
/** Added to the shade of a faded frame, so that a change of either sets the colour anew. */
const FADED_KEY = 4096;

/** A canvas clips text slowly; letters of a fixed-width font can be counted instead. */
const ASCII = /^[\x20-\x7e…·]*$/;

export function paint(ctx: CanvasRenderingContext2D, scene: Scene, cut: Cut, window: Window): void {
  const { ratio } = window;
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.globalAlpha = 1;
  ctx.fillStyle = scene.palette.ground;
  ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  const shown = inWindow(scene, cut, window);
  paintFrames(ctx, scene, cut, window, shown);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  paintLabels(ctx, scene, cut, window, shown);
  ctx.globalAlpha = 1;
}

/** The rows of the layout that the window shows, whole or in part. */
function inWindow({ figure, view }: Scene, cut: Cut, window: Window): number[] {
  const { depth } = figure.layout;
  const from = Math.floor(window.top / ROW_PX);
  const to = Math.ceil((window.top + window.height) / ROW_PX);
  const last = Math.ceil(window.drawing / ROW_PX);
  const [low, high] = view === "icicle" ? [from, to] : [last - to - 1, last - from];
  const seen = (node: number) => (depth[node] ?? 0) >= low && (depth[node] ?? 0) <= high;
  return [...cut.above.filter(seen), ...cut.nodes.filter(seen)];
}

function isFaded({ figure, matching }: Scene, node: number): boolean {
  return matching !== null && matching[figure.tree.symbol[node] ?? 0] !== 1;
}

function paintFrames(
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  cut: Cut,
  window: Window,
  shown: readonly number[],
): void {
  const { figure, palette, look, matching } = scene;
  const { tree, layout, whole } = figure;
  const { ratio } = window;
  const hatches = new Hatches(ctx, palette.hatch, ratio);
  const gap = Math.max(1, Math.round(ratio * 0.75));
  let last = -1;
  for (const node of shown) {
    const { left, wide } = span(layout, cut, node);
    const top = rowTop(scene.view, layout.depth[node] ?? 0, window.drawing) - window.top;
    // Whole device pixels: nothing is blurred, and filling them is cheap.
    const x = Math.round(left * ratio);
    const y = Math.round(top * ratio);
    const right = Math.round((left + wide) * ratio);
    const w = right - x > 3 * gap ? right - x - gap : Math.max(1, right - x);
    const h = Math.round(ROW_PX * ratio) - gap;
    const faded = isFaded(scene, node);
    const key = shade(tree, node, whole, look) + (faded ? FADED_KEY : 0);
    if (key !== last) {
      last = key;
      ctx.globalAlpha = faded ? FADED : 1;
      ctx.fillStyle = palette.fill[key % FADED_KEY] ?? palette.fill[GREY] ?? "";
    }
    ctx.fillRect(x, y, w, h);
    const flag = tree.flags[node] ?? 0;
    const marked = matching !== null && !faded;
    if (flag === 0 && !marked) continue;
    if (flag !== 0 && w > 3) hatches.fill(flag, x, y, w, h);
    if (marked) {
      ctx.fillStyle = palette.match;
      ctx.fillRect(x, y + h - 2 * gap, w, 2 * gap);
    }
    last = -1;
  }
}

/** Slanted one way for new frames, the other way for gone ones. */
class Hatches {
  private readonly made = new Map<number, CanvasPattern | null>();

  constructor(
    private readonly ctx: CanvasRenderingContext2D,
    private readonly colour: string,
    private readonly ratio: number,
  ) {}

  fill(flag: number, x: number, y: number, w: number, h: number): void {
    const kind = flag & NEW ? NEW : GONE;
    const pattern = this.made.get(kind) ?? this.make(kind);
    this.made.set(kind, pattern);
    if (pattern === null) return;
    this.ctx.fillStyle = pattern;
    this.ctx.fillRect(x, y, w, h);
  }

  private make(kind: number): CanvasPattern | null {
    const tile = document.createElement("canvas");
    const size = Math.round(7 * this.ratio);
    tile.width = tile.height = size;
    const ctx = tile.getContext("2d");
    if (ctx === null) return null;
    ctx.strokeStyle = this.colour;
    ctx.lineWidth = 1.5 * this.ratio;
    ctx.beginPath();
    for (const shift of [-size, 0, size]) {
      ctx.moveTo(shift - 1, kind === NEW ? size + 1 : -1);
      ctx.lineTo(shift + size + 1, kind === NEW ? -1 : size + 1);
    }
    ctx.stroke();
    return this.ctx.createPattern(tile, "repeat");
  }
}

function paintLabels(
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  cut: Cut,
  window: Window,
  shown: readonly number[],
): void {
  const { figure, palette, view, look } = scene;
  const { tree, layout, names, whole } = figure;
  ctx.font = `${FONT_PX}px ${palette.font}`;
  ctx.textBaseline = "middle";
  ctx.fillStyle = palette.ink;
  const letter = ctx.measureText("0").width;
  for (const node of shown) {
    const { left, wide } = span(layout, cut, node);
    if (wide < LABEL_FROM_PX) continue;
    const room = wide - 2 * PADDING_PX;
    const flag = tree.flags[node] ?? 0;
    const text = labelIn(ctx, label(names, tree.symbol[node] ?? 0, flag), room, letter);
    if (text === "") continue;
    const top = rowTop(view, layout.depth[node] ?? 0, window.drawing) - window.top;
    const faded = isFaded(scene, node) ? 0.5 : 1;
    if (flag !== 0 && faded === 1) {
      // Hatching under letters makes them hard to read.
      ctx.globalAlpha = 1;
      ctx.fillStyle = palette.fill[shade(tree, node, whole, look)] ?? "";
      ctx.fillRect(left + PADDING_PX - 2, top + 2, ctx.measureText(text).width + 4, ROW_PX - 5);
      ctx.fillStyle = palette.ink;
    }
    if (ctx.globalAlpha !== faded) ctx.globalAlpha = faded;
    ctx.fillText(text, left + PADDING_PX, top + ROW_PX / 2);
  }
}

/** New and gone are words too: the hatching alone would leave it to the eye. */
export function label(names: readonly string[], symbol: number, flag: number): string {
  const name = drawable(names[symbol] ?? "");
  if (flag === 0) return name;
  return `${flag & NEW ? "new" : "gone"}: ${name}`;
}

function labelIn(ctx: CanvasRenderingContext2D, text: string, room: number, letter: number) {
  const letters = Math.floor(room / letter);
  if (ASCII.test(text)) return fitted(text, letters);
  let size = Math.min(text.length, letters);
  let short = fitted(text, size);
  while (size > 1 && ctx.measureText(short).width > room) short = fitted(text, --size);
  return ctx.measureText(short).width > room ? "" : short;
}
