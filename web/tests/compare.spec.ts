import type { Page } from "@playwright/test";
import type { Pair } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const heading = (page: Page) => page.getByRole("heading", { level: 1 });
const answer = (page: Page) => page.getByTestId("answer");
const rows = (page: Page) => page.locator(".pair-matrix tbody tr:not(.gap)");
const filters = (page: Page) => page.getByRole("search", { name: "Rows" });
const MANY = 6000;

function pathOf(a: number, b: number, more = ""): string {
  return `/experiments?tab=compare&a=${a}&b=${b}${more}`;
}

/** Thousands of rows, given in pages as the service gives them. */
async function many(page: Page): Promise<void> {
  await page.route(/\/api\/pairs\?/, async (route) => {
    const response = await route.fetch();
    const view = (await response.json()) as Pair;
    const query = new URL(route.request().url()).searchParams;
    const offset = Number(query.get("offset"));
    const last = Math.min(offset + Number(query.get("limit")), MANY);
    const [row] = view.rows;
    if (row === undefined) {
      const url = new URL(route.request().url());
      url.searchParams.set("offset", "0");
      const first = (await (await route.fetch({ url: url.href })).json()) as Pair;
      view.rows.push(...first.rows.slice(0, 1));
    }
    const pattern = view.rows[0];
    if (pattern === undefined) throw new Error("no row to show many of");
    view.rows = Array.from({ length: last - offset }, (_, i) => ({
      ...pattern,
      case: `case ${offset + i + 1}`,
      a: { ...pattern.a, case_id: offset + i + 1 },
    }));
    view.total = view.matched = MANY;
    view.offset = offset;
    view.next_offset = last < MANY ? last : null;
    await route.fulfill({ json: view });
  });
}

test("three clicks after home two experiments stand beside each other", async ({ page, world }) => {
  await open(page, "/");
  await page.getByRole("navigation", { name: "Main" }).getByText("Experiments").click();
  const tick = (name: string, id: number) => page.getByLabel(`Compare ${name}, ${id}`);
  await tick(world.recorded.name, world.recorded.id).check();
  await tick(world.again.name, world.again.id).check();
  await expect(tick(world.live.name, world.live.id)).toBeDisabled();
  await page.locator(".ticked").getByRole("link", { name: "Compare", exact: true }).click();
  await expect(page).toHaveURL(pathOf(world.recorded.id, world.again.id));
  await expect(answer(page)).toContainText(/\d+ of \d+ rows differ/);
});

test("boxes are ticked and the link is followed by keyboard alone", async ({ page, world }) => {
  await open(page, "/experiments");
  await page.getByLabel(`Compare ${world.again.name}, ${world.again.id}`).focus();
  await page.keyboard.press("Space");
  const link = page.getByRole("link", { name: "Compare with…" });
  await expect(link).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Untick" }).focus();
  await page.keyboard.press("Shift+Tab");
  await expect(link).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`/experiments?tab=compare&a=${world.again.id}`);
});

test("from an experiment's page the other one is chosen by words", async ({ page, world }) => {
  await open(page, `/experiments/${world.recorded.id}`);
  await page.getByRole("link", { name: "Compare with…" }).click();
  await expect(heading(page)).toHaveText("Compare two experiments");
  const b = page.getByRole("region", { name: "Experiment B" });
  await expect(page.getByRole("region", { name: "Experiment A" })).toContainText(
    world.recorded.name,
  );
  await b.getByRole("searchbox").fill(world.again.name);
  await expect(b.getByRole("button")).toHaveCount(1);
  await expectAccessible(page);
  await b.getByRole("button", { name: world.again.name }).click();
  await expect(page).toHaveURL(pathOf(world.recorded.id, world.again.id));
  await expect(heading(page)).toContainText(world.again.name);
});

test("the answer comes first, then what differs, then every row", async ({ page, world }) => {
  await open(page, pathOf(world.recorded.id, world.again.id));
  await expect(answer(page)).toBeInViewport();
  const facts = page.getByRole("region", { name: "What differs between them" });
  await expect(facts.getByRole("row", { name: /kernel/ })).toContainText("7.3.0-again");
  const first = rows(page).first();
  await expect(first).toContainText("differs");
  await expect(first).toContainText("+200");
  await expect(rows(page).filter({ hasText: "not effective" }).first()).toContainText(
    "not compared",
  );
});

test("cells lead to either case, and the flame graph is of both experiments", async ({
  page,
  world,
}) => {
  const path = pathOf(world.recorded.id, world.again.id);
  await open(page, path);
  const row = rows(page)
    .filter({ has: page.getByText("flame graph") })
    .first();
  await row.locator("[data-label='B'] a").click();
  await expect(page).toHaveURL(new RegExp(`/experiments/${world.again.id}/cases/`));
  await page.goBack();
  await row.getByRole("link", { name: /Flame graph/ }).click();
  await expect(page).toHaveURL(/\/profiles\?.*b_experiment=/);
  await expect(page.getByRole("main")).toContainText(`in experiment ${world.recorded.id}`);
  await expect(page.getByRole("main")).toContainText(`in experiment ${world.again.id}`);
  await expect(page).toHaveTitle(new RegExp(`in experiment ${world.again.id}`));
});

test("filters, order and hosts stand in the address, also after a reload", async ({
  page,
  world,
}) => {
  await open(page, pathOf(world.recorded.id, world.again.id));
  const all = await rows(page).count();
  await filters(page).getByRole("button", { name: "Only what differs" }).click();
  await expect(page).toHaveURL(/only=differs/);
  await expect(rows(page)).not.toHaveCount(all);
  const said = await answer(page).textContent();
  await filters(page).getByRole("searchbox").fill("syscall");
  await expect(page).toHaveURL(/find=syscall/);
  await expect(rows(page)).toHaveCount(1);
  await page.reload();
  await expect(rows(page)).toHaveCount(1);
  // What is filtered changes no verdict.
  await expect(answer(page)).toHaveText(said ?? "");
  await filters(page).getByRole("searchbox").fill("nothing-like-it");
  await expect(page.getByText("No row is like that.")).toBeVisible();
  await page.getByRole("button", { name: "find nothing-like-it" }).click();
  await expect(rows(page).first()).toBeVisible();
  await filters(page).getByLabel("lab-intel beside").selectOption("lab-amd");
  await expect(page).toHaveURL(/hosts=lab-intel%3Alab-amd/);
});

test("both sides are swapped", async ({ page, world }) => {
  await open(page, pathOf(world.recorded.id, world.again.id));
  await page.getByRole("button", { name: "Swap A and B" }).click();
  await expect(page).toHaveURL(pathOf(world.again.id, world.recorded.id));
  await expect(rows(page).filter({ hasText: "syscall basic" })).toContainText("\u221266.7%");
});

test("one experiment twice, and one that is not there, have a way out", async ({ page, world }) => {
  await open(page, pathOf(world.recorded.id, world.recorded.id));
  await expect(page.getByRole("alert")).toContainText("cannot be compared with itself");
  await expectAccessible(page);
  await open(page, pathOf(world.recorded.id, 99_999));
  await expect(page.getByRole("main")).toContainText("there is no experiment 99999");
  await open(page, pathOf(world.recorded.id, world.desktops.id));
  await expect(answer(page)).toContainText("The experiments have no row in common: ");
  await expect(page.getByText("without a pair").first()).toBeVisible();
});

test("of thousands of rows only those in sight are in the page", async ({ page, world }) => {
  await many(page);
  await open(page, pathOf(world.recorded.id, world.again.id));
  await expect(rows(page).first()).toContainText("case 1");
  expect(await rows(page).count()).toBeLessThan(60);
  const box = page.locator(".pair-box");
  await expect
    .poll(async () => {
      await box.evaluate((element) => {
        element.scrollTop = element.scrollHeight;
      });
      const last = await rows(page).last().textContent();
      return Number(/case (\d+)/.exec(last ?? "")?.[1]);
    })
    .toBeGreaterThanOrEqual(1600);
  expect(await rows(page).count()).toBeLessThan(60);
  // The next rows may be on their way.
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [400, 1440]) {
    for (const size of ["few", "many"] as const) {
      test(`${size} rows at ${width} pixels in ${colorScheme}: accessible, nothing beyond`, async ({
        page,
        world,
      }) => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 860 });
        if (size === "many") await many(page);
        await open(page, pathOf(world.recorded.id, world.again.id));
        await expect(answer(page)).toBeInViewport({ ratio: 1 });
        await expect(rows(page).first()).toBeAttached();
        await expectAccessible(page);
        await expectNothingBeyond(page);
      });
    }
  }
}

test("what is touched is large enough", async ({ page, world }) => {
  await page.setViewportSize({ width: 400, height: 860 });
  for (const path of [
    pathOf(world.recorded.id, world.again.id),
    "/experiments?tab=compare",
    "/experiments",
  ]) {
    await open(page, path);
    const small = await page
      .locator(".pair-matrix a, .pair-filters .field, .pair-filters .button, .picks button, .tick")
      .evaluateAll(
        (all) =>
          all
            .map((each) => each.getBoundingClientRect())
            .filter(({ width, height }) => Math.min(width, height) < 24).length,
      );
    expect(small).toBe(0);
  }
});
