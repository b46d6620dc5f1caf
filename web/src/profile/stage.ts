/** The canvas in its scrolling box. Redraws by itself on scrolling; knows nothing of React. */

import { drawnHeight, ROW_PX, rowTop, type Figure, type Scene } from "./figure";
import { cut, frameAt, span, type Cut } from "./layout";
import { paint } from "./paint";

export interface Parts {
  /** Scrolls. */
  box: HTMLElement;
  /** As high as the drawing; the canvas sticks to the visible part of it. */
  tall: HTMLElement;
  canvas: HTMLCanvasElement;
  /** Rings around a frame: they move without a redraw. */
  hovered: HTMLElement;
  chosen: HTMLElement;
}

const ROWS_OF_CALLERS = 3;
/** A zoomed frame may have more rows than the whole graph shows: they need some room. */
const FEWEST_ROWS = 24;

export class Stage {
  private scene: Scene | null = null;
  private cut: Cut | null = null;
  private height = 0;
  /** What the box has inside; read seldom, for reading may lay out the whole page. */
  private measured = { width: 0, height: 0 };
  private marked: number | null = null;

  constructor(private readonly parts: Parts) {}

  /** Draws; lays out anew only what changed. */
  show(scene: Scene, zoom: number): void {
    const before = this.scene;
    this.scene = scene;
    const redrawn = before?.figure === scene.figure && before.view === scene.view;
    if (!redrawn || this.cut?.zoom !== zoom) this.place(scene, zoom, !redrawn);
    this.paint();
  }

  /** Lays out the zoomed frame in the box; `anew` if the box may have another size than before. */
  private place({ figure }: Scene, zoom: number, anew: boolean): void {
    const { box } = this.parts;
    const { tree, layout } = figure;
    if (anew) {
      // Written before anything is read: each reading after a writing lays out the page.
      set(box, "height", rowsAtFirst(figure, zoom) * ROW_PX);
      this.measured = { width: box.clientWidth, height: box.clientHeight };
    }
    const { width, height } = this.measured;
    const scrolled = !anew && this.height > height;
    this.cut = cut(tree, layout, zoom, width);
    this.fill(this.cut);
    const scrolls = this.height > height;
    const left = scrolled === scrolls ? width : box.clientWidth;
    if (left !== width) {
      // The scroll bar came or went: lay out once more for the width that is left.
      this.measured = { width: left, height };
      this.cut = cut(tree, layout, zoom, left);
      this.fill(this.cut);
    }
    this.reveal(zoom, ROWS_OF_CALLERS);
  }

  /** Makes the drawing as high as its rows, or as the box if that is higher. */
  private fill(drawn: Cut): void {
    this.height = Math.max(drawnHeight(drawn), this.measured.height);
    set(this.parts.tall, "height", this.height);
  }

  /** Draws again if the box has another size than before. */
  resized(): void {
    const { box } = this.parts;
    const { width, height } = this.measured;
    if (box.clientWidth === width && box.clientHeight === height) return;
    if (this.scene === null || this.cut === null) return;
    this.place(this.scene, this.cut.zoom, true);
    this.paint();
    this.ring("chosen", this.marked);
  }

  /** Paints what the box shows now. */
  paint(): void {
    if (this.scene === null || this.cut === null) return;
    const { box, canvas } = this.parts;
    const { width, height } = this.measured;
    const ratio = window.devicePixelRatio;
    fit(canvas, width, height, ratio);
    const ctx = canvas.getContext("2d", { alpha: false });
    if (ctx === null) return;
    const scrolled = this.height > height ? box.scrollTop : 0;
    const top = Math.max(0, Math.min(scrolled, this.height - height));
    paint(ctx, this.scene, this.cut, { top, height, drawing: this.height, ratio });
  }

  scrollTo(top: number): void {
    this.parts.box.scrollTop = top;
  }

  /** The frame under a place on the screen. */
  at(clientX: number, clientY: number): number | null {
    if (this.scene === null || this.cut === null) return null;
    const { tall } = this.parts;
    const edge = tall.getBoundingClientRect();
    const down = clientY - edge.top;
    const { figure, view } = this.scene;
    const row = Math.floor((view === "icicle" ? down : this.height - down) / ROW_PX);
    return row < 0 ? null : frameAt(figure.layout, this.cut, row, clientX - edge.left);
  }

  /** Puts the ring around a frame, or takes it away. */
  ring(which: "hovered" | "chosen", node: number | null): void {
    const ring = this.parts[which];
    if (which === "chosen") this.marked = node;
    const box = node === null ? null : this.boxOf(node);
    ring.hidden = box === null;
    if (box === null) return;
    ring.style.translate = `${box.left}px ${box.top}px`;
    ring.style.width = `${box.wide}px`;
  }

  /** Where a frame lies in the drawing; null for one outside the zoomed frame. */
  private boxOf(node: number): { left: number; wide: number; top: number } | null {
    if (this.scene === null || this.cut === null) return null;
    const { figure, view } = this.scene;
    const { zoom, above } = this.cut;
    const inside = node >= zoom && node < (figure.layout.end[zoom] ?? 0);
    if (!inside && !above.includes(node)) return null;
    const { left, wide } = span(figure.layout, this.cut, node);
    const top = rowTop(view, figure.layout.depth[node] ?? 0, this.height);
    if (top < 0 || top >= this.height) return null;
    return { left, wide: Math.max(2, wide), top };
  }

  /** Scrolls a frame into the box, with some rows of its callers. */
  reveal(node: number, rows = 1): void {
    const { box } = this.parts;
    const place = this.height > this.measured.height ? this.boxOf(node) : null;
    if (place === null) return;
    const around = rows * ROW_PX;
    const [first, last] = [place.top - around, place.top + ROW_PX + around];
    const flame = this.scene?.view === "flame";
    // A zoomed frame goes to the side of the root, to leave room for what it calls.
    if (rows > 1) box.scrollTop = flame ? last - box.clientHeight : first;
    else if (first < box.scrollTop) box.scrollTop = first;
    else if (last > box.scrollTop + box.clientHeight) box.scrollTop = last - box.clientHeight;
  }
}

/** Rows of the box: without those that only frames too narrow to draw would fill. */
function rowsAtFirst({ tree, layout }: Figure, zoom: number): number {
  // Of the screen, not of the box: that would have to be laid out first.
  const drawn = cut(tree, layout, zoom, window.screen.width).rows;
  return Math.min(layout.deepest + 1, Math.max(drawn, FEWEST_ROWS));
}

/** A length in pixels; the same length again is not written. */
function set(element: HTMLElement, side: "width" | "height", pixels: number): void {
  const length = `${pixels}px`;
  if (element.style[side] !== length) element.style[side] = length;
}

/** Setting a canvas' size empties it, even to the same size. */
function fit(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): void {
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across) canvas.width = across;
  if (canvas.height !== down) canvas.height = down;
  set(canvas, "width", width);
  set(canvas, "height", height);
}
