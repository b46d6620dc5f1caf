import type { Weekly } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const HOSTILE = "<img src=x onerror=alert(1)>";

/** A report with so many regressions, each with a picture; the first one's name is hostile. */
function report(count: number): Weekly {
  const point = (week: number, value: number) => ({
    at: `2026-10-${String(5 + 7 * week).padStart(2, "0")}T03:00:00Z`,
    value,
    low: value - 0.6,
    high: value + 0.6,
  });
  const span = (text: string, tone: "" | "worse" | "emulated" = "", href = "") => ({
    text,
    tone,
    href,
  });
  return {
    week: "2026-W44",
    in_words: "Monday 26 October to Sunday 1 November 2026",
    complete: true,
    version: 2,
    made_at: "2026-11-02T00:10:00Z",
    before: "2026-W43",
    after: null,
    document: {
      week: "2026-W44",
      title: "What changed in week 2026-W44",
      subject: "[2026-W44] new regressions",
      lead: [[span("Compared: vmscape/ibpb with vmscape/off.")]],
      sections: [
        {
          id: "new-worse",
          title: `New regressions (${count})`,
          about: [],
          entries: Array.from({ length: count }, (_, at) => ({
            head: [
              span(at === 0 ? HOSTILE : `load ${at}`, "", `/experiments/1/cases/${at + 1}?host=a`),
              span(": Time per call "),
              span("+6.5% [+5.9, +7.1], worse", "worse"),
              span(" [emulated]", "emulated"),
            ],
            lines: [[span("vmscape/ibpb instead of vmscape/off; ns, lower is better")]],
            picture: {
              id: `new-worse-${at}`,
              title: `load ${at}: change in percent`,
              unit: "%",
              points: [point(0, 0.1), point(1, -0.2), point(2, 6.5)],
              changed_at: null,
              zero: true,
            },
          })),
          tables: [
            {
              caption: "",
              columns: [
                { title: "host", right: false },
                { title: "used", right: true },
              ],
              rows: [[[span("host-000")], [span("9.0 h")]]],
            },
          ],
          more: "12 more, all smaller.",
        },
      ],
    },
  };
}

test("the list leads to the week of the recorded experiment", async ({ page, world }) => {
  await open(page, "/?tab=weeks");
  const [, week] = /\/weekly\/(.+)/.exec(world.paths.weekly ?? "") ?? [];
  await page.getByRole("link", { name: week ?? "" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(`What changed in week ${week}`);
  await expect(page.getByText(/Compared: kernel settings and kernels/)).toBeVisible();
});

test("a week says what got worse, marks what is emulated, and leads to the case", async ({
  page,
  world,
}) => {
  await open(page, world.paths.weekly ?? "");
  const worse = page.getByRole("region", { name: /Comparisons newly worse/ });
  await expect(worse.getByText(/%.*worse$/).first()).toBeVisible();
  await expect(worse.getByText("[emulated]").first()).toBeVisible();
  await expect(
    page.getByRole("region", { name: /Not measured/ }).getByText("setting was not in force"),
  ).toBeVisible();
  await worse.getByRole("link").first().click();
  await expect(page).toHaveURL(/\/experiments\/\d+\/cases\/\d+\?host=/);
});

test("each form of the report can be taken away", async ({ page, world }) => {
  await open(page, world.paths.weekly ?? "");
  await page.getByText("Download", { exact: true }).click();
  const coming = page.waitForEvent("download");
  await page.getByRole("link", { name: "Mail", exact: true }).click();
  expect((await coming).suggestedFilename()).toMatch(/^weekly-2\d{3}-W\d\d\.eml$/);
});

test("a name that is markup stands as it is, and pictures say what they show", async ({ page }) => {
  await page.route("**/api/weekly/2026-W44", (route) => route.fulfill({ json: report(3) }));
  await open(page, "/weekly/2026-W44");
  await expect(page.getByRole("link", { name: HOSTILE })).toBeVisible();
  const pictures = page.getByRole("img");
  await expect(pictures).toHaveCount(3);
  await expect(pictures.first()).toHaveAccessibleName(/change in percent.*: 6.5 %/);
  await expect(page.getByText("version 2: later data said otherwise")).toBeVisible();
  await expect(page.getByText("12 more, all smaller.")).toBeVisible();
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 400]) {
    test(`forty changes are accessible at ${width} in ${colorScheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.route("**/api/weekly/2026-W44", (route) => route.fulfill({ json: report(40) }));
      await open(page, "/weekly/2026-W44");
      await expectAccessible(page);
      await expectNothingBeyond(page);
    });
  }
}

test("a week that has no report says what makes it", async ({ page }) => {
  await open(page, "/weekly/2020-W07");
  await expect(page.getByText(/mitigauge report weekly 2020-W07/)).toBeVisible();
});

test("what is no week is no page", async ({ page }) => {
  await open(page, "/weekly/yesterday");
  await expect(page.getByText("There is no page at this address.")).toBeVisible();
});
