// The matrix page with thousands of rows in headless Chromium: from the data to the first rows on
// the screen, the frames of scrolling, a letter in the filter. Beside it the same page built to
// render every row, so that the ratio says more than the machine's hour. Prints a table.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "@playwright/test";
import react from "@vitejs/plugin-react";
import { build, preview, runnerImport } from "vite";
import { idle, prepare, scrollThrough, typeLetter } from "./in-page.mjs";
import { busyWith, traced } from "./trace.mjs";

const { values: options } = parseArgs({
  options: {
    rows: { type: "string", default: "3000" },
    pages: { type: "string", default: "5" },
    json: { type: "boolean", default: false },
  },
});
const ROWS = Number(options.rows);
const PAGES = Number(options.pages);
const PAGES_OF_PLAIN = 1;
/** Milliseconds. */
const TARGETS = { first: 1_000, frame: 50 };

const WEB = fileURLToPath(new URL("../..", import.meta.url));

/** The page without virtual scrolling: a limit that no matrix reaches. */
const everyRow = {
  name: "render-every-row",
  enforce: "pre",
  transform(code, id) {
    if (!id.endsWith("/src/experiment/limits.ts")) return undefined;
    const lifted = code.replace(/PLAIN_UP_TO_ROWS = \d+/, "PLAIN_UP_TO_ROWS = Infinity");
    if (lifted === code) throw new Error("limits.ts has no PLAIN_UP_TO_ROWS to lift");
    return lifted;
  },
};

/** What the service would answer; the session and the experiment are all that the page needs. */
function answers(experiment, answersOf) {
  const { head, matrix } = answersOf(experiment);
  const { id, state, runs, boots_done, boots_total } = experiment;
  const progress = { state, runs, boots_done, boots_total, seconds_left: null, last_event_id: 0 };
  return new Map(
    Object.entries({
      "/api/session": { subject: "bench", role: "viewer", rights: ["read"], means: "session" },
      [`/api/experiments/${id}`]: head,
      [`/api/experiments/${id}/matrix`]: matrix,
      [`/api/experiments/${id}/progress`]: { experiment_id: id, ...progress },
      [`/api/experiments/${id}/claims`]: [],
    }).map(([path, body]) => [path, JSON.stringify(body)]),
  );
}

function service(bodies) {
  return {
    name: "answers",
    configurePreviewServer(server) {
      server.middlewares.use((request, response, next) => {
        const body = bodies.get(request.url.split("?")[0]);
        if (body === undefined) return next();
        response.setHeader("Content-Type", "application/json");
        response.end(body);
      });
    },
  };
}

async function served(outDir, bodies, plugins) {
  const config = { root: WEB, configFile: false, logLevel: "error" };
  const built = { outDir, emptyOutDir: true, assetsInlineLimit: 0 };
  await build({ ...config, plugins: [react(), ...plugins], build: built });
  return preview({
    ...{ ...config, plugins: [service(bodies)], build: { outDir } },
    preview: { host: "127.0.0.1", port: 0 },
  });
}

/** The longest frame of an empty page: no page can promise less in the same hour. */
async function machine(browser) {
  const page = await browser.newPage();
  const frames = await page.evaluate(idle);
  await page.close();
  return Math.max(...frames);
}

async function measure(browser, url, experiment, pages) {
  const all = {
    first: [],
    busy: [],
    longest: [],
    work: [],
    usual: [],
    letter: [],
    empty: [],
    late: 0,
    frames: 0,
  };
  for (let i = 0; i < pages; i++) {
    all.empty.push(await machine(browser));
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(120_000);
    await page.addInitScript(prepare);
    const busy = await busyWith(page);
    await page.goto(new URL(`experiments/${experiment.id}`, url).href);
    await page.waitForFunction(() => globalThis.firstRowsAt > 0);
    all.busy.push(await busy());
    const [first, held] = await page.evaluate((path) => {
      const [entry] = performance.getEntriesByType("resource").filter((e) => e.name.endsWith(path));
      const rows = globalThis.document.querySelectorAll(".matrix tbody th[scope=row]").length;
      const { firstRowsAt } = globalThis;
      return [firstRowsAt - entry.responseEnd, rows];
    }, `/api/experiments/${experiment.id}/matrix`);
    all.first.push(first);
    all.held = held;
    await page.waitForTimeout(500);
    const { result: frames, frames: work } = await traced(page, () => page.evaluate(scrollThrough));
    all.work.push(Math.max(...work));
    all.longest.push(Math.max(...frames));
    all.usual.push(median(frames));
    all.frames += frames.length;
    all.late += frames.filter((ms) => ms > TARGETS.frame).length;
    all.letter.push(await page.evaluate(typeLetter));
    await page.close();
  }
  return all;
}

function median(values) {
  const sorted = values.toSorted((x, y) => x - y);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function row(cells) {
  const widths = [36, 14, 16, 9, 9, 8];
  return cells.map((cell, i) => (i === 0 ? cell.padEnd(36) : cell.padStart(widths[i]))).join("");
}

function table(ours, plain) {
  const line = (words, mine, other, target) => {
    const met = target === undefined ? "" : mine <= target ? "met" : "MISSED";
    const ratio = mine > 0 ? `${(other / mine).toFixed(1)} x` : "";
    const shown = target === undefined ? "" : String(target);
    return row([words, mine.toFixed(1), other.toFixed(1), ratio, shown, met]);
  };
  return [
    row([`${ROWS} rows`, "page, ms", "every row, ms", "ratio", "target", ""]),
    line("data to first rows", median(ours.first), median(plain.first), TARGETS.first),
    line(
      "  processor time of the whole page",
      median(ours.busy),
      median(plain.busy),
      TARGETS.first,
    ),
    line("longest frame of scrolling", median(ours.longest), median(plain.longest), TARGETS.frame),
    line("  processor time of the heaviest", median(ours.work), median(plain.work), TARGETS.frame),
    line("usual frame of scrolling", median(ours.usual), median(plain.usual)),
    line("longest frame of an empty page", median(ours.empty), median(plain.empty)),
    line("a letter in the filter", median(ours.letter), median(plain.letter)),
    `Medians of ${PAGES} pages, ${PAGES_OF_PLAIN} with every row. Frames over ${TARGETS.frame} ms: ` +
      `${ours.late} of ${ours.frames}; with every row ${plain.late} of ${plain.frames}.`,
    `Rows in the table: ${ours.held}; with every row ${plain.held}.`,
  ].join("\n");
}

// Importing sources would make this a development's process, and React's build a slow one.
process.env.NODE_ENV = "production";
const { module } = await runnerImport(join(WEB, "tests/large-experiment.ts"), {
  configFile: false,
});
const experiment = module.largeExperiment(ROWS, 3);
const bodies = answers(experiment, module.answersOf);
const out = mkdtempSync(join(tmpdir(), "mitigauge-bench-"));
const servers = [];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  servers.push(await served(join(out, "page"), bodies, []));
  servers.push(await served(join(out, "every-row"), bodies, [everyRow]));
  const [page, every] = servers.map((server) => server.resolvedUrls.local[0]);
  const ours = await measure(browser, page, experiment, PAGES);
  const plain = await measure(browser, every, experiment, PAGES_OF_PLAIN);
  console.log(options.json ? JSON.stringify({ rows: ROWS, ours, plain }) : table(ours, plain));
  // By processor time: what waits for the machine's other work is no fault of the page.
  const met = median(ours.busy) <= TARGETS.first && median(ours.work) <= TARGETS.frame;
  process.exitCode = met ? 0 : 1;
} finally {
  await browser.close();
  for (const server of servers) await server.close();
  rmSync(out, { recursive: true });
}
