/** The tokens a canvas needs, as colours: a canvas does not understand var() and light-dark(). */

import { useSyncExternalStore } from "react";
import { EVEN, SHADES } from "./colour";

export interface Palette {
  /** By shade. */
  fill: readonly string[];
  ground: string;
  ink: string;
  faint: string;
  hatch: string;
  match: string;
  font: string;
}

/** The token of each shade, in their order. */
export const SHADE_TOKENS: readonly string[] = Array.from({ length: SHADES }, (_, shade) => {
  if (shade === EVEN) return "--diff-even";
  if (shade > EVEN * 2) return "--diff-grey";
  return shade < EVEN ? `--diff-less-${EVEN - shade}` : `--diff-more-${shade - EVEN}`;
});

export function readPalette(): Palette {
  const probe = document.createElement("span");
  document.body.append(probe);
  const colour = (token: string) => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
  const palette = {
    fill: SHADE_TOKENS.map(colour),
    ground: colour("--sunken"),
    ink: colour("--diff-ink"),
    faint: colour("--ink-faint"),
    hatch: colour("--diff-hatch"),
    match: colour("--accent"),
    font: getComputedStyle(probe).getPropertyValue("--mono"),
  };
  probe.remove();
  return palette;
}

let current: Palette | null = null;

/** Calls back when the theme in force is another; returns how to end that. */
export function watchTheme(changed: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = new MutationObserver(changed);
  system.addEventListener("change", changed);
  chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    system.removeEventListener("change", changed);
    chosen.disconnect();
  };
}

function watch(changed: () => void): () => void {
  return watchTheme(() => {
    current = null;
    changed();
  });
}

/** The palette of the theme in force; read once per theme. */
export function usePalette(): Palette {
  return useSyncExternalStore(watch, () => (current ??= readPalette()));
}
