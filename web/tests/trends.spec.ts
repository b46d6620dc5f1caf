import type { Page } from "@playwright/test";
import type { Session, Trend, TrendChange } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const CHANGE: TrendChange = {
  id: 7,
  trend_id: 1,
  environment: "lab",
  host_class: "Intel Icelake-Server (TCG)",
  hosts: ["lab-intel"],
  emulated: true,
  clock: "counted",
  workload: "syscall",
  case: "syscall basic",
  mode: "spectre-bhi/off",
  line: "",
  metric: "time_per_call",
  metric_title: "Time per call",
  unit: "ns",
  direction: "lower",
  kind: "lasting",
  verdict: "worse",
  state: "open",
  version: 1,
  at: "2026-11-10T06:00:00Z",
  earliest_at: "2026-11-09T06:00:00Z",
  latest_at: "2026-11-11T06:00:00Z",
  until: null,
  before: 685,
  after: 719,
  effect_percent: 5,
  ci_low_percent: 4.8,
  ci_high_percent: 5.2,
  p: 0.001,
  values_before: 10,
  values_after: 8,
  causes: [],
  run_before: 1,
  run_after: 2,
  experiment_before: 1,
  experiment_after: 2,
  found_at: "2026-11-12T06:00:00Z",
  written_at: "2026-11-12T06:00:00Z",
  superseded_at: null,
  reason: "",
  said: "",
  said_by: "",
};

// The worker takes in runs that ended, soon after it has begun.
test.beforeEach(async ({ request }) => {
  const answers = () => request.get("/api/trends/1").then((answer) => answer.ok());
  await expect.poll(answers, { timeout: 45_000 }).toBe(true);
});

test("trends are found by words, and each leads to its values and their boots", async ({
  page,
}) => {
  // There are more trends than a page has: the other experiment has fifty metrics.
  await open(page, "/regressions?tab=trends&find=syscall");
  await expect(page.getByRole("link", { name: "syscall basic" }).first()).toBeVisible();
  await page.getByRole("search", { name: "Trends" }).getByLabel("Find").fill("getpgid");
  await expect(page).toHaveURL(/find=getpgid/);
  await expect(page.getByRole("link", { name: "syscall basic" })).toHaveCount(0);
  await page.getByRole("link", { name: "syscall getpgid" }).first().click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("syscall getpgid");
  const values = page.getByRole("region", { name: "Newest values" });
  await expect(values.getByRole("row").nth(1)).toContainText("lab-intel");
  await expect(page.getByText("No change can be told yet: 14 values tell one")).toBeVisible();
});

/** The first trend with one open change, and what was posted to accept it. */
async function withOpenChange(page: Page) {
  const posted: unknown[] = [];
  const change = { ...CHANGE };
  await page.route("**/api/trends/1", async (route) => {
    const answer = await route.fetch();
    const trend = (await answer.json()) as Trend;
    await route.fulfill({ json: { ...trend, changes: [change] } });
  });
  await page.route("**/api/trends/changes/7/accept", async (route) => {
    const body = route.request().postDataJSON() as { text: string };
    posted.push(body);
    if (posted.length > 1) {
      change.state = "accepted";
      change.said = body.text;
      change.said_by = "operator";
      await route.fulfill({ json: change });
      return;
    }
    await route.fulfill({
      status: 409,
      json: { error: "conflict", message: "The change has a newer version.", hint: "Look again." },
    });
  });
  return posted;
}

test("a change is accepted with its reason, and a refusal is said", async ({ page }) => {
  const posted = await withOpenChange(page);
  await open(page, "/trends/1");
  const change = page.getByRole("article", { name: "Change 7" });
  const button = change.getByRole("button", { name: "Accept" });
  await expect(button).toBeDisabled();
  await expectAccessible(page);
  await change.getByLabel("Why it is taken as it is").fill("the new allocator");
  await change.getByLabel("it was known to come").check();
  await button.click();
  await expect(change.getByRole("alert")).toContainText("The change has a newer version.");
  await button.click();
  await expect(button).toHaveCount(0);
  expect(posted).toEqual(Array(2).fill({ text: "the new allocator", expected: true }));
});

test("who may not accept a change sees the command and no button", async ({ page }) => {
  await withOpenChange(page);
  await page.route("**/api/session", async (route) => {
    const answer = await route.fetch();
    const session = (await answer.json()) as Session;
    await route.fulfill({ json: { ...session, role: "viewer", rights: ["read"] } });
  });
  await open(page, "/trends/1");
  const change = page.getByRole("article", { name: "Change 7" });
  await expect(change.getByText(/mitigauge trends accept 7/)).toBeVisible();
  await expect(change.getByRole("button", { name: "Accept" })).toHaveCount(0);
});

test("an address has the names of a host class as they are", async ({ page }) => {
  await open(page, `/trends/classes/bench/${encodeURIComponent("Xeon, 8280")}`);
  await expect(page).toHaveTitle(/^Xeon, 8280, trends/);
});

test("a filter that no trend fits says so", async ({ page }) => {
  await open(page, "/regressions?tab=trends&changed=1&find=nothing-like-it");
  await expect(page.getByRole("link", { name: "syscall basic" })).toHaveCount(0);
  await expect(page.getByRole("main")).toContainText(/no trend/i);
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 400]) {
    for (const path of ["/regressions?tab=trends", "/trends/1"]) {
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

/** A trend of a value a day, whose kernel changed on the fifth. */
function trendOf(id: number, mode: string, level: number): Trend {
  const values = Array.from({ length: 9 }, (_, day) => ({
    run_id: id * 100 + day,
    experiment_id: 1,
    case_id: 1,
    at: `2026-11-0${day + 1}T06:00:00Z`,
    value: level * (day < 5 ? 1 : 1.1),
    low: null,
    high: null,
    boots: 4,
    host: "lab-intel",
    kernel: day < 5 ? "7.2.1" : "7.2.2",
    arm: "off",
    profiled: false,
    outlier: false,
    turned: day === 5 ? ["kernel 7.2.1 → 7.2.2"] : [],
  }));
  const { environment, host_class, emulated, clock, workload, metric, metric_title, unit } = CHANGE;
  return {
    ...{ id, mode, environment, host_class, emulated, clock, workload, metric, metric_title, unit },
    ...{ case: "syscall basic", line: "", direction: "lower", primary: true, delta_percent: 1 },
    ...{ level, values, left_out: 0, levels: [{ first: 0, end: 9, mean: level }] },
    ...{ changes: [], no_change: "No change.", earlier: [], annotations: [], others: [] },
  } as unknown as Trend;
}

test("a part of the time is drawn over, and stays in the address", async ({ page }) => {
  await page.route("**/api/trends/1", (route) =>
    route.fulfill({ json: trendOf(1, "spectre-bhi/off", 700) }),
  );
  await open(page, "/trends/1");
  const chart = page.getByRole("group", { name: "Values of syscall basic" });
  await expect(chart.locator(".turn")).toHaveCount(1);
  await expect(chart.locator(".turn text")).toHaveText("7.2.2");
  await expectAccessible(page);
  const box = await chart.boundingBox();
  if (box === null) throw new Error("there is no chart");
  await page.mouse.move(box.x + box.width * 0.4, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.8, box.y + 120, { steps: 5 });
  await page.mouse.up();
  await expect(page).toHaveURL(/from=2026-11-0/);
  await expect(page.getByText(/^\d values from/)).toBeVisible();
  await page.reload();
  await expect(page.getByText(/^\d values from/)).toBeVisible();
  await page.getByRole("button", { name: "All of it" }).click();
  await expect(chart.locator("a.value")).toHaveCount(9);
});

/** A trend of twenty calm values, of which one is ten times the others. */
function withOneWild(): Trend {
  const trend = trendOf(1, "spectre-bhi/off", 700);
  const [first] = trend.values;
  if (first === undefined) throw new Error("there is no value");
  const values = Array.from({ length: 20 }, (_, day) => ({
    ...first,
    run_id: 100 + day,
    at: new Date(Date.UTC(2026, 9, 1 + day)).toISOString(),
    value: day === 9 ? 7000 : 700 + (day % 3),
    kernel: "7.2.1",
    turned: [],
  }));
  return { ...trend, values, levels: [{ first: 0, end: 20, mean: 701 }] };
}

test("one wild value keeps its figure at the edge, and all are shown on request", async ({
  page,
}) => {
  await page.route("**/api/trends/1", (route) => route.fulfill({ json: withOneWild() }));
  await open(page, "/trends/1");
  const chart = page.getByRole("group", { name: "Values of syscall basic" });
  const apart = async () => {
    const dots = await chart.locator("a.value > circle:not(.reachable)").all();
    const heights = await Promise.all(dots.map((dot) => dot.getAttribute("cy").then(Number)));
    return Math.max(...heights) - Math.min(...heights);
  };
  await expect(chart.locator(".off-scale text")).toHaveText("7.000 µs");
  await expect(page.getByText("1 value off the scale, at its edge: 7.000 µs")).toBeVisible();
  expect(await apart()).toBeGreaterThan(100);
  await expectAccessible(page);
  await page.getByLabel("Scale of all values").check();
  await expect(page).toHaveURL(/scale=all/);
  await expect(chart.locator(".off-scale")).toHaveCount(0);
  await expect(page.getByText("off the scale")).toHaveCount(0);
  await expect(chart.locator("a.value > circle:not(.reachable)")).toHaveCount(20);
});
