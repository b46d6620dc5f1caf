import { readFile } from "node:fs/promises";
import type { Download, Page } from "@playwright/test";
import { payload } from "./profile-payload";
import { deepTree, HOSTILE, needleTree, syscallTree } from "./profile-tree";
import { expect, expectAccessible, expectNothingBeyond, test } from "./world";

const ADDRESS = "/profiles?a=1&b=2&experiment=3&case=5&host=lab-intel";
const RAW_NAMES = { "1": ["CPU 3/KVM", "CPU 4/KVM"] };

/** Answers as the service would; gives back what it was asked. */
async function serve(page: Page, body = payload(syscallTree(), { raw_names: RAW_NAMES })) {
  const asked: string[] = [];
  await page.route("**/api/profiles/diff**", async (route) => {
    asked.push(new URL(route.request().url()).search);
    await route.fulfill({ contentType: "application/octet-stream", body: Buffer.from(body) });
  });
  return asked;
}

/** The whole graph, unless the address says otherwise. */
async function openProfile(page: Page, more = ""): Promise<void> {
  await page.goto(ADDRESS + (more.includes("zoom=") ? more : `${more}&zoom=all`));
  await expect(page.getByRole("heading", { level: 1, name: "syscall basic" })).toBeVisible();
}

const graph = (page: Page) => page.getByRole("application", { name: /^Flame graph of/ });
const inspector = (page: Page) => page.getByRole("region", { name: /^Chosen frame/ }).first();
const ancestors = (page: Page) => page.getByRole("navigation", { name: /^Zoomed frame/ }).first();
const search = (page: Page) => page.getByRole("searchbox", { name: "Search functions" });

/** Puts the pointer on a row, counted from the root at the bottom, at a share of the width. */
async function clickRow(page: Page, row: number, share: number): Promise<void> {
  const box = await graph(page).boundingBox();
  if (!box) throw new Error("the graph is not on the page");
  await graph(page).click({ position: { x: box.width * share, y: box.height - row * 18 - 9 } });
}

async function saved(page: Page, button: string): Promise<[Download, string]> {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: button, exact: true }).click();
  const file = await download;
  return [file, await readFile(await file.path(), "latin1")];
}

for (const colorScheme of ["light", "dark"] as const) {
  for (const tab of ["graph", "functions", "sandwich"]) {
    test(`the ${tab} of a profile is accessible in ${colorScheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme });
      await serve(page);
      await openProfile(page, `&tab=${tab}&fn=do_syscall_64&q=sys`);
      await expectAccessible(page);
    });
  }
}

for (const tab of ["graph", "functions", "sandwich"]) {
  test(`the ${tab} of a profile fits 400 pixels`, async ({ page }) => {
    await page.setViewportSize({ width: 400, height: 800 });
    await serve(page);
    await openProfile(page, `&tab=${tab}&fn=do_syscall_64`);
    await expectAccessible(page);
    await expectNothingBeyond(page);
  });
}

test("the service is asked for the data and not for the view", async ({ page }) => {
  const asked = await serve(page);
  await openProfile(page, "&where=kernel%3D6.16&view=icicle&q=x&zoom=1&tab=functions&sig=0");
  expect(asked).toEqual(["?a=1&b=2&case=5&experiment=3&host=lab-intel&where=kernel%3D6.16"]);
});

test("another host or experiment is chosen among those with profiles of the case", async ({
  page,
}) => {
  const group = { case_id: 5, host: "lab-intel", emulated: true, event: "cpu-clock", profiles: 8 };
  const groups = [
    { ...group, experiment_id: 4, experiment: "v2", case_id: 9, arm: "off" },
    { ...group, experiment_id: 3, experiment: "v1", arm: "off" },
    { ...group, experiment_id: 3, experiment: "v1", arm: "bhb-clear" },
    { ...group, experiment_id: 3, experiment: "v1", arm: "off", host: "bare", event: "cycles" },
  ];
  await page.route("**/api/profiles/groups**", (route) => route.fulfill({ json: groups }));
  const asked = await serve(page);
  await openProfile(page);
  const [a, b] = [page.getByLabel("Group A"), page.getByLabel("Group B")];
  await expect(a.locator("option:checked")).toHaveText("off on lab-intel, 8 profiles");
  await expect(b.locator("option:checked")).toHaveText("bhb-clear on lab-intel, 8 profiles");
  // Of another event, so that it cannot be compared.
  await expect(b.locator("option", { hasText: "bare" })).toBeDisabled();
  await b.selectOption({ index: 0 });
  await expect
    .poll(() => asked.at(-1))
    .toBe("?a=off&b=off&b_case=9&b_experiment=4&case=5&experiment=3&host=lab-intel");
});

test("the guest's own profile is chosen where there is one", async ({ page }) => {
  const asked = await serve(page, payload(syscallTree(), { wheres: ["host", "guest"] }));
  await openProfile(page);
  const system = page.getByRole("group", { name: "Profile of the" });
  await expect(system.getByRole("button", { name: "host" })).toHaveAttribute(
    "aria-pressed",
    "true",
  );
  await system.getByRole("button", { name: "guest" }).click();
  await expect.poll(() => asked.at(-1)).toContain("where=guest");
});

test("another basis and separate threads are asked of the service", async ({ page }) => {
  const asked = await serve(page);
  await openProfile(page);
  await page.getByRole("group", { name: "Cost" }).getByRole("button", { name: "share" }).click();
  await expect.poll(() => asked.at(-1)).toContain("basis=share");
  await page
    .getByRole("group", { name: "Threads and CPUs" })
    .getByRole("button", { name: "each" })
    .click();
  await expect.poll(() => asked.at(-1)).toContain("merge=0");
});

/** Opens the page as a link of the matrix does, which says nothing of the view. */
async function openPlain(page: Page): Promise<void> {
  await page.goto(ADDRESS);
  await expect(page.getByRole("heading", { level: 1, name: "syscall basic" })).toBeVisible();
}

const differs = (page: Page) => page.getByRole("list", { name: "What differs" });

test("the graph opens where it differs, with the way back to the whole", async ({ page }) => {
  await serve(page);
  await openPlain(page);
  await expect(ancestors(page)).toHaveText("allCPU */KVMsyscallentry_SYSCALL_64_after_hwframe");
  await expect(inspector(page).getByRole("heading")).toHaveText("clear_bhb_loopnew");
  await expect(page.getByText(/smallest part with 9\d\.\d.% of what differs/)).toBeVisible();
  await page.getByRole("button", { name: "Whole graph" }).click();
  await expect(ancestors(page)).toHaveText("all");
  await expect(page).toHaveURL(/zoom=all/);
  await page.reload();
  await expect(ancestors(page)).toHaveText("all");
  await page.getByRole("button", { name: "Where it differs" }).click();
  await expect(ancestors(page).getByRole("button")).toHaveCount(4);
  await page.goBack();
  await expect(ancestors(page)).toHaveText("all");
});

test("what differs is listed with size, sign and q, and leads to its place", async ({ page }) => {
  await serve(page);
  await openPlain(page);
  await expect(differs(page).getByRole("listitem").first()).toHaveText(
    /clear_bhb_loop\s*new\s*\+31\.20\s*ns\/op \(.+ … .+\)\s*q < 0\.001/,
  );
  await expect(differs(page)).toContainText(/amd_clear_divider\s*gone\s*−3\.2/);
  // Its own cost is what counts: the entry code only calls what differs.
  await expect(differs(page)).not.toContainText("__rcu_read_lock");
  await differs(page).getByRole("button", { name: "amd_clear_divider" }).click();
  await expect(ancestors(page)).toHaveText(/syscall_exit_to_user_mode$/);
  await expect(inspector(page).getByRole("heading")).toHaveText("amd_clear_dividergone");
  await expect(page).toHaveURL(/zoom=[0-9a-f]{16}/);
  await page.goBack();
  await expect(ancestors(page)).toHaveText(/entry_SYSCALL_64_after_hwframe$/);
});

test("where nothing differs beyond chance the graph is whole and says so", async ({ page }) => {
  await serve(page, payload(needleTree(3)));
  await openPlain(page);
  await expect(ancestors(page)).toHaveText("all");
  await expect(page.getByText("No frame differs beyond chance (q ≤ 0.05).")).toBeVisible();
  await expect(differs(page)).toHaveCount(0);
});

test("a click zooms, breadcrumbs and Escape and going back zoom out", async ({ page }) => {
  await serve(page);
  await openProfile(page);
  await clickRow(page, 1, 0.1);
  await expect(ancestors(page)).toHaveText("allCPU */KVM");
  await expect(page).toHaveURL(/zoom=[0-9a-f]{16}/);
  await clickRow(page, 2, 0.9);
  await expect(inspector(page).getByRole("heading")).toHaveText("syscall");
  await page.goBack();
  await expect(ancestors(page)).toHaveText("allCPU */KVM");
  await graph(page).press("Escape");
  await expect(ancestors(page)).toHaveText("all");
  await clickRow(page, 1, 0.1);
  await ancestors(page).getByRole("button", { name: "all" }).click();
  await expect(page).toHaveURL(/zoom=all/);
});

test("arrow keys walk and Enter zooms; the frame is said aloud", async ({ page }) => {
  await serve(page);
  await openProfile(page);
  await graph(page).focus();
  for (const key of ["ArrowUp", "ArrowUp", "ArrowUp"]) await page.keyboard.press(key);
  const heading = inspector(page).getByRole("heading");
  await expect(heading).toHaveText("entry_SYSCALL_64_after_hwframe");
  await expect(
    page.getByText(/^entry_SYSCALL_64_after_hwframe, a .+ difference .+ q/),
  ).toBeAttached();
  await page.keyboard.press("ArrowUp");
  await expect(heading).toHaveText("do_syscall_64");
  await page.keyboard.press("ArrowLeft");
  await expect(heading).toHaveText("clear_bhb_loopnew");
  await page.keyboard.press("Enter");
  await expect(ancestors(page).getByRole("button")).toHaveCount(5);
  await page.keyboard.press("Backspace");
  await expect(ancestors(page).getByRole("button")).toHaveCount(4);
  await page.keyboard.press("Home");
  await expect(ancestors(page)).toHaveText("all");
  await page.keyboard.press("ArrowDown");
  await expect(heading).toHaveText("all");
});

test("in an icicle graph the arrows are the other way round", async ({ page }) => {
  await serve(page);
  await openProfile(page, "&view=icicle");
  await graph(page).press("ArrowDown");
  await expect(inspector(page).getByRole("heading")).toHaveText("CPU */KVM");
});

test("a function that a patch renamed says what it is called in A", async ({ page }) => {
  await serve(page, payload(syscallTree(), { renamed: { "1": "CPU old/KVM" } }));
  await openProfile(page);
  await clickRow(page, 1, 0.1);
  await expect(inspector(page)).toContainText("Called in A CPU old/KVM");
});

test("the pointer shows a frame's figures, the inspector its recorded names", async ({ page }) => {
  await serve(page);
  await openProfile(page);
  const box = await graph(page).boundingBox();
  await graph(page).hover({ position: { x: 60, y: (box?.height ?? 0) - 18 - 9 } });
  const tip = page.locator(".flame-tip");
  await expect(tip).toContainText("CPU */KVM");
  await expect(tip).toContainText(/A .*ns\/op, B .*ns\/op/);
  await page.mouse.move(2, 2);
  await expect(tip).toHaveCount(0);
  await clickRow(page, 1, 0.1);
  await expect(inspector(page)).toContainText("CPU 3/KVM, CPU 4/KVM");
});

test("a search counts outermost matches once and is in the address", async ({ page }) => {
  await serve(page);
  await openProfile(page);
  // The page hears keys only once its effects have run; until then the box above it has this one.
  await expect(async () => {
    await page.evaluate(() => {
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    });
    await page.keyboard.press("/");
    await expect(search(page)).toBeFocused({ timeout: 500 });
  }).toPass();
  await page.keyboard.type("do_syscall");
  // One do_syscall_64 is within the other: two frames, the cost of the outer one.
  await expect(page.getByText(/2 frames of 1 name match: A 35.70.ns\/op/)).toBeVisible();
  await expect(page).toHaveURL(/q=do_syscall/);
  await page.reload();
  await expect(search(page)).toHaveValue("do_syscall");
  await search(page).press("Escape");
  await expect(page).not.toHaveURL(/q=/);
});

test("a wrong expression is said, and a search without matches as well", async ({ page }) => {
  await serve(page);
  await openProfile(page);
  await search(page).fill("/(/");
  await expect(page.getByRole("alert")).toContainText("Invalid regular expression");
  await search(page).fill("/^no such/");
  await expect(page.getByText("No name matches.")).toBeVisible();
  await search(page).fill("/^(syscall|swapper)$/");
  await expect(page.getByText(/2 frames of 2 names match/)).toBeVisible();
});

test("the list of keys opens by its key and closes", async ({ page }) => {
  await serve(page);
  await openProfile(page);
  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keys" });
  await expect(keys).toBeVisible();
  await keys.getByRole("button", { name: "Close" }).click();
  await expect(keys).toBeHidden();
});

test("the table sorts by its heads, and the order is in the address", async ({ page }) => {
  await serve(page);
  await openProfile(page, "&tab=functions");
  const names = page.getByRole("rowheader");
  const inFunctions = page.getByRole("table").last();
  await expect(inFunctions.locator("tbody tr").first()).toContainText("clear_bhb_loop");
  await page.getByRole("button", { name: "Self A" }).click();
  await expect(inFunctions.locator("tbody tr").first()).toContainText("entry_SYSRETQ");
  await expect(page.getByRole("columnheader", { name: "Self A" })).toHaveAttribute(
    "aria-sort",
    "descending",
  );
  await page.getByRole("button", { name: "Self A" }).click();
  await expect(page).toHaveURL(/sort=self_a/);
  await page.reload();
  await expect(page.getByRole("columnheader", { name: "Self A" })).toHaveAttribute(
    "aria-sort",
    "ascending",
  );
  await search(page).fill("rcu");
  await expect(names.filter({ hasText: "__rcu_read_lock" })).toHaveCount(1);
  await expect(page.getByText("1–1 of 1 function")).toBeVisible();
});

test("a row leads to the function's callers and callees, each counted once", async ({ page }) => {
  await serve(page);
  await openProfile(page, "&tab=functions&q=do_sys");
  await page.getByRole("link", { name: "do_syscall_64" }).click();
  await expect(page.getByRole("heading", { level: 2, name: "do_syscall_64" })).toBeVisible();
  await expect(page.getByText(/A 35.70.ns\/op, B .* from 1 place/)).toBeVisible();
  const callers = page.getByRole("application", { name: "Callers of do_syscall_64" });
  await callers.press("ArrowUp");
  await expect(inspector(page).getByRole("heading")).toHaveText("entry_SYSCALL_64_after_hwframe");
  const callees = page.getByRole("application", { name: "Callees of do_syscall_64" });
  await callees.press("ArrowDown");
  await callees.press("Enter");
  await expect(page).toHaveURL(/callees=/);
});

test("a function that these profiles do not have is said to be absent", async ({ page }) => {
  await serve(page);
  await openProfile(page, "&tab=sandwich&fn=nowhere");
  await expect(page.getByText(/nowhere is in none of these stacks/)).toBeVisible();
});

test("an address restores the whole view", async ({ page }) => {
  await serve(page);
  await openProfile(page);
  await graph(page).press("ArrowUp");
  await graph(page).press("Enter");
  await page.getByRole("group", { name: "Root" }).getByRole("button", { name: "top" }).click();
  await page.getByRole("group", { name: "Width" }).getByRole("button", { name: "B" }).click();
  await page
    .getByRole("group", { name: "Colour" })
    .getByRole("button", { name: "of the frame" })
    .click();
  await page.getByRole("checkbox", { name: /grey where/ }).uncheck();
  await page.reload();
  await expect(ancestors(page)).toHaveText("allCPU */KVM");
  const pressed = (group: string) =>
    page.getByRole("group", { name: group }).locator("[aria-pressed=true]");
  await expect(pressed("Root")).toHaveText("top");
  await expect(pressed("Width")).toHaveText("B");
  await expect(pressed("Colour").last()).toHaveText("of the frame");
  await expect(page.getByRole("checkbox", { name: /grey where/ })).not.toBeChecked();
});

test("a zoom that these profiles do not have shows everything and says so", async ({ page }) => {
  await serve(page);
  await openProfile(page, "&zoom=0123456789abcdef");
  await expect(page.getByText(/not in these profiles/)).toBeVisible();
  await expect(ancestors(page)).toHaveText("all");
});

test("every export is a file with a name that says what it is", async ({ page }) => {
  await serve(page);
  await openProfile(page);
  const [svg, drawing] = await saved(page, "SVG");
  expect(svg.suggestedFilename()).toBe("mitigauge-syscall-basic-off-vs-bhb-clear-operation.svg");
  expect(drawing).toContain("clear_bhb_loop");
  expect(drawing).not.toContain("<img");
  const [png, picture] = await saved(page, "PNG");
  expect(png.suggestedFilename()).toMatch(/\.png$/);
  expect(picture.slice(1, 4)).toBe("PNG");
  const [, both] = await saved(page, "Folded A and B");
  expect(both).toContain("CPU */KVM;syscall;entry_SYSCALL_64_after_hwframe;clear_bhb_loop 0 31.2");
  const [one, left] = await saved(page, "Folded A");
  expect(one.suggestedFilename()).toMatch(/\.a\.folded$/);
  expect(left).not.toContain("clear_bhb_loop");
  const [, scope] = await saved(page, "speedscope");
  const file = JSON.parse(scope) as { profiles: unknown[] };
  expect(file.profiles).toHaveLength(2);
});

test("a saved SVG opens as a picture, hostile names and all", async ({ page, context }) => {
  await serve(page);
  await openProfile(page);
  const [file] = await saved(page, "SVG");
  const opened = await context.newPage();
  await opened.setContent(await readFile(await file.path(), "utf8"));
  await expect(opened.locator("svg > g")).toHaveCount(20);
  await expect(opened.locator("img")).toHaveCount(0);
});

test("hostile names are text wherever they are shown", async ({ page }) => {
  await serve(page, payload(syscallTree(), { title: HOSTILE, event: HOSTILE }));
  for (const tab of ["graph", "functions", "sandwich"]) {
    const query = new URLSearchParams({ tab, fn: HOSTILE, q: "img" }).toString();
    await page.goto(`${ADDRESS}&${query}`);
    await expect(page.getByText(HOSTILE).first()).toBeVisible();
    await expect(page.locator("main img")).toHaveCount(0);
  }
});

test("a stack 500 deep can be walked to its end and zoomed", async ({ page }) => {
  await serve(page, payload(deepTree(500)));
  await openProfile(page);
  await graph(page).focus();
  for (let i = 0; i < 60; i++) await page.keyboard.press("ArrowUp");
  await expect(inspector(page).getByRole("heading")).toHaveText("call_60");
  await page.keyboard.press("Enter");
  await expect(ancestors(page).getByRole("button")).toHaveCount(61);
  const ring = page.locator(".ring[data-kind=chosen]");
  await expect(ring).toBeInViewport();
});

test("a rare deep stack does not leave the graph empty above", async ({ page }) => {
  await serve(page, payload(needleTree(100)));
  await openProfile(page);
  const box = await graph(page).boundingBox();
  expect(box?.height).toBeLessThan(26 * 18);
});

test("dragging moves the graph and does not zoom", async ({ page }) => {
  await serve(page, payload(deepTree(200)));
  await openProfile(page);
  const before = await graph(page).evaluate((box) => box.scrollTop);
  const box = await graph(page).boundingBox();
  if (!box) throw new Error("the graph is not on the page");
  await page.mouse.move(box.x + 100, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + 100, box.y + 220, { steps: 4 });
  await page.mouse.up();
  expect(await graph(page).evaluate((el) => el.scrollTop)).toBe(before - 120);
  await expect(ancestors(page)).toHaveText("all");
});

test("a chosen theme repaints the graph", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await serve(page);
  await openProfile(page);
  const pixel = () =>
    page.locator(".flame canvas").evaluate((canvas: HTMLCanvasElement) => {
      const ctx = canvas.getContext("2d");
      return [...(ctx?.getImageData(3, canvas.height - 4, 1, 1).data ?? [])].join();
    });
  const light = await pixel();
  await page.getByRole("button", { name: "Dark" }).click();
  await expect.poll(pixel).not.toBe(light);
});

test("profiles without samples say where to look", async ({ page }) => {
  await serve(page, payload({ name: "all" }));
  await openProfile(page);
  await expect(page.getByText(/Neither group has a sample/)).toBeVisible();
});

test("an address without profiles says how to come by one", async ({ page }) => {
  await page.goto("/profiles?view=icicle");
  await expect(page.getByRole("heading", { name: "No profiles chosen" })).toBeVisible();
});

test("a refusal is shown with its way out", async ({ page }) => {
  await page.route("**/api/profiles/diff**", (route) =>
    route.fulfill({
      status: 422,
      json: { error: "no_profiles", message: "No boot has a profile.", hint: "Ask for profiling." },
    }),
  );
  await page.goto(ADDRESS);
  await expect(page.getByRole("alert")).toContainText("No boot has a profile.Ask for profiling.");
  await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
});

test("an answer that is no profile is named, not drawn", async ({ page }) => {
  await serve(page, new TextEncoder().encode("<!doctype html><title>proxy</title>").buffer);
  await page.goto(ADDRESS);
  await expect(page.getByRole("alert")).toContainText("It does not begin with MGPD.");
});
