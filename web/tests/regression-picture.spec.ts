/** A regression's page shows what it says: the values over time, the boots of its case. */

import type { Page } from "@playwright/test";
import type { Regression, Trend } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

/** A cell that was filed, with its experiment and case. */
const FILED = 7;
const TREND = 9001;
const CHANGE = 42;

const change = (id: number, at: string, effect: number) => ({
  ...{ id, trend_id: TREND, environment: "lab", host_class: "class", hosts: ["lab-intel"] },
  ...{ emulated: true, clock: "counted", workload: "syscall", case: "syscall getpgid" },
  ...{ mode: "spectre-bhi/loop", line: "", metric: "time_per_call", metric_title: "Time per call" },
  ...{ unit: "ns", direction: "lower", kind: "lasting", verdict: "worse", state: "open" },
  ...{ version: 1, at, earliest_at: at, latest_at: at, until: null, before: 700, after: 735 },
  ...{ effect_percent: effect, ci_low_percent: effect - 1, ci_high_percent: effect + 1 },
  ...{ p: 0.001, values_before: 8, values_after: 8, causes: [] },
  ...{ run_before: 1, run_after: 2, experiment_before: 1, experiment_after: 2 },
  ...{ found_at: at, written_at: at, superseded_at: null, reason: "", said: "", said_by: "" },
});

const day = (number: number) => new Date(Date.UTC(2026, 9, number)).toISOString();

const trend = {
  ...{ id: TREND, environment: "lab", host_class: "class", workload: "syscall" },
  ...{ case: "syscall getpgid", metric: "time_per_call", metric_title: "Time per call" },
  ...{ unit: "ns", direction: "lower", mode: "spectre-bhi/loop", line: "", primary: true },
  ...{ emulated: true, clock: "counted", level: 735, delta_percent: 1, left_out: 0 },
  ...{ annotations: [], earlier: [], notes: [], others: [] },
  levels: [{ first: 0, end: 8, mean: 700 }],
  changes: [change(41, day(3), 12), change(CHANGE, day(8), 5)],
  values: Array.from({ length: 16 }, (_, at) => ({
    ...{ at: day(at + 1), value: at < 8 ? 700 + (at % 2) : 735, low: 690, high: 740, boots: 4 },
    ...{ run_id: at, arm: "loop", host: "lab-intel", kernel: "7.2.1", outlier: false },
    ...{ experiment_id: 1, case_id: 2, profiled: false, turned: [] },
  })),
} as unknown as Trend;

/** The filed regression, with a trend besides. */
async function withTrend(page: Page, answer: { status: number; json: unknown }): Promise<void> {
  await page.route(`**/api/regressions/${FILED}`, async (route) => {
    const regression = (await (await route.fetch()).json()) as Regression;
    await route.fulfill({ json: { ...regression, trend_id: TREND, change_id: CHANGE } });
  });
  await page.route(`**/api/trends/${TREND}`, (route) => route.fulfill(answer));
}

const overTime = (page: Page) => page.getByRole("region", { name: "Over time" });
const boots = (page: Page) => page.getByRole("region", { name: "Boots" });

test("the answer comes first, then the picture, then where it stands", async ({ page }) => {
  await withTrend(page, { status: 200, json: trend });
  await open(page, `/regressions/${FILED}`);
  await expect(page.locator(".headline")).toContainText("Time per call is worse by +39.9%");
  const chart = overTime(page).getByRole("group", { name: "Values of syscall getpgid" });
  // Its own change is marked; the other one is a link away.
  await expect(chart.locator(".change")).toHaveCount(1);
  await expect(chart).toContainText("+5.0%");
  await expect(chart).not.toContainText("+12");
  await expect(overTime(page).getByRole("link", { name: "1 other change" })).toBeVisible();
  const plot = boots(page).getByRole("group", { name: "Boots of syscall getpgid by block" });
  await expect(plot.getByRole("link")).not.toHaveCount(0);
  const order = await page.getByRole("main").locator("section h2, .headline").allTextContents();
  expect(order[0]).toContain("Time per call is worse by");
  expect(order.slice(1)).toEqual([
    ...["Over time", "Boots", "Where it stands", "Evidence", "History"],
  ]);
});

test("a change that the trend no longer has is said to be missing", async ({ page }) => {
  await withTrend(page, { status: 200, json: { ...trend, changes: [] } });
  await open(page, `/regressions/${FILED}`);
  await expect(overTime(page)).toContainText("not among those that the trend has now");
  await expect(overTime(page).locator(".change")).toHaveCount(0);
});

test("a deleted trend is said to be deleted, and the page stays whole", async ({ page }) => {
  const json = { error: "NotFound", message: "There is no trend 9001.", hint: "" };
  await withTrend(page, { status: 404, json });
  await open(page, `/regressions/${FILED}`);
  await expect(overTime(page)).toContainText("Its trend was deleted.");
  await expect(boots(page).locator("svg").first()).toBeVisible();
  await expect(page.getByRole("region", { name: "Where it stands" })).toBeVisible();
  await expect(page).toHaveTitle(/^syscall getpgid, regression 7/);
});

test("a trend that does not come can be asked for again", async ({ page }) => {
  const json = { error: "Full", message: "The store is full.", hint: "" };
  await withTrend(page, { status: 500, json });
  await open(page, `/regressions/${FILED}`);
  await expect(overTime(page).getByRole("alert")).toContainText("The store is full.");
  await page.unroute(`**/api/trends/${TREND}`);
  await page.route(`**/api/trends/${TREND}`, (route) => route.fulfill({ json: trend }));
  await overTime(page).getByRole("button", { name: "Try again" }).click();
  await expect(overTime(page).locator(".change")).toHaveCount(1);
});

for (const colorScheme of ["light", "dark"] as const)
  for (const width of [1440, 400])
    test(`it is accessible in ${colorScheme} and fits ${width} pixels`, async ({ page }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await withTrend(page, { status: 200, json: trend });
      await open(page, `/regressions/${FILED}`);
      await expect(overTime(page).locator(".change")).toHaveCount(1);
      await expectAccessible(page);
      await expectNothingBeyond(page);
    });

test("one wild boot keeps its figure at the edge, and the others their heights", async ({
  page,
  world,
}) => {
  const { row } = world;
  let wild = 0;
  await page.route(/\/api\/.*\/cases\/\d+\?host=/, async (route) => {
    const view = (await (await route.fetch()).json()) as {
      points: Record<string, { boot_id: number; mean: number | null }[]>;
    };
    const [first] = (view.points[row.metric] ?? []).filter(({ mean }) => mean !== null);
    if (first?.mean != null) {
      wild = first.boot_id;
      first.mean *= 100;
    }
    await route.fulfill({ json: view });
  });
  await open(page, world.paths.case ?? "");
  const chart = page.getByRole("group", { name: `Boots of ${row.case} by block` });
  await expect(chart.locator(".off-scale")).toHaveCount(1);
  await expect(page.getByText(`1 value off the scale, at its edge: `)).toContainText(
    `boot ${wild}`,
  );
  await expect(chart.getByRole("link", { name: `boot ${wild},` })).toHaveAccessibleName(
    /off the scale/,
  );
  const heights = await chart
    .locator("a.dot .halo")
    .evaluateAll((all) => all.map((each) => Number(each.getAttribute("cy"))));
  expect(Math.max(...heights) - Math.min(...heights)).toBeGreaterThan(150);
  const others = heights.filter((height) => height > Math.min(...heights));
  expect(Math.max(...others) - Math.min(...others)).toBeGreaterThan(100);
  await expectAccessible(page);
});
