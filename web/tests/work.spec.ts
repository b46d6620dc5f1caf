/** A day's work from the first page: each task in at most three clicks, and what is done is done once. */

import type { Locator, Page } from "@playwright/test";
import { clickAtRest, expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const VIEWERS_TOKEN = `mgt_${"v".repeat(43)}`;

/** Clicks, and how many there were. */
class Clicks {
  made = 0;

  async on(what: Locator): Promise<void> {
    await clickAtRest(what);
    this.made += 1;
  }
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const dialog = (page: Page) => page.getByRole("dialog");

/** How often the browser sends such a request from now on. */
function count(page: Page, method: string, path: RegExp): () => number {
  let seen = 0;
  page.on("request", (request) => {
    if (request.method() === method && path.test(new URL(request.url()).pathname)) seen += 1;
  });
  return () => seen;
}

function fits(name: string, path: string, opens?: string): void {
  for (const width of [1440, 400])
    for (const colorScheme of ["light", "dark"] as const)
      test(`${name} is accessible and fits, ${width} wide and ${colorScheme}`, async ({ page }) => {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await open(page, path);
        if (opens !== undefined) await button(page, opens).click();
        await expectAccessible(page);
        await expectNothingBeyond(page);
      });
}

// While one test has taken the host, another could neither take it nor ask for runs on it.
test.describe("on a host that is there for all", () => {
  test.describe.configure({ mode: "default" });

  test("a bisection is started from a regression, which then shows it", async ({ page }) => {
    await open(page, "/");
    const clicks = new Clicks();
    await clicks.on(page.locator('a[href="/regressions/7"]').first());
    await clicks.on(page.getByRole("link", { name: "Start a bisection" }));
    await expect(page.getByRole("status")).toContainText("which of its 8 patches is it?");
    await expect(page.getByLabel("Series", { exact: true })).toHaveValue("vmscape-bhb");
    await expect(page.getByLabel("Its case")).toHaveValue(/test=/);
    const sent = count(page, "POST", /^\/api\/bisections$/);
    await clicks.on(button(page, "Start the bisection"));
    await expect(page).toHaveURL(/\/bisections\/\d+$/);
    expect(clicks.made).toBeLessThanOrEqual(3);
    expect(sent()).toBe(1);
    const number = page.url().split("/").at(-1) ?? "";
    await open(page, "/regressions/7");
    await expect(page.getByRole("link", { name: `Bisection ${number}` })).toBeVisible();
    await open(page, `/bisections/${number}`);
    await button(page, "Cancel…").click();
    await expect(dialog(page)).toContainText("what it learned so far stays");
    await button(page, "Cancel it").click();
    await expect(page.getByRole("status").first()).toContainText("cancelled");
  });

  test("a host is reserved and given back, by keyboard alone", async ({ page }) => {
    await open(page, "/hosts/lab-intel");
    await button(page, "Reserve…").focus();
    await page.keyboard.press("Enter");
    await expect(dialog(page).getByLabel("For", { exact: true })).toBeFocused();
    await page.keyboard.press("Tab");
    await page.keyboard.type("its firmware");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("status").filter({ hasText: "its firmware" })).toContainText(
      "Reserved by operator",
    );
    await button(page, "Give it back…").focus();
    await page.keyboard.press("Enter");
    await expect(dialog(page)).toContainText("its firmware");
    await button(page, "Give it back").focus();
    await page.keyboard.press("Enter");
    await expect(button(page, "Reserve…")).toBeVisible();
  });

  test("a refusal keeps the dialog with what was typed, and says why", async ({ page }) => {
    await open(page, "/hosts/lab-intel");
    await button(page, "Set aside…").click();
    await dialog(page).getByLabel(/^Why/).fill("its fan");
    await page.route("**/set-aside", (route) =>
      route.fulfill({
        status: 409,
        json: { error: "Conflict", message: "somebody was quicker", hint: "Look again." },
      }),
    );
    await button(page, "Set aside").click();
    await expect(page.getByRole("alert")).toContainText("somebody was quicker Look again.");
    await expect(dialog(page).getByLabel(/^Why/)).toHaveValue("its fan");
    await page.unroute("**/set-aside");
    await button(page, "Set aside").click();
    await expect(page.getByRole("status").filter({ hasText: "Set aside by" })).toContainText(
      "its fan",
    );
    await button(page, "Use it again…").click();
    await button(page, "Use it again").click();
    await expect(button(page, "Set aside…")).toBeVisible();
  });

  test("a spec is checked as it is typed, with a way to the line that is wrong", async ({
    page,
  }) => {
    await open(page, "/experiments");
    await page.getByRole("link", { name: "New experiment…" }).click();
    await page.getByLabel("Begin with").selectOption("lab-demo");
    const takes = page.getByRole("region", { name: "What it will take" });
    await expect(takes).toContainText("Up to 20 boots on 2 hosts");
    const spec = page.getByRole("textbox", { name: "Spec" });
    const text = await spec.inputValue();
    await spec.fill(text.replace("vmscape/ibpb", "vmscape/ibpd"));
    await expect(takes.getByRole("alert")).toContainText("vmscape/ibpd");
    await expect(button(page, "Submit")).toBeDisabled();
    await takes
      .getByRole("button", { name: /^Go to line/ })
      .first()
      .click();
    await expect(spec).toBeFocused();
    const chosen = await spec.evaluate((field: HTMLTextAreaElement) =>
      field.value.slice(field.selectionStart, field.selectionEnd),
    );
    expect(chosen).toContain("vmscape/ibpd");
    await page.getByLabel("Begin with").selectOption("lab-small");
    await expect(spec).toHaveValue(/vmscape\/ibpd/);
    await button(page, "Replace what I typed").click();
    await expect(spec).toHaveValue(/lab-small/);
  });

  test("an experiment is submitted once, cancelled, and run again", async ({ page }) => {
    // Not the spec of the recorded one, whose name leads other tests to that.
    await open(page, "/experiments?tab=new&spec=lab-small");
    const sent = count(page, "POST", /^\/api\/experiments$/);
    await page.getByRole("button", { name: "Submit: up to 12 boots" }).dblclick();
    await expect(page).toHaveURL(/\/experiments\/\d+$/);
    expect(sent()).toBe(1);
    const made = page.url().split("/").at(-1) ?? "";
    await button(page, "Cancel…").click();
    await expect(dialog(page)).toContainText("cannot be gone on with");
    await button(page, "Cancel it").click();
    await expect(page.getByText("cancelled").first()).toBeVisible();
    await page.getByRole("link", { name: "Run again…" }).click();
    await expect(page).toHaveURL(new RegExp(`from=${made}$`));
    await expect(page.getByRole("textbox", { name: "Spec" })).toHaveValue(
      /^# The smallest experiment that goes/,
    );
  });

  fits("a host", "/hosts/lab-intel", "Reserve…");
});

test("a waiting series is approved, after what that means was said", async ({ page }) => {
  await open(page, "/");
  const clicks = new Clicks();
  const waits = page.getByRole("region", { name: "Waits for a person" });
  await clicks.on(waits.locator('a[href="/series/toys"]'));
  await clicks.on(button(page, "Approve…"));
  await expect(dialog(page)).toContainText("run as root");
  await expect(button(page, "I looked at them: approve")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(dialog(page)).toBeHidden();
  await expect(button(page, "Approve…")).toBeFocused();
  await button(page, "Approve…").click();
  const sent = count(page, "POST", /\/toys\/v1\/approve$/);
  await clicks.on(button(page, "I looked at them: approve"));
  await expect(button(page, "Build and measure…")).toBeVisible();
  expect(clicks.made).toBeLessThanOrEqual(3);
  expect(sent()).toBe(1);
});

test("a request by mail is read and decided", async ({ page }) => {
  await open(page, "/");
  await page
    .getByRole("region", { name: "Waits for a person" })
    .getByRole("link", { name: "1 mail with requests" })
    .click();
  await page.getByText("The mail", { exact: true }).click();
  await expect(page.getByLabel("The mail as it came")).toContainText("<img src=x onerror=");
  await expectAccessible(page);
  await button(page, "Leave alone…").click();
  await button(page, "Leave alone").click();
  await expect(page.getByText("None waits for a person.")).toBeVisible();
  await button(page, "All").click();
  await expect(page.getByRole("article")).toContainText("ignored");
});

test("a cell that is worse leads to a regression and to a bisection", async ({ page, world }) => {
  const row = world.recorded.comparisons
    .flatMap((comparison) => comparison.rows)
    .find((each) => each.cells.some((cell) => cell.verdict === "worse"));
  expect(row).toBeDefined();
  if (row === undefined) return;
  await open(
    page,
    `/experiments/${world.recorded.id}/cases/${row.case_id}?host=${row.host}&metric=${row.metric}`,
  );
  await expect(page.getByRole("link", { name: "Bisect…" })).toHaveAttribute("href", /arm=loop/);
  await button(page, "File a regression…").click();
  await button(page, "File it").click();
  // It was filed before: told so, and nothing is filed twice.
  await expect(page.getByRole("alert")).toContainText("it was filed already, as regression 7");
});

test("who may only read sees no button that changes anything", async ({ browser, baseURL }) => {
  const context = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const page = await context.newPage();
  await page.goto(`${baseURL ?? ""}/login`);
  await page.getByLabel("Token").fill(VIEWERS_TOKEN);
  await button(page, "Log in").click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Today");
  for (const path of [
    "/hosts/lab-intel",
    "/series/vmscape-bhb",
    "/series?tab=requests&show=all",
    "/fleet?tab=kernels",
  ]) {
    await page.goto(`${baseURL ?? ""}${path}`);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.getByRole("button", { name: "…" })).toHaveCount(0);
  }
  await page.goto(`${baseURL ?? ""}/experiments/new?spec=lab-demo`);
  await expect(page.getByText("needs the role submitter").first()).toBeVisible();
  await context.close();
});

fits("a new experiment", "/experiments?tab=new&spec=lab-demo");
fits("a new bisection", "/regressions?tab=new-bisection&regression=7");
fits("kernels", "/fleet?tab=kernels", "Build a kernel…");
fits("requests", "/series?tab=requests&show=all");

for (const [path, label] of [
  ["/regressions?tab=bisections", "Bisections"],
  ["/series", "Series"],
  ["/fleet?tab=jobs", "Jobs"],
  ["/fleet", "Hosts"],
] as const)
  test(`${label} are narrowed in the address, and come back with it`, async ({ page }) => {
    await open(page, path);
    const bar = page.getByRole("search", { name: label });
    await bar.getByLabel("Find").fill("no such thing");
    await expect(page).toHaveURL(/find=no\+such\+thing/);
    await expect(page.getByText(/^No .* is like that\.$/)).toBeVisible();
    await page.reload();
    await expect(bar.getByLabel("Find")).toHaveValue("no such thing");
    await bar.getByLabel("Find").fill("");
    await expect(page.getByText(/is like that/)).toHaveCount(0);
  });
