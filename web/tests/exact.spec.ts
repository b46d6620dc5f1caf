/** What an operation runs, to the instruction: made up for the profiled case, in tests/web. */

import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const tab = (path: string, more = "") => `${path}&tab=exact${more}`;

test("the tab answers how many instructions each operation runs more", async ({ page, world }) => {
  await open(page, world.profiled.path);
  const tabs = page.getByRole("navigation", { name: "Profile" });
  await tabs.getByRole("link", { name: "Exact", exact: true }).click();
  await expect(page).toHaveURL(/tab=exact/);
  const answer = page.getByRole("region", { name: "Exact counts" });
  await expect(answer).toContainText("+130 instructions in each operation");
  await expect(answer).toContainText(/beside it \+131\.08 \(95 %: \+131\.06 … \+131\.09\)/);
  await expect(answer).toContainText("emulated");
  await expect(answer).toContainText("counted time");
  const side = answer.getByRole("row", { name: /^A off/ });
  for (const figure of ["132", "40.20", /344\.404.ns/, "< 0.0001", "4 boots"])
    await expect(side).toContainText(figure);
  // The page's other figure of the same question says what it is.
  await expect(answer).toContainText(
    /groups above are sampled: their totals, and the difference of \+[\d.]+.ns/,
  );
  await expect(page.locator(".sides-of summary")).toContainText(/[nµ]s\/op sampled in 4 boots/);
});

test("functions that differ are listed, all of them where they are asked for", async ({
  page,
  world,
}) => {
  await open(page, tab(world.profiled.path));
  const functions = page.getByRole("region", { name: /^Functions/ });
  await expect(functions.getByRole("row", { name: /clear_bhb_loop/ })).toContainText(/new.*\+120/);
  await expect(functions.getByRole("row", { name: /do_syscall_64/ })).toContainText("+10");
  const tick = functions.getByRole("row", { name: /tick_sched_handle/ });
  await expect(tick).toContainText(/\+0\.08.*\+0\.06 … \+0\.09/);
  await expect(functions.getByRole("row", { name: /\[libc\.so\.6\]/ })).toContainText("+1.00");
  await expect(functions.getByRole("status")).toHaveText("1–4 of 4 functions");
  await functions.getByLabel("all functions").check();
  await expect(page).toHaveURL(/rows=all/);
  await expect(functions.getByRole("status")).toHaveText(/^1–50 of \d\d functions$/);
  await page.getByLabel("Search functions").fill("helper_5");
  await expect(functions.getByRole("status")).toHaveText("1–11 of 11 functions");
  await page.getByLabel("Search functions").fill("nothing is called this");
  await expect(functions).toContainText("No function's name matches");
});

test("a click shows a function's instructions, and a reload keeps them", async ({
  page,
  world,
}) => {
  await open(page, tab(world.profiled.path));
  await page.getByRole("link", { name: "do_syscall_64" }).click();
  await expect(page).toHaveURL(/fn=do_syscall_64/);
  const lines = page.getByRole("region", { name: /^Instructions of do_syscall_64/ });
  const call = lines.getByRole("row").filter({ hasText: "callq clear_bhb_loop" });
  await expect(call).toContainText(/\+30.*new.*1.*\+1/);
  await expect(lines.getByText("new", { exact: true })).toHaveCount(10);
  await page.reload();
  await expect(call).toBeVisible();
  await expect(page.getByRole("link", { name: "Exact", exact: true })).toHaveAttribute(
    "aria-current",
    "page",
  );
  const rows = lines.getByRole("row");
  const folded = await rows.count();
  await lines.getByRole("button", { name: "16 instructions alike" }).click();
  await expect(rows).toHaveCount(folded + 15);
  await lines.getByRole("button", { name: "all", exact: true }).click();
  await expect(lines.getByRole("button", { name: /alike/ })).toHaveCount(0);
  await lines.getByRole("button", { name: "Close" }).click();
  await expect(lines).toHaveCount(0);
});

test("the footprint says what an operation runs through and where it branches", async ({
  page,
  world,
}) => {
  await open(page, tab(world.profiled.path));
  const footprint = page.getByRole("region", { name: "Footprint" });
  const row = (name: string) => footprint.getByRole("row", { name: new RegExp(`^${name}`) });
  await expect(row("lines of 64 bytes of code")).toContainText(/52.*56.*\+4/);
  await expect(row("pages of 4 KiB of code")).toContainText(/14.*14.*0/);
  await expect(row("taken branches")).toContainText(/92.*120.*\+28/);
  await expect(row("indirect branches")).toContainText(/1.*1.*0/);
  await expect(row("returns")).toContainText(/61.*62.*\+1/);
});

test("the bill says what costs on real processors, and what that predicts", async ({
  page,
  world,
}) => {
  await open(page, tab(world.profiled.path));
  const bill = page.getByRole("region", { name: "The bill of an operation" });
  const loop = bill.getByRole("row", { name: /clearing of the branch history/ });
  await expect(loop).toContainText(/0.*1.*\+1/);
  await expect(bill.getByRole("row", { name: /system call/ })).toContainText(/1.*1/);
  await expect(bill).toContainText(/Predicted for Intel Xeon Platinum 8280.*Prices: InstLatX64/);
  await expect(bill).toContainText(/without .*bhb-loop.*, whose price is unknown/);
});

test("the keyboard opens a function", async ({ page, world }) => {
  await open(page, tab(world.profiled.path));
  await page.getByRole("link", { name: "clear_bhb_loop" }).focus();
  await page.keyboard.press("Enter");
  const lines = page.getByRole("region", { name: /^Instructions of clear_bhb_loop/ });
  await expect(lines.getByRole("row").filter({ hasText: "jne" }).first()).toContainText("+25");
  await page.goBack();
  await expect(lines).toHaveCount(0);
});

test("a function that no operation runs says so", async ({ page, world }) => {
  await open(page, tab(world.profiled.path, "&fn=vfs_read"));
  await expect(page.getByText(/No operation runs it on either side/)).toBeVisible();
});

test("a case without counts says why, and what to do", async ({ page, world }) => {
  await open(page, `/experiments/${world.again.id}`);
  await page
    .getByRole("link", { name: /^Flame graph/ })
    .first()
    .click();
  await page.getByRole("link", { name: "Exact", exact: true }).click();
  await expect(page.getByText(/^No exact counts of/)).toBeVisible();
  await expect(page.getByText("mitigauge lab up")).toBeVisible();
});

test("a case that was counted and not profiled has a page of its counts", async ({
  page,
  world,
}) => {
  const { row } = world.profiled;
  const path = `/experiments/${world.recorded.id}/cases/${row.case_id + 1}?host=${row.host}`;
  // Time was not counted yet when the run of these pages was recorded.
  await page.route(`**/api/experiments/*/cases/${row.case_id + 1}?*`, async (route) => {
    const answered = await route.fetch();
    const found = (await answered.json()) as { clock: string };
    await route.fulfill({ response: answered, json: { ...found, clock: "counted" } });
  });
  await open(page, path);
  await page.getByRole("link", { name: "loop against off" }).click();
  await expect(page.getByText("this case was not profiled")).toBeVisible();
  const answer = page.getByRole("region", { name: "Exact counts" });
  await expect(answer).toContainText("+130 instructions in each operation");
  await page.getByRole("link", { name: "clear_bhb_loop" }).click();
  await expect(page.getByRole("region", { name: /^Instructions of clear_bhb_loop/ })).toBeVisible();
  await expectAccessible(page);
});

for (const colorScheme of ["light", "dark"] as const)
  for (const width of [1440, 400])
    test(`the tab is accessible in ${colorScheme} at ${width} pixels`, async ({ page, world }) => {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await open(page, tab(world.profiled.path, "&fn=do_syscall_64"));
      await expect(page.getByText("callq clear_bhb_loop")).toBeVisible();
      await expectAccessible(page);
      await expectNothingBeyond(page);
    });
