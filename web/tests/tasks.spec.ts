/** Twelve tasks of a day, each from the first page in at most three clicks, and without an address. */

import { readFile } from "node:fs/promises";
import type { Download, Locator, Page } from "@playwright/test";
import { clickAtRest, expect, open, test } from "./world";

const MOST = 3;

/** Clicks on the way from the first page. */
class Way {
  private made = 0;

  constructor(private readonly page: Page) {}

  static async begin(page: Page): Promise<Way> {
    await open(page, "/");
    return new Way(page);
  }

  async click(what: Locator): Promise<void> {
    await clickAtRest(what);
    this.made += 1;
    expect(this.made).toBeLessThanOrEqual(MOST);
  }

  link(name: string | RegExp): Locator {
    return this.page.getByRole("link", { name, exact: typeof name === "string" });
  }

  tab(name: string): Locator {
    return this.page.getByRole("main").getByRole("link", { name, exact: true });
  }

  inHead(name: string): Locator {
    return this.page.getByRole("navigation", { name: "Main" }).getByRole("link", { name });
  }
}

test("1: which revision cost something", async ({ page }) => {
  const way = await Way.begin(page);
  await way.click(way.inHead("Series"));
  await way.click(way.link(/vmscape/).first());
  await expect(page.getByRole("columnheader", { name: "First worse" })).toBeVisible();
});

test("2: why a case is worse, in which function and which instruction", async ({ page, world }) => {
  const way = await Way.begin(page);
  await way.click(way.link(world.recorded.name).first());
  await way.click(page.getByRole("link", { name: /^Flame graph/ }).first());
  await expect(page.getByRole("heading", { name: "What differs" })).toBeVisible();
  const tabs = page.getByRole("navigation", { name: "Profile" });
  await way.click(tabs.getByRole("link", { name: "Instructions", exact: true }));
  await expect(page).toHaveURL(/tab=instructions/);
});

test("3: real or noise, and what it takes to tell", async ({ page, world }) => {
  const way = await Way.begin(page);
  await way.click(way.link(world.recorded.name).first());
  await way.click(way.link(world.row.case).first());
  await expect(page.getByText(/smallest detectable effect/).first()).toBeVisible();
});

test("4: what is new this week, and whose", async ({ page }) => {
  const way = await Way.begin(page);
  await way.click(way.tab("Weeks"));
  await way.click(
    page
      .getByRole("main")
      .getByRole("link", { name: /-W\d\d/ })
      .first(),
  );
  await expect(page.getByRole("heading", { level: 1 })).toContainText("week");
  await open(page, "/");
  await expect(page.getByRole("region", { name: "Worse, and nobody’s" })).toBeVisible();
});

test("5: which patch", async ({ page }) => {
  const way = await Way.begin(page);
  await way.click(way.inHead("Regressions"));
  await way.click(way.tab("Bisections"));
  await way.click(
    page
      .getByRole("main")
      .getByRole("link", { name: /patches on/ })
      .first(),
  );
  await expect(page.getByRole("region", { name: "Candidates" })).toBeVisible();
});

test("6: what runs, and until when", async ({ page }) => {
  const way = await Way.begin(page);
  await way.click(way.inHead("Fleet"));
  await expect(page.getByRole("region", { name: "Queue" })).toBeVisible();
});

test("7: one of long ago among many", async ({ page, world }) => {
  const way = await Way.begin(page);
  await page.keyboard.press("/");
  await page.keyboard.type(world.recorded.name);
  // The last one leads to all that was found.
  const found = page.getByRole("listbox").getByRole("option").first();
  await expect(page.getByRole("listbox").getByRole("option").nth(1)).toBeVisible();
  await expect(found).toContainText(world.recorded.name);
  await way.click(found);
  await expect(page).toHaveURL(new RegExp(`/experiments/${world.recorded.id}$`));
});

// 8 and 9, a waiting series is approved and a bisection is started: work.spec.ts counts their clicks.

test("10: two experiments are compared", async ({ page, world }) => {
  const way = await Way.begin(page);
  await way.click(way.inHead("Experiments"));
  for (const { id, name } of [world.recorded, world.again]) {
    await page.getByLabel(`Compare ${name}, ${id}`).focus();
    await page.keyboard.press("Space");
  }
  await way.click(page.locator(".ticked").getByRole("link", { name: /^Compare/ }));
  await expect(page).toHaveURL(/tab=compare&a=\d+&b=\d+/);
});

test("11: a regression is marked as known, with its bug", async ({ page }) => {
  const way = await Way.begin(page);
  await way.click(page.locator('a[href="/regressions/6"]').first());
  await page.getByRole("combobox", { name: /^State/ }).selectOption("known");
  await page.getByLabel("Bug", { exact: true }).fill("https://example.org/9");
  await way.click(page.getByRole("button", { name: "Save" }));
  await expect(page.getByRole("region", { name: "Where it stands" })).toContainText("known");
});

async function text(download: Download): Promise<string> {
  return readFile(await download.path(), "utf8");
}

test("12: a picture is shared, with all that it is written on it", async ({ page, world }) => {
  const way = await Way.begin(page);
  await way.click(way.link(world.recorded.name).first());
  await way.click(way.link(world.row.case).first());
  const coming = page.waitForEvent("download");
  await way.click(page.getByRole("button", { name: "SVG", exact: true }).first());
  const file = await coming;
  expect(file.suggestedFilename()).toMatch(/^mitigauge-[a-z0-9-]+\.svg$/);
  const svg = await text(file);
  for (const words of [world.row.case, world.row.host, "is better", "emulated"])
    expect(svg).toContain(words);
  expect(svg).not.toContain("href=");
  const picture = page.waitForEvent("download");
  await page.getByRole("button", { name: "PNG", exact: true }).first().click();
  const png = await readFile(await (await picture).path());
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  expect(png.length).toBeGreaterThan(5_000);
});

test("a flame graph's files have its title and what its colours mean", async ({ page, world }) => {
  await open(page, world.profiled.path);
  const coming = page.waitForEvent("download");
  await page.getByRole("button", { name: "SVG", exact: true }).click();
  const svg = await text(await coming);
  for (const words of [world.profiled.row.case, world.profiled.row.host, "emulated", "orange more"])
    expect(svg).toContain(words);
});
