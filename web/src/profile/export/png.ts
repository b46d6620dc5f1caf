/** The current view as a picture. */

import { drawnHeight, FONT_PX, type Scene } from "../figure";
import type { Cut } from "../layout";
import { paint } from "../paint";

/** Browsers refuse canvases beyond this. */
const HIGHEST_PX = 16_000;
const RATIO = 2;
const LINE_PX = 20;

/** The whole drawing below *lines*, its title and what its colours mean; null where the browser could not make it. */
export function png(scene: Scene, cut: Cut, lines: string[]): Promise<Blob | null> {
  const drawing = drawnHeight(cut);
  const head = lines.length * LINE_PX + 4;
  const height = drawing + head;
  const ratio = Math.min(RATIO, HIGHEST_PX / height);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(cut.pixels * ratio);
  canvas.height = Math.round(height * ratio);
  const ctx = canvas.getContext("2d");
  if (ctx === null) return Promise.resolve(null);
  const frames = document.createElement("canvas");
  frames.width = canvas.width;
  frames.height = Math.round(drawing * ratio);
  const inner = frames.getContext("2d");
  if (inner === null) return Promise.resolve(null);
  paint(inner, scene, cut, { top: 0, height: drawing, drawing, ratio });
  ctx.fillStyle = scene.palette.ground;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.fillStyle = scene.palette.ink;
  ctx.font = `${FONT_PX * ratio}px monospace`;
  for (const [at, line] of lines.entries())
    ctx.fillText(line, 4 * ratio, (16 + at * LINE_PX) * ratio);
  ctx.drawImage(frames, 0, Math.round(head * ratio));
  return new Promise((resolve) => {
    canvas.toBlob(resolve, "image/png");
  });
}
