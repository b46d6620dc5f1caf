import type { Page } from "@playwright/test";
import type { ExperimentPage, ExperimentSummary } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const heading = (page: Page) => page.getByRole("heading", { level: 1 });
const filters = (page: Page) => page.getByRole("search", { name: "Experiments" });
const box = (page: Page) => page.getByRole("combobox", { name: "Find anything" });

/** 120 experiments in pages, whatever is asked for. */
async function many(page: Page, request: { get: (path: string) => Promise<{ json(): unknown }> }) {
  const answer = await request.get("/api/experiments");
  const { experiments } = (await (answer.json() as Promise<unknown>)) as ExperimentPage;
  const [newest] = experiments;
  if (newest === undefined) throw new Error("there is no experiment");
  const of = (place: number): ExperimentSummary => ({
    ...newest,
    id: 1000 - place,
    name: `number ${place}`,
  });
  await page.route(/\/api\/experiments(\?.*)?$/, (route) => {
    const offset = Number(new URL(route.request().url()).searchParams.get("offset") ?? 0);
    const last = Math.min(offset + 50, 120);
    return route.fulfill({
      json: {
        experiments: Array.from({ length: last - offset }, (_, i) => of(offset + i + 1)),
        total: 120,
        offset,
        next: null,
        next_offset: last < 120 ? last : null,
      } satisfies ExperimentPage,
    });
  });
}

test("filters stand in the address, also after a reload and on the way back", async ({
  page,
  world,
}) => {
  await open(page, "/experiments");
  await filters(page).getByLabel("Find").fill(world.recorded.name);
  await expect(page).toHaveURL(/find=/);
  await filters(page).getByLabel("State").selectOption("finished");
  await expect(page).toHaveURL(/find=.*state=finished/);
  const link = page.getByRole("main").getByRole("link", { name: world.recorded.name }).first();
  await expect(link).toBeVisible();
  await expect(page.getByText(world.live.name, { exact: true })).toHaveCount(0);
  await page.reload();
  await expect(filters(page).getByLabel("Find")).toHaveValue(world.recorded.name);
  await expect(filters(page).getByLabel("State")).toHaveValue("finished");
  await link.click();
  await expect(heading(page)).toHaveText(world.recorded.name);
  await page.goBack();
  await expect(filters(page).getByLabel("State")).toHaveValue("finished");
  await expectAccessible(page);
});

test("hosts, workloads, modes and people can be chosen from what there is", async ({
  page,
  world,
}) => {
  await open(page, "/experiments");
  await filters(page).getByLabel("Host").selectOption(world.row.host);
  await expect(page).toHaveURL(new RegExp(`host=${world.row.host}`));
  await expect(page.getByRole("link", { name: world.recorded.name }).first()).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(page).toHaveURL(/\/experiments$/);
});

test("an empty list says what to take away", async ({ page, world }) => {
  await open(page, "/experiments?find=nothing-like-it&state=finished");
  await expect(page.getByText("No experiment is like that.")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "words nothing-like-it" }).click();
  await expect(page).toHaveURL(/\/experiments\?state=finished$/);
  await expect(page.getByRole("link", { name: world.recorded.name }).first()).toBeVisible();
});

test("pages keep their place", async ({ page, request }) => {
  await many(page, request);
  await open(page, "/experiments?find=number");
  await expect(page.getByText("1–50 of 120")).toBeVisible();
  await page.getByRole("link", { name: "Older" }).click();
  await expect(page.getByText("51–100 of 120")).toBeVisible();
  await expect(page).toHaveURL(/find=number&page=2/);
  await page.reload();
  await expect(page.getByText("51–100 of 120")).toBeVisible();
  await page.evaluate(() => {
    window.scrollTo(0, 900);
  });
  await expect.poll(() => page.evaluate(() => JSON.stringify(history.state))).toContain("900");
  await page.reload();
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBe(900);
  await page.getByRole("link", { name: "Older" }).click();
  await expect(page.getByText("101–120 of 120")).toBeVisible();
  await expect(page.getByRole("link", { name: "Older" })).toHaveCount(0);
  await page.goBack();
  await expect(page.getByText("51–100 of 120")).toBeVisible();
});

test("a slash leads to the search, arrows and Enter to what it found", async ({ page, world }) => {
  await open(page, "/fleet");
  await page.keyboard.press("/");
  await expect(box(page)).toBeFocused();
  await page.keyboard.type(world.recorded.name);
  const option = page.getByRole("option", { name: world.recorded.name }).first();
  // The last one leads to all that was found, and stands there before anything is.
  await expect(page.getByRole("listbox").getByRole("option").nth(1)).toBeVisible();
  await expect(option).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("ArrowDown");
  await expect(option).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Enter");
  await expect(heading(page)).toHaveText(world.recorded.name);
  await expect(page.getByRole("listbox")).toHaveCount(0);
});

test("Escape closes the list first, then leaves the field", async ({ page }) => {
  await open(page, "/fleet");
  await box(page).fill("lab");
  await expect(page.getByRole("listbox").getByRole("option").first()).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("listbox").getByRole("option")).toHaveCount(0);
  await expect(box(page)).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(box(page)).not.toBeFocused();
});

test("Enter alone leads to the page with all of it", async ({ page, world }) => {
  await open(page, "/fleet");
  await box(page).fill(world.row.host);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/find\?q=/);
  await expect(heading(page)).toHaveText("Find");
  await expect(page.getByRole("heading", { name: "Hosts" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("main").getByRole("link", { name: world.row.host, exact: true }).click();
  await expect(heading(page)).toHaveText(world.row.host);
});

test("what is typed and what is found is text, never a part of the page", async ({ page }) => {
  const hostile = "<img src=x onerror=alert(1)>";
  await page.route("**/api/search**", (route) =>
    route.fulfill({
      json: {
        query: hostile,
        groups: [
          {
            kind: "host",
            total: 1,
            found: [{ kind: "host", id: hostile, title: hostile, detail: hostile, href: "/fleet" }],
          },
        ],
      },
    }),
  );
  await open(page, `/find?${new URLSearchParams({ q: hostile }).toString()}`);
  await expect(page.getByRole("main").getByText(hostile).first()).toBeVisible();
  await box(page).fill(hostile);
  await expect(page.getByRole("listbox").getByRole("option").first()).toContainText(hostile);
  await expect(page.locator("img[onerror]")).toHaveCount(0);
});

for (const scheme of ["light", "dark"] as const)
  test(`on a phone nothing lies beyond the edge, ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width: 400, height: 800 });
    for (const path of ["/experiments", "/experiments?find=none-such", "/find?q=lab"]) {
      await open(page, path);
      await expectNothingBeyond(page);
      await expectAccessible(page);
    }
    await box(page).fill("lab");
    await expect(page.getByRole("listbox").getByRole("option").first()).toBeVisible();
    await expectNothingBeyond(page);
    await expectAccessible(page);
  });
