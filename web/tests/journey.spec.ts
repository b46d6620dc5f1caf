import { type Locator, type Page } from "@playwright/test";
import { expect, open, test } from "./world";

const MOST_TABS = 400;

/** Tabs on until the target has the focus, as a person without a mouse would. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let i = 0; i < MOST_TABS; i++) {
    await page.keyboard.press("Tab");
    if (await target.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error("the keyboard does not reach it");
}

test("the keyboard leads from the list to an experiment, a case, a boot, and back", async ({
  page,
  world,
}) => {
  const heading = page.getByRole("heading", { level: 1 });
  await open(page, "/experiments");
  await tabTo(page, page.locator(`main a[href="/experiments/${world.recorded.id}"]`));
  await page.keyboard.press("Enter");
  await expect(heading).toHaveText(world.recorded.name);

  await tabTo(page, page.getByRole("link", { name: world.row.case, exact: true }).first());
  await page.keyboard.press("Enter");
  await expect(heading).toHaveText(world.row.case);

  const marks = page.locator("a.dot");
  await tabTo(page, marks.first());
  await page.keyboard.press("ArrowRight");
  await expect(marks.nth(1)).toBeFocused();
  await expect(page.locator(".tip")).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(heading).toHaveText(/^Boot \d+$/);

  for (const name of [world.row.case, world.recorded.name, "Experiments"]) {
    await page.goBack();
    await expect(heading).toHaveText(name);
  }
});

test("the first stop of the keyboard skips to the content", async ({ page }) => {
  await open(page, "/fleet");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main")).toBeFocused();
});

test("a followed link puts the keyboard into the new page", async ({ page, world }) => {
  await open(page, "/experiments");
  await page.getByRole("link", { name: world.recorded.name, exact: true }).first().click();
  await expect(page.getByRole("main")).toBeFocused();
});
