import type { LineRow, SeriesLine } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const REVISIONS = ["v1", "v2", "v3", "v4"];

/** A line of so many rows; the newest revision of each is worse. */
function line(count: number, leftOut = 0): SeriesLine {
  const rows = Array.from({ length: count }, (_, at): LineRow => ({
    comparison: at % 2 === 0 ? "modes" : "since-before",
    host: "lab-amd",
    emulated: true,
    counted: true,
    case: `syscall case ${at}`,
    metric: "time_per_call",
    metric_title: "Time per call",
    unit: "ns",
    direction: "lower",
    arm: at % 2 === 0 ? "bhb-clear" : "this",
    first_worse: "v4",
    points: REVISIONS.map((revision, place) => ({
      revision,
      experiment_id: place + 1,
      case_id: at + 1,
      state: "measured",
      n: 4,
      bound: "exact",
      effect_percent: place === 3 ? 8 + at / 10 : 0.2 * place,
      ci_low_percent: place === 3 ? 7.5 : -0.4,
      ci_high_percent: place === 3 ? 9 + at / 10 : 1,
      verdict: place === 3 ? "worse" : "same",
      baseline: at % 2 === 0 ? "off" : "before",
      across: at % 2 === 1,
    })),
  }));
  return { revisions: REVISIONS, rows, left_out: leftOut };
}

test("the list leads to the series, and says where its newest revision stands", async ({
  page,
}) => {
  await open(page, "/series");
  const row = page.getByRole("row", { name: /vmscape-bhb/ });
  await expect(row.getByText("waiting", { exact: true })).toBeVisible();
  await row.getByRole("link", { name: "vmscape-bhb" }).click();
  await expect(page).toHaveURL(/\/series\/vmscape-bhb$/);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("vmscape-bhb");
});

test("each revision says what it changed, who sent it, and what it waits for", async ({ page }) => {
  await open(page, "/series/vmscape-bhb");
  const third = page.getByRole("article", { name: "v3" });
  await expect(third.getByText("vmscape_clear_history", { exact: true })).toBeVisible();
  await expect(third.getByText("vmscape_flush_history", { exact: true })).toBeVisible();
  await expect(third.getByText(/nothing attests who wrote it/)).toBeVisible();
  await third.getByText("8 patches").click();
  await third.getByText(/changed.*Add a loop that fills/).click();
  await expect(third.locator('[data-sign="+"]').first()).toBeVisible();
  const fifth = page.getByRole("article", { name: "v5" });
  await expect(fifth.getByText("mitigauge series approve vmscape-bhb v5")).toBeVisible();
  await expect(fifth.getByText("<img src=x onerror=alert(1)>").first()).toBeVisible();
});

test("what was left out is said, and that data leave nothing out", async ({ page }) => {
  await open(page, "/series/vmscape-bhb");
  const fourth = page.getByRole("article", { name: "v4" });
  await expect(
    fourth.getByText(/exits to userspace runs none of it, and is left out/),
  ).toBeVisible();
  await fourth.getByText("since-first: 2 cases measured, 0 left out").click();
  await expect(fourth.getByText(/sysctl_sched_base_slice.*is not known/)).toBeVisible();
});

test("the line is of what was measured, and leads to its cases", async ({ page }) => {
  await open(page, "/series/vmscape-bhb");
  const region = page.getByRole("region", { name: /The line/ });
  await expect(region.getByText("v4", { exact: true })).toBeVisible();
  const chart = region.getByRole("img").first();
  await expect(chart).toHaveAccessibleName(/v1: .*%.*against/);
  await region.getByRole("link").first().click();
  await expect(page).toHaveURL(/\/experiments\/\d+\/cases\/\d+\?host=/);
});

test("two hundred rows are shown, and how many more there are", async ({ page }) => {
  await page.route("**/api/series/vmscape-bhb/line", (route) =>
    route.fulfill({ json: line(200, 2800) }),
  );
  await open(page, "/series/vmscape-bhb");
  const region = page.getByRole("region", { name: /The line/ });
  await expect(region.getByRole("img")).toHaveCount(200);
  await expect(region.getByText("2800 more rows")).toBeVisible();
  await expect(region.getByText("since-before: against another kernel, before")).toBeVisible();
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 400]) {
    test(`a line of verdicts is accessible at ${width} in ${colorScheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.route("**/api/series/vmscape-bhb/line", (route) =>
        route.fulfill({ json: line(6) }),
      );
      await open(page, "/series/vmscape-bhb");
      await expectAccessible(page);
      await expectNothingBeyond(page);
      const shots = process.env.MITIGAUGE_SHOTS;
      if (shots !== undefined)
        await page.screenshot({ path: `${shots}/series-${width}-${colorScheme}.png` });
    });
  }
}

test("a series that there is not is said, with the way out", async ({ page }) => {
  await open(page, "/series/nothing");
  await expect(page.getByText(/no series 'nothing'/)).toBeVisible();
});

test("a revision that waits shows each line of its patches", async ({ page }) => {
  await open(page, "/series/vmscape-bhb");
  const waiting = page.getByRole("article", { name: "v5" });
  const patch = waiting.getByLabel("Patch: toys: Mend toy 1");
  await expect(patch).toContainText("diff --git a/toys/one.c b/toys/one.c");
  await expect(patch.locator("[data-sign='@']")).toHaveCount(1);
  const grounds = await Promise.all(
    ["+", "-", " "].map((sign) =>
      patch
        .locator(`[data-sign="${sign}"]`)
        .first()
        .evaluate((line) => getComputedStyle(line).backgroundColor),
    ),
  );
  expect(new Set(grounds).size).toBe(3);
  await expect(waiting).toContainText("1 file, 1 line added, 1 line removed");
  await expectAccessible(page);
});

test("a patch that was measured is shown when it is asked for", async ({ page }) => {
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/patches/")) asked.push(request.url());
  });
  const text = "diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n";
  await page.route("**/patches/*", (route) => route.fulfill({ body: text }));
  await open(page, "/series/vmscape-bhb");
  const first = page.getByRole("article", { name: "v1", exact: true });
  await first.getByText("8 patches").click();
  await expect(first.getByText(/^Diff /).first()).toBeVisible();
  // Those of the waiting revision alone.
  await expect.poll(() => asked.length).toBe(1);
  await first
    .getByText(/^Diff /)
    .first()
    .click();
  await expect(first.locator(".diff [data-sign='+']").first()).toBeVisible();
  expect(asked).toHaveLength(2);
});

test("letters that hide in a patch are seen, and markup stays text", async ({ page }) => {
  await page.route("**/patches/*", (route) =>
    route.fulfill({ body: "@@ -1 +1 @@\n-a\n+<b>if (x)</b> \u202e// fine\n" }),
  );
  await open(page, "/series/vmscape-bhb");
  const patch = page.getByRole("article", { name: "v5" }).locator(".diff").first();
  await expect(patch.locator("[data-sign='+']")).toHaveText("+<b>if (x)</b> ⟨U+202E⟩// fine");
  await expect(patch.locator("b")).toHaveCount(0);
});

test("a patch whose text the service does not give is said so", async ({ page }) => {
  const json = { error: "NotFound", message: "there is no blob", hint: "" };
  await page.route("**/patches/*", (route) => route.fulfill({ status: 404, json }));
  await open(page, "/series/vmscape-bhb");
  const waiting = page.getByRole("article", { name: "v5" });
  await expect(waiting).toContainText("The service gives no text of this patch");
  await expect(waiting.getByRole("button", { name: /Approve/ })).toBeVisible();
});
