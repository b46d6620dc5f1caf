/** The current view as a picture. */

import { drawnHeight, type Scene } from "../figure";
import type { Cut } from "../layout";
import { paint } from "../paint";

/** Browsers refuse canvases beyond this. */
const HIGHEST_PX = 16_000;
const RATIO = 2;

/** The whole drawing; null where the browser could not make it. */
export function png(scene: Scene, cut: Cut): Promise<Blob | null> {
  const height = drawnHeight(cut);
  const ratio = Math.min(RATIO, HIGHEST_PX / height);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(cut.pixels * ratio);
  canvas.height = Math.round(height * ratio);
  const ctx = canvas.getContext("2d");
  if (ctx === null) return Promise.resolve(null);
  paint(ctx, scene, cut, { top: 0, height, drawing: height, ratio });
  return new Promise((resolve) => {
    canvas.toBlob(resolve, "image/png");
  });
}
