/** A tree with its layout and its words: all that a drawing of it needs. */

import type { Look } from "./colour";
import { layout, type Cut, type Layout, type Width } from "./layout";
import type { Palette } from "./palette";
import type { Tree } from "./tree";

export interface Figure {
  tree: Tree;
  layout: Layout;
  names: readonly string[];
  /** What differences are set against, in the profile's unit. */
  whole: number;
}

export function figure(tree: Tree, names: readonly string[], width: Width, whole: number): Figure {
  return { tree, names, whole, layout: layout(tree, width) };
}

export const VIEWS = ["flame", "icicle"] as const;
/** Root at the bottom, or on top. */
export type View = (typeof VIEWS)[number];

export interface Scene {
  figure: Figure;
  view: View;
  look: Look;
  palette: Palette;
  /** 1 for each symbol that matches the search; null while nothing is searched. */
  matching: Uint8Array | null;
}

export const ROW_PX = 18;
export const FONT_PX = 11.5;
/** Below this width no letter of a name would be left. */
export const LABEL_FROM_PX = 24;
export const PADDING_PX = 4;

/** The top of a row in a drawing that is `height` pixels high. */
export function rowTop(view: View, row: number, height: number): number {
  return view === "icicle" ? row * ROW_PX : height - (row + 1) * ROW_PX;
}

export function drawnHeight({ rows }: Cut): number {
  return rows * ROW_PX;
}

const PLAIN = /^[\x20-\x7e]*$/;

/** Text that may be drawn: without what steers a line or turns its direction around. */
export function drawable(text: string): string {
  // Nearly every name is plain, and there are thousands in a drawing.
  if (PLAIN.test(text)) return text;
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\u00b7");
}

/** The label that fits into `letters` letters, shortened with an ellipsis; "" if none does. */
export function fitted(text: string, letters: number): string {
  if (text.length <= letters) return text;
  return letters < 2 ? "" : `${text.slice(0, letters - 1)}…`;
}
