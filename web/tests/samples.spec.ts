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
  await expect(panel.locator(".plot .line").first()).toBeAttached();
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

test("an undecided cell says what it would take, and orders it", async ({ page, world }) => {
  const rows = world.recorded.comparisons.flatMap((each) => each.rows);
  const row = rows.find((each) => each.cells.some((cell) => cell.verdict === "undecided"));
  const cell = row?.cells.find((each) => each.verdict === "undecided");
  if (row === undefined || cell === undefined) throw new Error("no undecided cell");
  await open(page, pathOf(world.recorded.id, row));
  const said = page.getByTestId("undecided").first();
  await expect(said).toContainText(`cannot be told with ${cell.blocks} blocks`);
  await expect(said).toContainText(/They show a change of >?[\d.]+% or more/);
  await expect(said).toContainText(/blocks? would decide it/);
  const asked: unknown[] = [];
  await page.route(`**/api/experiments/${world.recorded.id}/again`, (route) => {
    asked.push(route.request().postDataJSON());
    return route.fulfill({ status: 201, json: { ...world.recorded } });
  });
  await said.getByRole("button", { name: "Measure with more blocks" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Blocks, 1 to 64").fill("17");
  await dialog.getByRole("button", { name: "Measure with more blocks" }).click();
  await expect(page).toHaveURL(new RegExp(`/experiments/${world.recorded.id}$`));
  expect(asked).toEqual([{ blocks: 17 }]);
});

test("a cell that is decided asks for nothing more", async ({ page, world }) => {
  const rows = world.recorded.comparisons.flatMap((each) => each.rows);
  const row = rows.find((each) => each.cells.every((cell) => cell.verdict !== "undecided"));
  if (row === undefined) throw new Error("no decided row");
  await open(page, pathOf(world.recorded.id, row));
  await expect(page.getByRole("region", { name: row.metric_title })).toBeVisible();
  await expect(page.getByTestId("undecided")).toHaveCount(0);
});
