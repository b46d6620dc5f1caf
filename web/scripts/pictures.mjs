// Draws docs/images/ from the recorded experiment: `make pictures`, which serves it.
// MITIGAUGE_WEB_URL is the service's address, MITIGAUGE_TOKEN a viewer's token for it.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "@playwright/test";

const SHELL = "/usr/bin/chromium-headless-shell";
const WIDTH = 1440;
const file = (name) => fileURLToPath(new URL(`../../docs/images/${name}.png`, import.meta.url));

const { MITIGAUGE_WEB_URL: address, MITIGAUGE_TOKEN: token } = process.env;
if (!address || !token) {
  console.error("Run `make pictures`, which serves the recorded experiment and says where.");
  process.exit(1);
}
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? (existsSync(SHELL) ? SHELL : "/usr/bin/chromium"),
  args: ["--no-sandbox", "--disable-gpu"],
});
const page = await browser.newPage({
  baseURL: address,
  extraHTTPHeaders: { Authorization: `Bearer ${token}` },
  viewport: { width: WIDTH, height: 900 },
  colorScheme: "light",
});

async function opened(path) {
  await page.goto(path);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForLoadState("networkidle");
}

async function asked(path) {
  const answer = await page.request.get(path);
  if (!answer.ok()) throw new Error(`${path}: ${answer.status()}`);
  return answer.json();
}

await opened("/experiments/1");
await page.screenshot({ path: file("matrix"), fullPage: true });

const { rows } = await asked("/api/experiments/1/matrix");
const row = Object.values(rows)
  .flat()
  .find(({ profiled, primary }) => profiled && primary);
const [off, changed] = (await asked("/api/experiments/1")).comparisons[0].arms;
const query = new URLSearchParams({
  ...{ experiment: "1", case: row.case_id, host: row.host, a: off.name, b: changed.name },
});
await opened(`/profiles?${query}`);
await page
  .getByRole("application", { name: /flame graph/i })
  .first()
  .screenshot({ path: file("flame-graph") });
await browser.close();
