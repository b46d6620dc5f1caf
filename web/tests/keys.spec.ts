/** Every list is walked through by keys; a key that is typed is a letter. */

import type { Page } from "@playwright/test";
import { answersOf, largeExperiment } from "./large-experiment";
import { expect, expectAccessible, open, test } from "./world";

const focused = (page: Page) => page.locator(":focus");

const LISTS = {
  experiments: "/experiments",
  regressions: "/regressions",
  series: "/series",
  trends: "/regressions?tab=trends",
  weeks: "/?tab=weeks",
  hosts: "/fleet",
};

for (const [name, path] of Object.entries(LISTS))
  test(`in the list of ${name} j and k walk, and Enter opens the row`, async ({ page }) => {
    await open(page, path);
    const links = page.locator("main tbody > tr").filter({ has: page.locator("a[href]") });
    await expect(links).not.toHaveCount(0);
    const first = links.first().locator("a[href]").first();
    await page.keyboard.press("j");
    await expect(first).toBeFocused();
    if ((await links.count()) > 1) {
      await page.keyboard.press("j");
      await expect(links.nth(1).locator("a[href]").first()).toBeFocused();
      await page.keyboard.press("k");
    }
    // Before the first row there is none.
    await page.keyboard.press("k");
    await expect(first).toBeFocused();
    const to = (await first.getAttribute("href")) ?? "";
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(new RegExp(`${to.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`));
  });

test("j goes from the last row of a matrix to the next table", async ({ page, world }) => {
  await open(page, `/experiments/${world.recorded.id}`);
  const rows = page.locator(".matrix tbody th[scope=row] a");
  const count = await rows.count();
  for (let at = 0; at < count; at++) {
    await page.keyboard.press("j");
    await expect(rows.nth(at)).toBeFocused();
  }
  await page.keyboard.press("j");
  await expect(rows.last()).not.toBeFocused();
  await expect(focused(page)).toHaveAttribute("href", /./);
  await page.keyboard.press("k");
  await expect(rows.last()).toBeFocused();
});

test("in a large matrix j goes on to rows that were out of sight", async ({ page }) => {
  const experiment = largeExperiment(300);
  const { head, matrix } = answersOf(experiment);
  await page.route(/\/api\/experiments\/1$/, (route) => route.fulfill({ json: head }));
  await page.route(/\/api\/experiments\/1\/matrix$/, (route) => route.fulfill({ json: matrix }));
  await open(page, "/experiments/1");
  const names = experiment.comparisons.flatMap((each) => each.rows.map((row) => row.case));
  await page.keyboard.press("j");
  await expect(focused(page)).toHaveText(names[0] ?? "");
  for (let at = 1; at <= 40; at++) await page.keyboard.press("j");
  await expect(focused(page)).toHaveText(names[40] ?? "");
});

test("a letter that is typed is a letter, and a shortcut of the browser stays one", async ({
  page,
}) => {
  await open(page, "/regressions");
  const find = page.getByRole("search", { name: "Regressions" }).getByLabel("Find");
  await find.focus();
  await page.keyboard.type("j?k/");
  await expect(find).toHaveValue("j?k/");
  await expect(find).toBeFocused();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await open(page, "/regressions");
  for (const modifier of ["Control", "Alt", "Meta"]) {
    await page.keyboard.press(`${modifier}+j`);
    await expect(page.locator("main tbody a:focus")).toHaveCount(0);
  }
  // A box to tick takes no letters.
  await open(page, "/experiments");
  await page.getByRole("checkbox").first().focus();
  await page.keyboard.press("j");
  await expect(page.locator("main tbody a:focus")).toHaveCount(1);
});

test("a question mark shows the keys, and no key acts behind the list", async ({ page, world }) => {
  await open(page, `/experiments/${world.recorded.id}`);
  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keys" });
  await expect(keys).toContainText("to the next row of a list");
  await expect(keys.getByRole("region", { name: "The matrix" })).toHaveCount(1);
  await expectAccessible(page);
  await page.keyboard.press("j");
  await page.keyboard.press("/");
  await expect(page.locator("main :focus")).toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(keys).toBeHidden();
  await page.keyboard.press("/");
  await expect(focused(page)).toHaveJSProperty("tagName", "INPUT");
  // On another page the matrix is gone, and its keys are.
  await open(page, "/series");
  await page.getByRole("button", { name: "Keys", exact: true }).click();
  await expect(keys).toBeVisible();
  await expect(keys.getByRole("region", { name: "The matrix" })).toHaveCount(0);
});
