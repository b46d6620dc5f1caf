import type { Page } from "@playwright/test";
import type { Subscription } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

// Each test begins with no subscription of the person whom all of them log in as.
test.describe.configure({ mode: "default" });

const PATH = "/api/subscriptions";
const MAIL = "me@example.org";
const HOOK = "https://hooks.example.org/services/T0/B0/abcdefgh1234";

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const dialog = (page: Page) => page.getByRole("dialog");

/** What is posted needs a page of ours as its origin. */
function ours(page: Page): { headers: Record<string, string> } {
  const origin = new URL(page.url()).origin;
  return { headers: { Origin: origin, "Content-Type": "application/json" } };
}

async function stored(page: Page): Promise<Subscription[]> {
  return (await (await page.request.get(PATH)).json()) as Subscription[];
}

test.beforeEach(async ({ page }) => {
  await open(page, "/?tab=subscriptions");
  for (const each of await stored(page))
    await page.request.post(`${PATH}/${each.id}/remove`, { data: {}, ...ours(page) });
});

test("two clicks on a regression subscribe to its case", async ({ page }) => {
  await open(page, "/regressions/1");
  await button(page, "Subscribe…").click();
  await expect(dialog(page)).toContainText("what happens from now on");
  await dialog(page).getByLabel("To", { exact: true }).fill(MAIL);
  await button(page, "Subscribe").click();
  await expect(page.getByRole("status").filter({ hasText: "Subscribed" })).toBeVisible();
  const [made] = await stored(page);
  expect(made).toMatchObject({ kind: "case", way: "mail", to: MAIL, at_once: false });
  expect(made?.subject).toContain("syscall call-1");
  // The next time the address stands there already.
  await page.reload();
  await button(page, "Subscribe…").click();
  await expect(dialog(page).getByLabel("To", { exact: true })).toHaveValue(MAIL);
  await dialog(page).getByLabel("Of", { exact: true }).selectOption({ label: "my regressions" });
  await button(page, "Subscribe").click();
  await expect.poll(async () => (await stored(page)).length).toBe(2);
});

test("an address that comes late is filled in, and none over what was written", async ({
  page,
}) => {
  await open(page, "/regressions/1");
  await button(page, "Subscribe…").click();
  await dialog(page).getByLabel("To", { exact: true }).fill(MAIL);
  await button(page, "Subscribe").click();
  await expect.poll(async () => (await stored(page)).length).toBe(1);
  let answer = (): void => undefined;
  const asked = new Promise<void>((resolve) => (answer = resolve));
  await page.route(/\/api\/subscriptions(\?.*)?$/, async (route) => {
    await asked;
    await route.continue();
  });
  await page.reload();
  await button(page, "Subscribe…").click();
  const to = dialog(page).getByLabel("To", { exact: true });
  await expect(to).toHaveValue("");
  answer();
  await expect(to).toHaveValue(MAIL);
  await to.fill("other@example.org");
  await expect(to).toHaveValue("other@example.org");
});

for (const [where, of] of [
  ["/series/vmscape-bhb", "series vmscape-bhb"],
  ["/hosts/lab-intel?environment=lab", "host lab/lab-intel"],
  ["/?tab=weeks", "weekly reports"],
] as const) {
  test(`${where} offers what it is about`, async ({ page }) => {
    await open(page, where);
    await button(page, "Subscribe…").click();
    await expect(dialog(page)).toContainText(of);
    await dialog(page).getByLabel("To", { exact: true }).fill(MAIL);
    await button(page, "Subscribe").click();
    await page.getByRole("banner").getByRole("link", { name: "Subscriptions" }).click();
    await expect(page.getByRole("row").filter({ hasText: of })).toContainText(MAIL);
  });
}

test("a webhook's secret is shown once, and its address never whole", async ({ page }) => {
  await button(page, "Subscribe…").click();
  await dialog(page).getByLabel("By", { exact: true }).selectOption("webhook");
  await dialog(page).getByLabel("To", { exact: true }).fill(HOOK);
  await button(page, "Subscribe").click();
  const notice = page.getByRole("status").filter({ hasText: "shown this once" });
  await expect(notice.locator("code")).toHaveText(/^whsec_[0-9A-Za-z+/]{43}=$/);
  await expectAccessible(page);
  await page.setViewportSize({ width: 400, height: 800 });
  await expectNothingBeyond(page);
  await button(page, "I kept it").click();
  await expect(notice).toBeHidden();
  await page.reload();
  await expect(page.getByRole("row").filter({ hasText: "hooks.example.org/…1234" })).toBeVisible();
  await expect(page.getByText("whsec_")).toHaveCount(0);
  await expect(page.getByText("abcdefgh")).toHaveCount(0);
});

test("one is paused, resumed and removed, each said before", async ({ page }) => {
  const data = { kind: "week", way: "mail", address: MAIL };
  await page.request.post(PATH, { data, ...ours(page) });
  await open(page, "/?tab=subscriptions");
  const row = page.getByRole("row").filter({ hasText: MAIL });
  await row.getByRole("button", { name: "Pause…" }).click();
  await expect(dialog(page)).toContainText("not told later");
  await button(page, "Pause").click();
  await expect(row).toContainText("paused by operator");
  await row.getByRole("button", { name: "Resume…" }).click();
  await button(page, "Resume").click();
  await expect(row).toContainText("active");
  await row.getByRole("button", { name: "Remove…" }).click();
  await expect(dialog(page)).toContainText(`weekly reports to ${MAIL}`);
  await button(page, "Remove").click();
  await expect(row).toHaveCount(0);
  await expect(page.getByText("You are told of nothing yet.")).toBeVisible();
});

test("what is refused says why, and keeps what was typed", async ({ page }) => {
  await button(page, "Subscribe…").click();
  await dialog(page).getByLabel("By", { exact: true }).selectOption("webhook");
  const to = dialog(page).getByLabel("To", { exact: true });
  await to.fill("https://127.0.0.1/x");
  await button(page, "Subscribe").click();
  await expect(page.getByRole("alert")).toContainText("127.0.0.1 is no public address");
  await expect(to).toHaveValue("https://127.0.0.1/x");
});

for (const colorScheme of ["light", "dark"] as const)
  for (const width of [400, 1440])
    test(`the page is accessible and fits in ${colorScheme} at ${width}`, async ({ page }) => {
      const data = { kind: "new-regressions", way: "webhook", address: HOOK, at_once: true };
      await page.request.post(PATH, { data, ...ours(page) });
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      for (const path of [
        "/?tab=subscriptions",
        "/?tab=subscriptions&of=everybody",
        "/regressions/1",
      ]) {
        await open(page, path);
        await expectAccessible(page);
        await expectNothingBeyond(page);
      }
      await button(page, "Subscribe…").click();
      await expectAccessible(page);
      await expectNothingBeyond(page);
    });

test("a viewer is offered nothing that would be refused", async ({ page }) => {
  await page.context().clearCookies();
  const headers = { Origin: new URL(page.url()).origin, "Content-Type": "application/json" };
  const token = `mgt_${"v".repeat(43)}`;
  const answer = await page.request.post("/api/session", { data: { token }, headers });
  expect(answer.ok()).toBe(true);
  await open(page, "/regressions/1");
  await expect(button(page, "Subscribe…")).toHaveCount(0);
  await open(page, "/?tab=subscriptions&of=everybody");
  await expect(page.getByText("You are told of nothing yet.")).toBeVisible();
});
