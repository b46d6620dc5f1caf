/** What a page says where it has nothing, where figures were recorded, where a verdict has changed. */

import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import type { Case, Cell, ExperimentSummary, WholeExperiment } from "../src/api/types";
import { answersOf } from "./large-experiment";
import { expect, expectAccessible, open, test, type World } from "./world";

/** The page of the recorded experiment, with what a test makes of it. */
async function changed(page: Page, world: World, change: (of: WholeExperiment) => void) {
  const experiment = structuredClone(world.recorded);
  change(experiment);
  const { head, matrix } = answersOf(experiment);
  const path = `/api/experiments/${experiment.id}`;
  await page.route(new RegExp(`${path}$`), (route) => route.fulfill({ json: head }));
  await page.route(new RegExp(`${path}/matrix$`), (route) => route.fulfill({ json: matrix }));
  await open(page, `/experiments/${experiment.id}`);
}

const EARLIER = {
  ...{ version: 1, verdict: "same" as const, effect_percent: 0.12, n: 4, blocks: 4 },
  ...{ ci_low_percent: -0.4, ci_high_percent: 0.64, at: "2026-11-20T12:00:00Z" },
  reason: "",
};

/** Gives a cell a second version. */
function secondVersion(cell: Cell | undefined): void {
  if (cell === undefined) throw new Error("there is no such cell");
  Object.assign(cell, { version: 2, earlier: [EARLIER], reason: "boot 7 was found invalid" });
}

for (const [path, command] of [
  ["/experiments", "mitigauge demo --recorded"],
  ["/experiments", "mitigauge experiment submit experiments/lab-demo.yml"],
  ["/fleet", "mitigauge lab up"],
  ["/profiles", "mitigauge demo --recorded"],
] as const) {
  test(`${path} without anything to show names ${command}`, async ({ page }) => {
    const none = { experiments: [], total: 0, offset: 0, next: null, next_offset: null };
    await page.route("**/api/experiments", (route) => route.fulfill({ json: none }));
    await page.route("**/api/hosts", (route) => route.fulfill({ json: [] }));
    await open(page, path);
    await expect(page.getByText(command, { exact: true })).toBeVisible();
    await expectAccessible(page);
  });
}

test("an experiment before its first boot says what carries it out", async ({ page, world }) => {
  await changed(page, world, (experiment) => {
    for (const comparison of experiment.comparisons) comparison.rows = [];
  });
  await expect(page.getByText("No case has been measured yet.").first()).toBeVisible();
  await expect(page.getByText("mitigauge worker", { exact: true }).first()).toBeVisible();
});

test("without a claim about its cases an experiment says how to store some", async ({
  page,
  world,
}) => {
  await page.route("**/claims", (route) => route.fulfill({ json: [] }));
  await open(page, `/experiments/${world.recorded.id}`);
  const claims = page.getByRole("region", { name: "Published claims" });
  await expect(claims).toContainText("mitigauge claims import");
  await expectAccessible(page);
});

test("a recorded experiment says when and where, in the list and on its page", async ({
  page,
  request,
  world,
}) => {
  const recorded = { at: "2026-11-20T12:00:00Z", host: "a builder" };
  const list = (await (await request.get("/api/experiments")).json()) as {
    experiments: ExperimentSummary[];
  };
  await page.route(/\/api\/experiments(\?.*)?$/, (route) =>
    route.fulfill({
      json: { ...list, experiments: list.experiments.map((e) => ({ ...e, recorded })) },
    }),
  );
  await open(page, "/experiments");
  const tag = page.getByText("recorded 2026-11-20", { exact: true }).first();
  await expect(tag).toBeVisible();
  await expect(tag).toHaveAttribute("title", /on a builder/);
  await changed(page, world, (experiment) => {
    experiment.recorded = recorded;
  });
  await expect(page.getByText("Recorded 2026-11-20 on a builder.")).toBeVisible();
  await expectAccessible(page);
});

test("the second version of a verdict says so, and what the first said", async ({
  page,
  world,
}) => {
  await changed(page, world, (experiment) => {
    const rows = experiment.comparisons.flatMap((comparison) => comparison.rows);
    const row = rows.find((r) => r.case_id === world.row.case_id && r.host === world.row.host);
    secondVersion(row?.cells.find((cell) => cell.state === "measured"));
  });
  await expect(page.getByText("version 2; the first said same")).toHaveCount(1);
});

test("a case lists the earlier versions with figures and reason", async ({
  page,
  request,
  world,
}) => {
  const path = world.paths.case ?? "";
  // The metric is the page's own choice, not the API's.
  const asked = `/api${path.replace(/[?&]metric=[^&]*/, "")}`;
  const view = (await (await request.get(asked)).json()) as Case;
  secondVersion(view.metrics[0]?.cells.find((cell) => cell.state === "measured"));
  await page.route(/\/api\/experiments\/\d+\/cases\/\d+(\?|$)/, (route) =>
    route.fulfill({ json: view }),
  );
  await open(page, path);
  await expect(page.getByRole("list", { name: "Versions of the verdict" })).toHaveText(
    /version 2, shown here: boot 7 was found invalid\s*version 1, 2026-11-20 .+: same \+0\.1% \[−0\.4, \+0\.6\], n 4/,
  );
  await expectAccessible(page);
});

test("the matrix and raw iterations are downloaded, of an experiment or of a case", async ({
  page,
  world,
}) => {
  const { id } = world.recorded;
  const links = page.locator(".download a");
  const paths = () => links.evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  await open(page, `/experiments/${id}`);
  await page.getByText("Download", { exact: true }).press("Enter");
  await expect(links.first()).toBeVisible();
  await expectAccessible(page);
  const files = ["matrix.csv", "matrix.json", "iterations.csv", "iterations.jsonl"];
  expect(await paths()).toEqual(files.map((file) => `/api/experiments/${id}/${file}`));
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Matrix as CSV" }).click();
  const text = await readFile(await (await download).path(), "utf8");
  expect(text).toContain(world.row.case);

  await open(page, world.paths.case ?? "");
  await page.getByText("Download", { exact: true }).click();
  const query = `?case=${world.row.case_id}&host=${world.row.host}`;
  expect(await paths()).toEqual(
    files.slice(2).map((file) => `/api/experiments/${id}/${file}${query}`),
  );
});
