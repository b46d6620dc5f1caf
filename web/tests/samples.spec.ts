/** What was collected beside a case, and where nothing was. */

import type { Row } from "../src/api/types";
import { expect, open, test } from "./world";

function pathOf(id: number, row: Row): string {
  return `/experiments/${id}/cases/${row.case_id}?host=${row.host}&metric=${row.metric}`;
}

test("arms are drawn over one another, with their figures as text", async ({ page, world }) => {
  const [first] = world.recorded.comparisons;
  const row = first?.rows[0];
  if (row === undefined) throw new Error("no row");
  await open(page, pathOf(world.recorded.id, row));
  const panel = page.getByRole("region", { name: "Beside the case" });
  await expect(panel.getByRole("heading", { name: "Exits to user space 1/s" })).toHaveCount(0);
  await expect(panel.getByRole("heading", { name: /^Exits to user space/ }).first()).toBeVisible();
  await expect(panel.locator("canvas").first()).toBeVisible();
  const legend = panel.locator("figure", { hasText: "Processors busy" }).locator("li");
  expect(await legend.count()).toBe(first?.arms.filter((arm) => arm.boots_effective > 0).length);
  await expect(legend.first()).toContainText("%");
  const reasons = panel.getByRole("region", { name: "Exits to user space by reason" });
  await expect(reasons.getByRole("row", { name: /port I\/O/ })).toBeVisible();
  await expect(panel).toContainText("Collecting took at most 0.21 %");
  await expect(panel).toContainText("power absent: no RAPL");
});

test("a case without series says how to have some", async ({ page, world }) => {
  const row = world.recorded.comparisons[1]?.rows[0];
  if (row === undefined) throw new Error("no row");
  await open(page, pathOf(world.recorded.id, row));
  const panel = page.getByRole("region", { name: "Beside the case" });
  await expect(panel).toContainText("Nothing was collected beside this case.");
  await expect(panel).toContainText("collect: [cpu, schedstat, exits]");
});

test("a micro case says that no real work was measured", async ({ page, world }) => {
  const row = world.recorded.comparisons
    .flatMap((comparison) => comparison.rows)
    .find((one) => one.primary && one.cells.some((cell) => cell.verdict === "worse"));
  if (row === undefined) throw new Error("no case that became worse");
  await open(page, pathOf(world.recorded.id, row));
  const panel = page.getByRole("region", { name: "Beside real work" });
  await expect(panel).toContainText("None was measured in this experiment");
});
