import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

test("the API's reference is reached from every page and found by words", async ({ page }) => {
  await open(page, "/fleet");
  await page.getByRole("link", { name: "API reference" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("API reference");
  await page.getByRole("search", { name: "API reference" }).getByLabel("Find").fill("post cancel");
  await expect(page).toHaveURL(/find=post\+cancel/);
  const route = page.locator("details.route", {
    hasText: "/api/v1/experiments/{experiment_id}/cancel",
  });
  await route.locator("summary").first().click();
  await expect(route).toContainText("client.cancel_experiment");
  await expect(route.getByLabel(/^Example of POST/)).toContainText("-X POST");
  await expect(route).toContainText("ProgressView");
});

for (const width of [1440, 400])
  test(`the reference is accessible and fits, ${width} wide`, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 });
    await open(page, "/docs?find=list_experiments");
    await page.locator("details.route summary").first().click();
    await expectAccessible(page);
    await expectNothingBeyond(page);
  });
