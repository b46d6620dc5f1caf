/** What a case tells besides its metrics: load curve, density by threshold, phases, actions. */

import type { Details } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test, type World } from "./world";

function pathOf({ desktops }: World, more = ""): string {
  const row = desktops.comparisons[0]?.rows[0];
  if (row === undefined) throw new Error("no case of desktops");
  return `/experiments/${desktops.id}/cases/${row.case_id}?host=${row.host}${more}`;
}

const DETAILS = /\/api\/experiments\/\d+\/cases\/\d+\/details\?/;

test("arms' curves are drawn over one another and stand in a table", async ({ page, world }) => {
  await open(page, pathOf(world));
  const panel = page.getByRole("region", { name: "Load curve slowdown" });
  await expect(panel.locator("svg path.line")).toHaveCount(2);
  await expect(
    panel.getByRole("img", { name: /Slowdown by sessions\. off: .* at 3 sessions/ }),
  ).toBeVisible();
  await expect(panel).toContainText("n 6");
  await panel.getByRole("button", { name: "All points as a table" }).click();
  const table = panel.getByRole("table");
  await expect(table.getByRole("row")).toHaveCount(4);
  await expect(table.getByRole("row", { name: /^2/ })).toContainText(
    /218\.7\s%\s\[212\.6, 224\.9\]\sn 6/u,
  );
});

test("the threshold is in the address and moves line and row", async ({ page, world }) => {
  await open(page, pathOf(world));
  const panel = page.getByRole("region", { name: "Load curve slowdown" });
  const threshold = panel.getByRole("combobox", { name: "threshold" });
  // The case's own to begin with.
  await expect(threshold).toHaveValue("25");
  const line = panel.locator("line.threshold");
  const before = Number(await line.getAttribute("y1"));
  await threshold.selectOption("200");
  await expect(page).toHaveURL(/threshold=200/);
  await expect.poll(async () => Number(await line.getAttribute("y1"))).toBeLessThan(before);
  const reached = page.getByRole("region", { name: "Density, table" });
  await expect(reached.locator('tr[data-shown="true"]')).toContainText(/200\s%/u);
  await page.reload();
  await expect(threshold).toHaveValue("200");
});

test("a density has interval and change, and says in how many boots it was reached", async ({
  page,
  world,
}) => {
  await open(page, pathOf(world));
  const table = page.getByRole("region", { name: "Density, table" });
  const hundred = table.getByRole("row", { name: /^100 %/ });
  await expect(hundred).toContainText(/1\.4\d+\ssessions\s?\[1\.\d+, 1\.\d+\] n 6/u);
  await expect(hundred).toContainText(/\+12\.\d%/u);
  const most = table.getByRole("row", { name: /^400 %/ });
  await expect(most).toContainText(/≥ 2\.9\d+\ssessions.*reached in 4 of 6 boots/u);
  await expect(most).toContainText("reached in 0 of 6 boots");
});

test("phases and actions are chosen, and actions sorted, in the address", async ({
  page,
  world,
}) => {
  await open(page, pathOf(world));
  const phases = page.getByRole("region", { name: "Phases", exact: true });
  await expect(phases.getByRole("row", { name: /^CPU-ready time/ })).toContainText("73.8");
  await phases.getByRole("combobox", { name: "phase" }).selectOption("one session alone");
  await expect(page).toHaveURL(/phases=baseline/);
  await expect(phases.getByRole("row", { name: /^CPU-ready time/ })).toContainText("9.395");
  // The lab tells no power: absent, not zero.
  await expect(phases.getByRole("row", { name: /^Power/ })).toHaveCount(0);

  const actions = page.getByRole("region", { name: "Actions", exact: true });
  await expect(actions.getByRole("row")).toHaveCount(13);
  await expect(actions.getByRole("row").nth(1)).toContainText("Log-in");
  await actions.getByRole("combobox", { name: "figure" }).selectOption("95th percentile");
  await actions.getByRole("combobox", { name: "order" }).selectOption("largest, ibpb");
  await expect(page).toHaveURL(/actions=p95_s/);
  const figures = await actions.locator("tbody tr td:nth-child(3) .value").allTextContents();
  const seconds = figures.map((text) => Number.parseFloat(text));
  expect(seconds).toEqual(seconds.toSorted((a, b) => b - a));
  await expect(actions.getByRole("row").nth(1)).not.toContainText("Search");
});

test("more metrics than fit side by side are chosen from a list", async ({ page, world }) => {
  await open(page, pathOf(world));
  await page.getByRole("combobox", { name: "metric" }).selectOption("CPU-ready time");
  await expect(page).toHaveURL(/metric=cpu_ready_time/);
  await expect(page.getByRole("heading", { name: /^CPU-ready time/ })).toBeVisible();
});

test("a workload that tells nothing more shows nothing of it", async ({ page, world }) => {
  const answer = page.waitForResponse(DETAILS);
  await open(page, world.paths.case ?? "");
  expect(((await (await answer).json()) as Details).declared).toBe(false);
  await expect(page.getByRole("heading", { name: "Boots" })).toBeVisible();
  await expect(page.getByRole("heading", { name: /curve/i })).toHaveCount(0);
});

test("before any boot has told, the page says what to run", async ({ page, world }) => {
  await page.route(DETAILS, async (route) => {
    const details = (await (await route.fetch()).json()) as Details;
    const arms = details.arms.map((arm) => ({ ...arm, boots: 0 }));
    await route.fulfill({ json: { ...details, arms, curve: null, breakdowns: [], untold: 3 } });
  });
  await open(page, pathOf(world));
  const panel = page.getByRole("region", { name: "Curve and breakdowns" });
  await expect(panel).toContainText("3 older boots measured the case and told none.");
  await expect(panel).toContainText("mitigauge experiment submit");
  await expectAccessible(page);
});

test("one boot has no interval, and says so", async ({ page, world }) => {
  await page.route(DETAILS, async (route) => {
    const details = (await (await route.fetch()).json()) as Details;
    const none = { low: null, high: null, boots: 1, of: 1 };
    const alone = { change_low: null, change_high: null, ...none };
    await route.fulfill({
      json: {
        ...details,
        arms: details.arms.map((arm) => ({ ...arm, boots: 1 })),
        curve: details.curve && {
          ...details.curve,
          lines: details.curve.lines.map((line) => ({
            ...line,
            points: line.points.map((point) => ({ ...point, ...none, of: undefined })),
          })),
          thresholds: details.curve.thresholds.map((row) => ({
            ...row,
            cells: row.cells.map((cell) => ({ ...cell, ...alone })),
          })),
        },
      },
    });
  });
  await open(page, pathOf(world));
  const hundred = page
    .getByRole("region", { name: "Density, table" })
    .getByRole("row", { name: /^100 %/ });
  await expect(hundred).toContainText("one boot: no interval");
  await expect(hundred).toContainText(/\+12\.\d%/u);
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 400]) {
    test(`details are accessible at ${width} in ${colorScheme}`, async ({ page, world }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await open(page, pathOf(world, "&threshold=200"));
      await expect(page.getByRole("region", { name: "Density, table" })).toBeVisible();
      await page.getByRole("button", { name: "All points as a table" }).click();
      await expectAccessible(page);
      await expectNothingBeyond(page);
      const shots = process.env.MITIGAUGE_SHOTS;
      if (shots !== undefined)
        await page.screenshot({
          path: `${shots}/details-${width}-${colorScheme}.png`,
          fullPage: true,
        });
    });
  }
}
