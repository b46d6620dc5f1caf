import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const PAGES = [
  "experiments",
  "experiment",
  "case",
  "boot",
  "hosts",
  "host",
  "series list",
  "series",
  "weekly list",
  "weekly",
  "not found",
];
const WITH_RESULTS = ["experiments", "experiment", "case", "boot", "host", "series"];

for (const name of PAGES) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`the ${name} page is accessible in ${colorScheme}`, async ({ page, world }) => {
      await page.emulateMedia({ colorScheme });
      await open(page, world.paths[name] ?? "");
      await expectAccessible(page);
    });
  }

  test(`the ${name} page has a title and landmarks`, async ({ page, world }) => {
    await open(page, world.paths[name] ?? "");
    await expect(page).toHaveTitle(/.+ · Mitigauge$/);
    await expect(page.getByRole("main")).toHaveCount(1);
    await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  });

  test(`the ${name} page fits 400 pixels`, async ({ page, world }) => {
    await page.setViewportSize({ width: 400, height: 800 });
    await open(page, world.paths[name] ?? "");
    await expectAccessible(page);
    await expectNothingBeyond(page);
  });
}

for (const name of WITH_RESULTS) {
  test(`the ${name} page marks emulated results`, async ({ page, world }) => {
    await open(page, world.paths[name] ?? "");
    await expect(page.getByText("emulated", { exact: true }).first()).toBeVisible();
  });
}

test("the emulated mark explains itself to the keyboard, and Escape hides that", async ({
  page,
  world,
}) => {
  await open(page, world.paths.experiment ?? "");
  const badge = page.getByRole("button", { name: "emulated" });
  await badge.focus();
  const tooltip = page.getByRole("tooltip");
  await expect(tooltip).toContainText("Hardware barriers, such as IBPB, cost nothing here");
  await expect(badge).toHaveAccessibleDescription(/Software costs/);
  await page.keyboard.press("Escape");
  await expect(tooltip).toBeHidden();
});

for (const width of [1440, 400])
  for (const name of ["experiments", "series list", "weekly list", "hosts"])
    test(`an age in the ${name} page has its date beside it, ${width} wide`, async ({
      page,
      world,
    }) => {
      await page.setViewportSize({ width, height: 900 });
      await open(page, world.paths[name] ?? "");
      const ages = page.locator("time", { hasText: /ago|just now/ });
      await expect(ages.first()).toBeVisible();
      for (const age of await ages.all()) {
        await expect(age.locator(".at")).toHaveText(/^\d{4}-\d\d-\d\d \d\d:\d\d$/);
        await expect(age.locator(".at")).toBeVisible();
        await expect(age).toHaveAttribute("title", / UTC\)$/);
        await expect(age).toHaveAttribute("datetime", /Z$|\+/);
      }
    });

test("a list whose rows are all emulated says so once and explains it", async ({ page }) => {
  await open(page, "/experiments");
  const marks = page.getByRole("main").getByText("emulated", { exact: true });
  await expect(marks).toHaveCount(1);
  await expect(page.locator(".marks-once")).toContainText("hardware barriers cost nothing");
  await expectAccessible(page);
});

test("a chosen theme is kept", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await open(page, "/experiments");
  const scheme = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
  await page.getByRole("button", { name: "Dark" }).click();
  expect(await scheme()).toBe("dark");
  await page.reload();
  expect(await scheme()).toBe("dark");
  await page.getByRole("button", { name: "Auto" }).click();
  expect(await scheme()).toBe("light dark");
});
