/** Profiles of a real run, from the matrix to the frame. */

import { expect, open, test } from "./world";

test("a cell of the matrix leads to the flame graph of its boots", async ({ page, world }) => {
  await open(page, `/experiments/${world.recorded.id}`);
  await page.getByRole("link", { name: /Flame graph of loop against off/ }).click();
  await expect(page).toHaveURL(/\/profiles\?/);
  await expect(page.getByRole("heading", { level: 1 })).toContainText("syscall basic");
  await expect(page.getByText("emulated").first()).toBeVisible();
});

test("the clearing loop is a significant frame, new with its mitigation", async ({
  page,
  world,
}) => {
  await open(page, `${world.profiled.path}&tab=functions&q=clear_bhb_loop`);
  const loop = page.getByRole("row").filter({ hasText: "clear_bhb_loop" });
  await expect(loop).toHaveCount(1);
  await expect(loop).toContainText("new");
});

test("the case says which functions explain the difference", async ({ page, world }) => {
  await open(
    page,
    `/experiments/${world.recorded.id}/cases/${world.profiled.row.case_id}?host=${world.profiled.row.host}`,
  );
  const profiles = page.getByRole("region", { name: "Profiles" });
  await expect(profiles.getByText(/loop: 4 profiles/)).toBeVisible();
  await expect(profiles.getByText(/clear_bhb_loop/).first()).toBeVisible();
  await expect(profiles.getByRole("link", { name: "differential flame graph" })).toBeVisible();
  await expect(profiles.getByText("Hardware counters: absent on this host.")).toBeVisible();
});
