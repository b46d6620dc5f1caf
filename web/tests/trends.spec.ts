import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

test("trends are found by words, and each leads to its values and their boots", async ({
  page,
}) => {
  await open(page, "/trends");
  // The worker takes in runs that ended, soon after it has begun.
  await expect(async () => {
    await page.reload();
    await expect(page.getByRole("link", { name: "syscall basic" }).first()).toBeVisible({
      timeout: 1000,
    });
  }).toPass({ timeout: 45_000 });
  await page.getByLabel("Find").fill("getpgid");
  await expect(page).toHaveURL(/find=getpgid/);
  await expect(page.getByRole("link", { name: "syscall basic" })).toHaveCount(0);
  await page.getByRole("link", { name: "syscall getpgid" }).first().click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("syscall getpgid");
  const values = page.getByRole("region", { name: "Newest values" });
  await expect(values.getByRole("row").nth(1)).toContainText("lab-intel");
  await expect(page.getByText("no change can be told from chance")).toBeVisible();
});

test("a filter that no trend fits says so", async ({ page }) => {
  await open(page, "/trends?changed=1&find=nothing-like-it");
  await expect(page.getByRole("link", { name: "syscall basic" })).toHaveCount(0);
  await expect(page.getByRole("main")).toContainText(/no trend/i);
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 400]) {
    for (const path of ["/trends", "/trends/1"]) {
      test(`${path} is accessible at ${width} in ${colorScheme}`, async ({ page }) => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        await open(page, path);
        await expectAccessible(page);
        await expectNothingBeyond(page);
      });
    }
  }
}
