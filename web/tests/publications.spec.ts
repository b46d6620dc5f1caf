/** Where an experiment's result went, as its page shows it. */

import type { Page } from "@playwright/test";
import type { Publication } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const AT = "2026-11-28T12:00:00Z";

const SENT: Publication[] = [
  {
    ...{ target: "kcidb", state: "published", said: "12 rows", tries: 1 },
    ...{ next_at: AT, ended_at: AT },
  },
  {
    ...{ target: "patchwork", state: "waiting", said: "503 Service Unavailable", tries: 3 },
    ...{ next_at: "2026-11-28T12:10:00Z", ended_at: null },
  },
  {
    ...{ target: "github", state: "given_up", said: "404: no such commit", tries: 8 },
    ...{ next_at: AT, ended_at: AT },
  },
];

async function show(page: Page, sent: Publication[]): Promise<void> {
  await page.route(/\/api\/experiments\/\d+\/publications$/, (route) =>
    route.fulfill({ json: sent }),
  );
  await open(page, "/experiments/1");
}

const panel = (page: Page) => page.getByRole("region", { name: "Where it was published" });

test("each target says what it got, or why not and when it is tried again", async ({ page }) => {
  await show(page, SENT);
  const rows = panel(page).getByRole("row");
  await expect(rows).toHaveCount(4);
  await expect(rows.nth(1)).toContainText(/KCIDB.*published.*12 rows/);
  await expect(rows.nth(2)).toContainText(/patchwork.*waiting.*503.*3 tries.*again at/);
  await expect(rows.nth(3)).toContainText(/GitHub.*given up.*404/);
  await expectAccessible(page);
  await expectNothingBeyond(page);
});

test("an experiment that went nowhere has no such panel", async ({ page }) => {
  await show(page, []);
  await expect(page.getByRole("heading", { name: "Specification" })).toBeVisible();
  await expect(panel(page)).toHaveCount(0);
});
