import type { Page } from "@playwright/test";
import type { ExperimentLimits, LimitFileHead } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

// All of them set and remove the limits of one service.
test.describe.configure({ mode: "default" });

const PAGE = "/experiments?tab=limits";
const FIGURE = "workload: syscall, metric: time_per_call";

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const dialog = (page: Page) => page.getByRole("dialog");
const field = (page: Page) => page.getByRole("textbox");

async function remove(page: Page): Promise<void> {
  const origin = new URL(page.url()).origin;
  const files = (await (await page.request.get("/api/limits")).json()) as LimitFileHead[];
  for (const { name } of files)
    await page.request.delete(`/api/limits/${name}`, { headers: { Origin: origin } });
}

async function put(page: Page, ...lines: string[]): Promise<void> {
  const rows = lines.map((line) => `- {${FIGURE}, ${line}}\n`).join("");
  const answer = await page.request.put("/api/limits/ours", {
    data: `limits: ours\nlines:\n${rows}`,
    headers: { Origin: new URL(page.url()).origin, "Content-Type": "application/yaml" },
  });
  expect(answer.ok(), await answer.text()).toBe(true);
}

test.beforeEach(async ({ page }) => {
  await open(page, PAGE);
  await remove(page);
  await page.reload();
});

test.afterEach(async ({ page }) => {
  await remove(page);
});

test("without limits the page says what to do, and an example is put in force", async ({
  page,
}) => {
  await expect(page.getByText("No limits are in force. Write some below")).toBeVisible();
  await expectAccessible(page);
  await button(page, "Begin with an example").click();
  await expect(field(page)).toHaveValue(/^limits: ours\n/);
  await button(page, "Put in force").click();
  await expect(page.getByRole("status")).toHaveText("ours: 2 limits in force from now on.");
  await expect(page.getByRole("row").filter({ hasText: "ours" })).toContainText("just now");
});

test("what is wrong is said in place, leads to its line, and changes nothing", async ({ page }) => {
  await field(page).fill(`limits: ours\nlines:\n- {${FIGURE}x, at_most: 1}\n`);
  await button(page, "Put in force").click();
  const alert = page.getByRole("alert");
  await expect(alert).toContainText("ours.yml:3: lines.0.metric: syscall has no metric");
  await alert.getByRole("button", { name: "Go to line 3" }).click();
  expect(await page.evaluate(() => window.getSelection()?.toString())).toContain("time_per_callx");
  await expect(page.getByText("No limits are in force.")).toBeVisible();
  await field(page).fill(`limits: ours\nlines:\n- {${FIGURE}, at_most: 1}\n`);
  await button(page, "Put in force").click();
  await expect(page.getByRole("row").filter({ hasText: "ours" })).toBeVisible();
  await expect(alert).toBeHidden();
});

test("a file is changed and removed, each said before", async ({ page }) => {
  await put(page, "at_most: 1", "at_most: 2");
  await page.reload();
  await button(page, "Change").click();
  await expect(field(page)).toHaveValue(/at_most: 2/);
  const text = await field(page).inputValue();
  await field(page).fill(text.replace("limits: ours", "limits: others"));
  await expect(page.getByText("ours stays in force as it is")).toBeVisible();
  await field(page).fill(text.replace("at_most: 2", "at_most: 3"));
  await button(page, "Put in force").click();
  await expect(page.getByRole("status")).toContainText("ours: 2 limits in force");
  await button(page, "Remove…").click();
  await expect(dialog(page)).toContainText("What was said by them stays");
  await button(page, "Remove").click();
  await expect(page.getByText("No limits are in force.")).toBeVisible();
});

test("an experiment that ended before is judged by a button, the broken first", async ({
  page,
  world,
}) => {
  await open(page, `/experiments/${world.recorded.id}`);
  await expect(page.getByText("not judged by them")).toBeHidden();
  await put(page, "at_least: 0, because: the floor", "at_most: 0.001, because: the budget");
  await page.reload();
  await expect(page.getByText("Limits were set after it ended")).toBeVisible();
  await button(page, "Judge by limits…").click();
  await expect(dialog(page)).toContainText("in the place of what was said before");
  await button(page, "Judge by limits").click();
  const rows = page.getByRole("table", { name: "What limits say" }).getByRole("row");
  await expect(rows.nth(1)).toContainText("broken");
  await expect(rows.nth(1)).toContainText("the budget");
  const said = (await (
    await page.request.get(`/api/experiments/${world.recorded.id}/limits`)
  ).json()) as ExperimentLimits;
  expect(said.counts.broken).toBeGreaterThan(0);
  const panel = page.locator("details.limit-rows");
  await expect(panel.locator("summary")).toContainText(`${said.counts.broken} broken`);
  await expect(rows).toHaveCount(said.rows.length + 1);
  await expectAccessible(page);
  await page.setViewportSize({ width: 400, height: 800 });
  await expectNothingBeyond(page);
  await page.setViewportSize({ width: 1440, height: 900 });
  await rows.nth(1).getByRole("link").click();
  await expect(page).toHaveURL(/\/cases\/\d+\?host=/);
});
