import type { Home } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const EMPTY: Home = {
  now: "2026-11-25T12:00:00Z",
  running: [],
  running_total: 0,
  waiting: [],
  waiting_total: 0,
  regressions: [],
  regression_counts: {},
  approvals: [],
  requests: 0,
  hosts: [],
  jobs: [],
  workers: 0,
  latest: [],
  experiments: 0,
};

test("each line leads to what it is about with one click", async ({ page, world }) => {
  await open(page, "/");
  await page.getByRole("link", { name: world.recorded.name }).first().click();
  await expect(page).toHaveURL(new RegExp(`/experiments/${world.recorded.id}$`));
  await page.goBack();
  await page.getByRole("link", { name: /^all \d+ experiments/ }).click();
  await expect(page).toHaveURL(/\/experiments$/);
});

test("a service that measured nothing says what to do next", async ({ page }) => {
  await page.route("**/api/home", (route) => route.fulfill({ json: EMPTY }));
  await open(page, "/");
  await expect(page.getByRole("heading", { name: "Nothing was measured yet" })).toBeVisible();
  await expect(page.getByText("mitigauge demo --recorded")).toBeVisible();
  await expect(page.getByText("mitigauge worker")).toBeVisible();
  await expectAccessible(page);
});

const BUSY: Partial<Home> = {
  experiments: 3,
  workers: 2,
  running_total: 9,
  running: [
    {
      host: "host-2",
      environment: "fleet",
      boots_done: 3,
      boots_total: 20,
      run: {
        run_id: 1,
        experiment_id: 1,
        experiment: "vmscape-on-sapphire-rapids-with-a-name-that-is-long",
        comparison: "vmscape",
        submitted_by: "carol",
        state: "running",
        takes_s: 7200,
        takes_low_s: 7000,
        takes_high_s: 7400,
        starts_in_s: null,
        starts_low_s: null,
        starts_high_s: null,
        not_known: "",
      },
    },
  ],
  waiting_total: 2,
  waiting: [{ host: "host-10", environment: "fleet", runs: 2, starts_in_s: 600, not_known: "" }],
  approvals: [
    {
      series: "vmscape-bhb",
      title: "x86/vmscape: clear the branch history <script>alert(1)</script>",
      revision: "v13",
      sender: "somebody@example.org",
      why: "its sender is not on the list of those whose patches run unasked",
    },
  ],
  hosts: [
    { host: "host-3", environment: "fleet", why: "host-3 is set aside: it smokes", waiting: 4 },
  ],
};

test("what runs and what waits for a person is said with its time", async ({ page }) => {
  await page.route("**/api/home", (route) => route.fulfill({ json: { ...EMPTY, ...BUSY } }));
  await open(page, "/");
  const runs = page.getByRole("region", { name: "Runs now" });
  await expect(runs).toContainText("boot 3 of 20, done in about 2 h");
  await expect(runs).toContainText("begins in about 10 min");
  await expect(runs.getByRole("link", { name: "8 more" })).toBeVisible();
  const waits = page.getByRole("region", { name: "Waits for a person" });
  await expect(waits).toContainText("your approval");
  await expect(waits).toContainText("<script>alert(1)</script>");
  await expect(waits.getByRole("link", { name: "host-3" })).toHaveAttribute(
    "href",
    "/hosts/host-3?environment=fleet",
  );
  await expect(waits).toContainText("4 runs waiting");
  for (const width of [1440, 400]) {
    await page.setViewportSize({ width, height: 900 });
    await expectAccessible(page);
    await expectNothingBeyond(page);
  }
});
