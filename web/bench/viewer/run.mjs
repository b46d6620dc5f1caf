// The viewer beside d3-flame-graph on the same trees, in headless Chromium; prints a table.
// Each page is loaded anew, so that the first painting is that of a cold page.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "@playwright/test";
import react from "@vitejs/plugin-react";
import { build, preview } from "vite";

const SIZES = [14_000, 348_000];
const PAGES = 7;
const PAGES_OF_SLOW = 3;
/** Milliseconds. */
const TARGETS = {
  14000: { first: 30, zoom: 8, search: 8 },
  348000: { first: 50, zoom: 8 },
};

const WORDS = {
  decode: "decode",
  first: "first paint",
  page: "whole page",
  zoom: "zoom",
  search: "search",
};

function median(values) {
  const sorted = values.toSorted((x, y) => x - y);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

async function measure(browser, url, viewer, count) {
  const pages = viewer === "d3" && count > 100_000 ? PAGES_OF_SLOW : PAGES;
  const all = { decode: [], first: [], page: [], zoom: [], search: [] };
  for (let i = 0; i < pages; i++) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(300_000);
    await page.goto(url);
    const times = await page.evaluate(([v, n]) => globalThis.bench(v, n), [viewer, count]);
    for (const [what, measured] of Object.entries(times)) all[what].push(...[measured].flat());
    await page.close();
  }
  return Object.fromEntries(Object.entries(all).map(([what, values]) => [what, median(values)]));
}

function row(cells) {
  const widths = [10, 14, 12, 18, 10, 10, 8];
  return cells
    .map((cell, i) => (i < 2 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
    .join("");
}

const outDir = mkdtempSync(join(tmpdir(), "mitigauge-bench-"));
const root = fileURLToPath(new URL(".", import.meta.url));
const config = { configFile: false, root, plugins: [react()], logLevel: "warn" };
await build({ ...config, build: { outDir, emptyOutDir: true, assetsInlineLimit: 0 } });
const server = await preview({
  ...config,
  build: { outDir },
  preview: { host: "127.0.0.1", port: 0 },
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
let missed = 0;
try {
  console.log(row(["frames", "", "viewer ms", "d3-flame-graph ms", "ratio", "target ms", ""]));
  for (const count of SIZES) {
    const own = await measure(browser, server.resolvedUrls.local[0], "ours", count);
    const other = await measure(browser, server.resolvedUrls.local[0], "d3", count);
    for (const [what, words] of Object.entries(WORDS)) {
      const target = TARGETS[count][what];
      const met = target === undefined || own[what] <= target;
      if (!met) missed++;
      const compared = other[what] > 0;
      console.log(
        row([
          String(count),
          words,
          own[what].toFixed(1),
          compared ? other[what].toFixed(1) : "",
          compared ? `${(other[what] / own[what]).toFixed(0)} x` : "",
          target === undefined ? "" : String(target),
          target === undefined ? "" : met ? "met" : "MISSED",
        ]),
      );
    }
  }
  console.log(
    "Medians. Ours: until the pixels are there. d3-flame-graph: until the elements are laid out,\n" +
      "without painting them; no transitions, frames below half a pixel left out, as we do.",
  );
} finally {
  await browser.close();
  await server.close();
  rmSync(outDir, { recursive: true });
}
process.exitCode = missed > 0 ? 1 : 0;
