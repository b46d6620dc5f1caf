/** Pages on A4: whole, light, and without what one presses. */

import type { Page } from "@playwright/test";
import { answersOf, largeExperiment } from "./large-experiment";
import { expect, open, test } from "./world";

/** The width within the margins of A4, in CSS pixels. */
const PAPER = { width: 703, height: 1031 };

async function onPaper(page: Page, path: string): Promise<void> {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.setViewportSize(PAPER);
  await open(page, path);
}

/** Parts that lie beyond the paper, or are cut off or scrolled within a part of their own. */
async function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const nameOf = (each: Element) =>
      `${each.tagName.toLowerCase()}.${each.getAttribute("class") ?? ""}`;
    const shown = [...document.querySelectorAll("main *")].filter((each) => each.checkVisibility());
    const wide = document.documentElement.clientWidth + 1;
    const beyond = shown.filter((each) => each.getBoundingClientRect().right > wide);
    const cut = shown.filter(
      (each) =>
        getComputedStyle(each).overflowX !== "visible" && each.scrollWidth > each.clientWidth + 1,
    );
    return [...beyond, ...cut].map(nameOf);
  });
}

const PAGES = ["experiment", "case", "weekly", "series"] as const;

for (const name of PAGES) {
  test(`the ${name} page fits on paper, with nothing to press`, async ({ page, world }) => {
    await onPaper(page, world.paths[name] ?? "");
    expect(await cutOff(page)).toEqual([]);
    await expect(page.locator("header.bar")).toBeHidden();
    const pressed = page.locator("main button:visible, main select:visible, main nav:visible");
    // What is left of them are marks: of emulated figures, and of what is folded.
    await expect(pressed.and(page.locator(":not(.emulated > button, .fold)"))).toHaveCount(0);
    const ground = await page.evaluate(() => getComputedStyle(document.body).color);
    expect(ground).toBe("rgb(26, 28, 31)");
    const pdf = await page.pdf({ format: "A4", printBackground: true });
    expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
  });
}

test("a trend fits on paper", async ({ page, request }) => {
  const answers = () => request.get("/api/trends/1").then((answer) => answer.ok());
  await expect.poll(answers, { timeout: 45_000 }).toBe(true);
  await onPaper(page, "/trends/1");
  expect(await cutOff(page)).toEqual([]);
});

test("prices with an open processor fit on paper", async ({ page }) => {
  await onPaper(page, "/fleet?tab=prices&open=amd-26-2-1");
  await expect(page.locator(".prices-processors .opened")).toBeVisible();
  expect(await cutOff(page)).toEqual([]);
});

test("a drawing made on a wide screen shrinks to the paper", async ({ page, world }) => {
  await page.setViewportSize({ width: 1800, height: 900 });
  await open(page, world.paths.case ?? "");
  const chart = page.getByRole("group", { name: `Boots of ${world.row.case} by block` });
  expect((await chart.boundingBox())?.width).toBeGreaterThan(1000);
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize(PAPER);
  expect((await chart.boundingBox())?.width).toBeLessThan(PAPER.width);
});

test("a dark theme that was chosen is not printed", async ({ page, world }) => {
  await open(page, world.paths.experiment ?? "");
  await page.getByRole("button", { name: "Dark" }).click();
  const colour = () => page.evaluate(() => getComputedStyle(document.body).color);
  expect(await colour()).not.toBe("rgb(26, 28, 31)");
  await page.emulateMedia({ media: "print" });
  expect(await colour()).toBe("rgb(26, 28, 31)");
});

test("the heads of tables are repeated, and no row is broken", async ({ page, world }) => {
  await onPaper(page, world.paths.case ?? "");
  const table = page.locator(".boot-table");
  expect(await table.locator("thead").evaluate((head) => getComputedStyle(head).display)).toBe(
    "table-header-group",
  );
  for (const row of await table.locator("tbody tr").all())
    expect(await row.evaluate((each) => getComputedStyle(each).breakInside)).toBe("avoid");
});

/** How many pages a document of Chromium has. */
function pagesOf(pdf: Buffer): number {
  return pdf.toString("latin1").match(/\/Type \/Page\b/g)?.length ?? 0;
}

for (const [size, missing] of [
  [3_000, /^2600 further rows not printed\./],
  [120, null],
] as const) {
  test(`a matrix of ${size} rows is printed row by row, and says what is not`, async ({ page }) => {
    const { head, matrix } = answersOf(largeExperiment(size));
    await page.route(/\/api\/experiments\/1$/, (route) => route.fulfill({ json: head }));
    await page.route(/\/api\/experiments\/1\/matrix$/, (route) => route.fulfill({ json: matrix }));
    await open(page, "/experiments/1");
    const rows = page.locator(".matrix tbody th[scope=row]");
    expect(await rows.count()).toBeLessThan(100);
    const note = page.locator(".in-print");
    await expect(note.filter({ visible: true })).toHaveCount(0);
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize(PAPER);
    await expect(rows).toHaveCount(Math.min(size, 400));
    if (missing === null) await expect(note).toHaveCount(0);
    else await expect(note).toHaveText(missing);
    expect(await cutOff(page)).toEqual([]);
    await page.emulateMedia({ media: "screen" });
    await page.setViewportSize({ width: 1440, height: 900 });
    await expect(rows.first()).toBeVisible();
    expect(await rows.count()).toBeLessThan(100);
    // A browser that prints says so by itself.
    const pdf = await page.pdf({ format: "A4" });
    expect(pagesOf(pdf)).toBeGreaterThan(Math.min(size, 400) / 25);
  });
}
