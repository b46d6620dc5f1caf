/** The matrix of an experiment of thousands of cases, as the page has it from the service. */

import type { Locator, Page } from "@playwright/test";
import type { WholeExperiment } from "../src/api/types";
import { answersOf, largeExperiment } from "./large-experiment";
import { expect, expectAccessible, expectNothingBeyond, test } from "./world";

const MANY = largeExperiment(3_000);
const ROWS = MANY.comparisons.flatMap((comparison) => comparison.rows);

async function openMatrix(
  page: Page,
  search = "",
  experiment: WholeExperiment = MANY,
): Promise<void> {
  const { head, matrix } = answersOf(experiment);
  await page.route(/\/api\/experiments\/1$/, (route) => route.fulfill({ json: head }));
  await page.route(/\/api\/experiments\/1\/matrix$/, (route) => route.fulfill({ json: matrix }));
  await page.route(/\/api\/experiments\/1\/(claims|progress)$/, (route) =>
    route.request().url().endsWith("claims")
      ? route.fulfill({ json: [] })
      : route.fulfill({
          json: {
            ...{ experiment_id: 1, state: "finished", runs: [], boots_done: 64, boots_total: 64 },
            ...{ last_event_id: 0, seconds_left: null },
          },
        }),
  );
  await page.goto(`/experiments/1${search}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(MANY.name);
}

const matrix = (page: Page) => page.getByRole("table", { name: /^vmscape:/ });
const cases = (page: Page) => matrix(page).locator("tbody th[scope=row] a");
const said = (page: Page) => page.getByRole("search").getByRole("status");
const box = (page: Page) => page.locator(".matrix-box");

async function scrollTo(page: Page, share: number): Promise<void> {
  await box(page).evaluate((element, at) => {
    element.scrollTop = (element.scrollHeight - element.clientHeight) * at;
  }, share);
}

/** The lines of the matrix that the table holds, by what they tell of their place. */
async function lines(page: Page): Promise<number[]> {
  const rows = matrix(page).locator("tr[aria-rowindex]");
  return rows.evaluateAll((all) => all.map((row) => Number(row.getAttribute("aria-rowindex"))));
}

async function isWithin(inner: Locator, outer: Locator): Promise<boolean> {
  const [a, b] = [await inner.boundingBox(), await outer.boundingBox()];
  return a !== null && b !== null && a.y >= b.y && a.y + a.height <= b.y + b.height + 1;
}

test("the table holds the lines in sight and tells how many there are", async ({ page }) => {
  await openMatrix(page);
  // Ten groups of host and workload, each with its heading, and the head.
  await expect(matrix(page)).toHaveAttribute("aria-rowcount", String(3_000 + 10 + 1));
  expect((await lines(page)).length).toBeLessThan(60);
  await expect(cases(page).first()).toHaveText(ROWS[0]?.case ?? "");
  await scrollTo(page, 1);
  await expect(cases(page).last()).toHaveText(ROWS.at(-1)?.case ?? "");
  expect((await lines(page)).at(-1)).toBe(3_011);
  expect((await lines(page)).length).toBeLessThan(60);
});

test("in the middle of it the head and the heading stay in sight", async ({ page }) => {
  await openMatrix(page);
  await scrollTo(page, 0.5);
  await expect(matrix(page).getByRole("columnheader", { name: /force/ })).toBeInViewport();
  const heading = matrix(page).locator("tr.group th").first();
  await expect(heading).toContainText(" · ");
  expect(await isWithin(heading, box(page))).toBe(true);
  const places = await lines(page);
  expect(places).toEqual(places.toSorted((x, y) => x - y));
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const [width, search] of [
    [1440, ""],
    [1440, "?sort=worst&verdict=worse,better&case=udp"],
    [400, ""],
  ] as const) {
    test(`${width} pixels${search} in ${colorScheme}: accessible, and nothing beyond`, async ({
      page,
    }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 860 });
      await openMatrix(page, search);
      await scrollTo(page, 0.3);
      await expectAccessible(page);
      await expectNothingBeyond(page);
    });
  }
}

test("text, verdicts, host and order are in the address, and going back undoes them", async ({
  page,
}) => {
  await openMatrix(page);
  await page.getByLabel("Host").selectOption("granite-rapids-1");
  await expect(said(page)).toHaveText("1500 of 3000 rows");
  await page.getByRole("button", { name: /^worse/ }).click();
  await page.getByLabel("Order").selectOption("worst first");
  await page.getByRole("searchbox").fill("iperf udp");
  await expect(page).toHaveURL(/\?host=granite-rapids-1&verdict=worse&sort=worst&case=iperf\+udp/);
  const wanted = ROWS.filter(
    (row) =>
      row.host === "granite-rapids-1" &&
      row.case.startsWith("iperf udp") &&
      row.cells.some((cell) => cell.verdict === "worse"),
  );
  await expect(said(page)).toHaveText(`${wanted.length} of 3000 rows`);
  await page.reload();
  await expect(said(page)).toHaveText(`${wanted.length} of 3000 rows`);
  await expect(cases(page).first()).toContainText("iperf udp");
  await page.goBack();
  await expect(page).toHaveURL(/\?host=granite-rapids-1&verdict=worse$/);
  await page.goBack();
  await page.goBack();
  await expect(said(page)).toHaveText("3000 rows");
});

test("only what differs is what is worse or better, and what is worst stands first", async ({
  page,
}) => {
  await openMatrix(page, "?arm=force&sort=worst");
  await page.getByRole("button", { name: "Only what differs" }).click();
  const arm = MANY.comparisons[0]?.arms.find((a) => a.name === "force")?.id;
  const differing = ROWS.filter((row) =>
    row.cells.some((c) => c.arm_id === arm && (c.verdict === "worse" || c.verdict === "better")),
  );
  await expect(said(page)).toHaveText(`${differing.length} of 3000 rows`);
  const worst = differing.toSorted((x, y) => cost(y, arm) - cost(x, arm))[0];
  await expect(cases(page).first()).toHaveText(worst?.case ?? "");
  await page.getByRole("button", { name: "Only what differs" }).click();
  await expect(said(page)).toHaveText("3000 rows");
});

function cost(row: (typeof ROWS)[number], arm: number | undefined): number {
  const effect = row.cells.find((cell) => cell.arm_id === arm)?.effect_percent ?? 0;
  return row.direction === "lower" ? effect : -effect;
}

test("a filter that nothing fits says so and is cleared by a button", async ({ page }) => {
  await openMatrix(page, "?case=nowhere&verdict=worse&sort=worst");
  await expect(page.getByText("No case fits the filter.")).toBeVisible();
  await page.getByRole("button", { name: "Clear the filter" }).first().click();
  await expect(said(page)).toHaveText("3000 rows");
  await expect(page).toHaveURL(/\?sort=worst$/);
  await expect(page.getByRole("searchbox")).toHaveValue("");
});

test("a slash leads to the text, arrows through the rows, and Enter opens the case", async ({
  page,
}) => {
  await openMatrix(page);
  // The page hears keys only once its effects have run, which a busy machine puts off.
  // Until then the key is the search box's above it.
  await expect(async () => {
    await page.evaluate(() => {
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    });
    await page.keyboard.press("/");
    await expect(page.getByRole("searchbox")).toBeFocused({ timeout: 500 });
  }).toPass();
  await page.keyboard.type("vCPU");
  await cases(page).first().focus();
  for (let i = 0; i < 60; i++) await page.keyboard.press("ArrowDown");
  const focused = page.locator(":focus");
  await expect(focused).toHaveText(ROWS[60]?.case ?? "");
  await expect.poll(() => isWithin(focused, box(page))).toBe(true);
  await page.keyboard.press("End");
  await expect(focused).toHaveText(ROWS.at(-1)?.case ?? "");
  await expect.poll(() => isWithin(focused, box(page))).toBe(true);
  await page.keyboard.press("Home");
  await expect(focused).toHaveText(ROWS[0]?.case ?? "");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await expect(focused).toHaveClass("cell");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/cases/${ROWS[1]?.case_id}\\?host=${ROWS[1]?.host}`));
});

test("the matrix is one stop of the Tab key, also when its row is out of sight", async ({
  page,
}) => {
  await openMatrix(page);
  await cases(page).nth(3).focus();
  await scrollTo(page, 0.8);
  await expect(cases(page).nth(5)).not.toHaveText(ROWS[5]?.case ?? "");
  await page.keyboard.press("ArrowDown");
  await expect(page.locator(":focus")).toHaveText(ROWS[4]?.case ?? "");
  await page.keyboard.press("Tab");
  await expect(page.locator(".matrix-box :focus")).toHaveCount(0);
});

test("going back from a case shows the rows that one left", async ({ page }) => {
  await openMatrix(page);
  await scrollTo(page, 0.5);
  const link = cases(page).nth(8);
  // The rows before the scroll stand there a moment longer.
  await expect(link).not.toHaveText(ROWS[8]?.case ?? "");
  const name = await link.textContent();
  await link.click();
  await expect(page).toHaveURL(/\/cases\//);
  await page.goBack();
  await expect(matrix(page).getByRole("link", { name: name ?? "", exact: true })).toBeInViewport();
});

test("forty rows are all there, with no more controls than before", async ({ page }) => {
  await openMatrix(page, "", largeExperiment(40));
  await expect(cases(page)).toHaveCount(40);
  await expect(page.getByRole("main").getByRole("search")).toHaveCount(0);
  await cases(page).first().focus();
  await page.keyboard.press("End");
  await expect(cases(page).last()).toBeFocused();
});

test("a link that filters a small matrix shows by what", async ({ page }) => {
  await openMatrix(page, "?verdict=same", largeExperiment(30));
  await expect(page.getByRole("button", { name: /^same/ })).toHaveAttribute("aria-pressed", "true");
  await page.getByRole("button", { name: "Clear the filter" }).click();
  await expect(cases(page)).toHaveCount(30);
});
