/** A function's instructions on both sides, as emulated hosts left them. */

import { expect, expectAccessible, open, test } from "./world";

const ENTRY = "entry_SYSCALL_64_after_hwframe";

const tab = (path: string, fn: string) => `${path}&tab=instructions&fn=${fn}`;

test("the table of functions leads to the instructions of one", async ({ page, world }) => {
  await open(page, `${world.profiled.path}&tab=functions&q=${ENTRY}`);
  await page.getByRole("link", { name: `Instructions of ${ENTRY}` }).click();
  await expect(page.getByRole("heading", { name: `Instructions of ${ENTRY}` })).toBeVisible();
});

test("a nop that the kernel replaced by a call is gone here and new there", async ({
  page,
  world,
}) => {
  await open(page, tab(world.profiled.path, ENTRY));
  const call = page.getByRole("row").filter({ hasText: "callq clear_bhb_loop" });
  await expect(call).toHaveCount(1);
  await expect(call).toContainText("new");
  const nop = page.getByRole("row").filter({ hasText: "gone" });
  await expect(nop).toContainText("nopl (%rax, %rax)");
  await expect(page.getByText(/An emulated processor is interrupted/)).toBeVisible();
  await expect(page.getByText(/without the function's code/)).toBeVisible();
});

test("what is alike is folded up, and unfolds", async ({ page, world }) => {
  await open(page, tab(world.profiled.path, ENTRY));
  const rows = page.getByRole("table").last().getByRole("row");
  const folded = await rows.count();
  await page
    .getByRole("button", { name: /instructions alike/ })
    .first()
    .click();
  expect(await rows.count()).toBeGreaterThan(folded + 20);
  await page.getByRole("button", { name: "all", exact: true }).click();
  await expect(page).toHaveURL(/lines=all/);
  await expect(page.getByRole("button", { name: /instructions alike/ })).toHaveCount(0);
});

test("the loop is new as a whole, and its cost is vouched for", async ({ page, world }) => {
  await open(page, tab(world.profiled.path, "clear_bhb_loop"));
  const together = page.getByRole("list", { name: "All together" });
  await expect(together).toContainText(/instructions new in B: \+\d+/);
  await expect(together).toContainText(/q < 0\.001|q 0\.0/);
});

test("where there are none the page says why, and which functions have some", async ({
  page,
  world,
}) => {
  await open(page, tab(world.profiled.path, "vfs_read"));
  await expect(page.getByText(/vfs_read was not among the hottest functions/)).toBeVisible();
  await page.getByRole("link", { name: "do_syscall_64" }).click();
  await expect(page.getByRole("heading", { name: /Instructions of do_syscall_64/ })).toBeVisible();
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`the instructions are accessible in ${colorScheme}`, async ({ page, world }) => {
    await page.emulateMedia({ colorScheme });
    await open(page, tab(world.profiled.path, ENTRY));
    await expect(page.getByText("callq clear_bhb_loop")).toBeVisible();
    await expectAccessible(page);
  });
}

test("the instructions fit 400 pixels", async ({ page, world }) => {
  await page.setViewportSize({ width: 400, height: 800 });
  await open(page, tab(world.profiled.path, ENTRY));
  await expect(page.getByText("callq clear_bhb_loop")).toBeVisible();
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(beyond).toBeLessThanOrEqual(0);
});
