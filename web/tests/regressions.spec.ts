import type { Page } from "@playwright/test";
import type { Regression, Session } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test as base } from "./world";

const BUG = "https://bugzilla.kernel.org/show_bug.cgi?id=17";
const URL_ = "/api/regressions";

/** What is posted needs a page of ours as its origin. */
function ours(origin: string): { headers: Record<string, string> } {
  return { headers: { Origin: origin, "Content-Type": "application/json" } };
}

async function stored(page: Page, number: number): Promise<Regression> {
  return (await (await page.request.get(`${URL_}/${number}`)).json()) as Regression;
}

/** Sets it back, whatever an earlier test did with it. */
async function reset(page: Page, number: number, origin: string): Promise<void> {
  // Tests of one part run side by side too: where another one was faster, its version is looked up again.
  await expect(async () => {
    const { version } = await stored(page, number);
    const data = { version, state: "new", owner: "", bug: "", note: "set back" };
    const answer = await page.request.post(`${URL_}/${number}`, { data, ...ours(origin) });
    expect(answer.ok(), await answer.text()).toBe(true);
  }).toPass({ timeout: 10_000 });
}

const find = (page: Page) => page.getByRole("search", { name: "Regressions" }).getByLabel("Find");

/** Each part has a regression of its own, so that parts may run side by side. */
const test = base.extend<{ place: number; regression: number }>({
  place: [1, { option: true }],
  regression: async ({ page, place, baseURL }, use) => {
    await reset(page, place, baseURL ?? "");
    await use(place);
  },
});

test.describe("from the first page", () => {
  test.use({ place: 1 });
  test("a regression is taken with two clicks, and is then one's own", async ({
    page,
    regression,
  }) => {
    await open(page, "/");
    const fresh = page.getByRole("region", { name: "Worse, and nobody’s" });
    await fresh.locator(`a[href="/regressions/${regression}"]`).click();
    await page.getByRole("button", { name: "Take it" }).click();
    await expect(page.getByRole("region", { name: "Where it stands" })).toContainText("assigned");
    await expect(page.getByRole("region", { name: "History" })).toContainText("new → assigned");
    await page.getByRole("link", { name: "Mitigauge", exact: true }).click();
    const mine = page.getByRole("region", { name: "Yours" });
    await expect(mine.locator(`a[href="/regressions/${regression}"]`)).toBeVisible();
    await expect(fresh.locator(`a[href="/regressions/${regression}"]`)).toHaveCount(0);
  });
});

test.describe("on its page", () => {
  test.use({ place: 2 });
  test("it is marked as known with a bug, by keyboard alone", async ({ page, regression }) => {
    await open(page, `/regressions/${regression}`);
    await page.getByLabel("State").focus();
    await page.keyboard.type("known");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type(BUG);
    await page.keyboard.press("Enter");
    const standing = page.getByRole("region", { name: "Where it stands" });
    await expect(standing.getByRole("link", { name: BUG })).toHaveAttribute("href", BUG);
    expect((await stored(page, regression)).state).toBe("known");
  });
});

test.describe("where two change it at once", () => {
  test.use({ place: 3 });
  test("the second is told, and what was typed is kept", async ({ page, regression }) => {
    await open(page, `/regressions/${regression}`);
    await page.getByLabel("Note").fill("<b>seen</b> on Tuesday");
    const { version } = await stored(page, regression);
    const quicker = { version, owner: "alice" };
    const { origin } = new URL(page.url());
    await page.request.post(`${URL_}/${regression}`, { data: quicker, ...ours(origin) });
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByRole("alert")).toContainText("was changed since it was shown");
    await page.getByRole("button", { name: "Show it as it is now" }).click();
    await expect(page.getByRole("textbox", { name: "Owner" })).toHaveValue("alice");
    await expect(page.getByLabel("Note")).toHaveValue("<b>seen</b> on Tuesday");
    await page.getByRole("button", { name: "Save" }).click();
    const history = page.getByRole("region", { name: "History" });
    await expect(history).toContainText("<b>seen</b> on Tuesday");
    expect((await stored(page, regression)).owner).toBe("alice");
  });
});

test.describe("what cannot be", () => {
  test.use({ place: 4 });
  test("is refused in words, with the way out", async ({ page, regression }) => {
    await open(page, `/regressions/${regression}`);
    await page.getByLabel("State").selectOption("false");
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByRole("alert")).toContainText("without a note nobody can tell later");
    await page.getByLabel("Note").fill("the rack was moved");
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByRole("alert")).toHaveCount(0);
    await expect(page.getByRole("region", { name: "Where it stands" })).toContainText("false");
  });
});

test.describe("the list", () => {
  // They share a regression, which each of them sets back.
  test.describe.configure({ mode: "default" });
  test.use({ place: 5 });
  test("is found again by its address", async ({ page, regression }) => {
    await open(page, "/regressions");
    await page.getByRole("button", { name: "Nobody’s" }).click();
    await find(page).fill("no such case");
    await expect(page).toHaveURL(/find=no/);
    await expect(page.getByText("No regression is like that.")).toBeVisible();
    await page.reload();
    await expect(find(page)).toHaveValue("no such case");
    await find(page).fill("");
    await expect(page.locator(`a[href="/regressions/${regression}"]`)).toBeVisible();
    await page.getByLabel("State").selectOption("fixed");
    await expect(page.locator(`a[href="/regressions/${regression}"]`)).toHaveCount(0);
  });

  test("who may only read sees no form", async ({ page, regression }) => {
    await page.route("**/api/session", async (route) => {
      const answer = await route.fetch();
      const session = (await answer.json()) as Session;
      await route.fulfill({ json: { ...session, role: "viewer", rights: ["read"] } });
    });
    await open(page, `/regressions/${regression}`);
    await expect(page.getByText(`mitigauge regression set ${regression}`)).toBeVisible();
    await expect(page.getByRole("button", { name: "Save" })).toHaveCount(0);
  });

  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1440, 400]) {
      test(`pages are accessible at ${width} in ${colorScheme}`, async ({ page, regression }) => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        for (const path of ["/", "/regressions", `/regressions/${regression}`]) {
          await open(page, path);
          await expectAccessible(page);
          await expectNothingBeyond(page);
        }
      });
    }
  }
});

test.describe("a trend's change", () => {
  test.use({ place: 2 });
  const FRESH = {
    state: "refuted",
    why: "the same: +0.1% [-0.2, +0.4] over 24 boots, 7.3.0 against 7.2.0, side by side on spr-01",
    likely: "something other than the kernel changed: microcode 0x1 to 0x2 <b>now</b>",
    follows: "",
    kernel_before: "7.2.0",
    kernel_after: "7.3.0",
    experiment_id: 1,
    boots: 24,
    effect_percent: 0.1,
    bound: "at_least",
    ci_low_percent: -0.2,
    ci_high_percent: 0.4,
    asked_at: "2026-11-20T10:00:00Z",
    ordered_at: "2026-11-20T10:00:05Z",
    decided_at: "2026-11-21T10:00:00Z",
  };

  for (const width of [1440, 400])
    test(`says what fresh boots came to, at ${width} pixels`, async ({ page, regression }) => {
      const view = await stored(page, regression);
      await page.route(`**${URL_}/${regression}`, (route) =>
        route.fulfill({ json: { ...view, confirmation: "refuted", fresh_boots: FRESH } }),
      );
      await page.setViewportSize({ width, height: 900 });
      await open(page, `/regressions/${regression}`);
      const fresh = page.getByRole("region", { name: "Fresh boots" });
      await expect(fresh).toContainText("refuted");
      await expect(fresh).toContainText(FRESH.likely);
      await expect(fresh.getByText(/^≥\s*\+0\.1/)).toBeVisible();
      await expect(fresh.getByRole("link", { name: "Experiment 1" })).toHaveAttribute(
        "href",
        "/experiments/1",
      );
      await expectAccessible(page);
      await expectNothingBeyond(page);
    });

  test("is measured with fresh boots when somebody asks", async ({ page, regression }) => {
    const view = await stored(page, regression);
    expect(view.origin).toBe("trend");
    await page.route(`**${URL_}/${regression}`, (route) =>
      route.fulfill({ json: { ...view, confirmation: null, fresh_boots: null } }),
    );
    const asked: string[] = [];
    await page.route(`**${URL_}/${regression}/fresh-boots`, (route) => {
      asked.push(route.request().method());
      return route.fulfill({ json: view });
    });
    await open(page, `/regressions/${regression}`);
    await page.getByRole("button", { name: "Measure with fresh boots" }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: "Measure with fresh boots" })
      .click();
    await expect(page.getByRole("dialog")).toHaveCount(0);
    expect(asked).toEqual(["POST"]);
  });
});

test("how often we are wrong stands with its intervals, or says that there is nothing", async ({
  page,
}) => {
  const rate = { name: "judged", title: "Regressions of trends, false for people", meaning: "m" };
  await page.route("**/api/error-rates", (route) =>
    route.fulfill({
      json: [
        {
          ...rate,
          emulated: false,
          of: 60,
          looked_at: 40,
          wrong: 3,
          percent: 7.5,
          low: 1.6,
          high: 20.4,
          sentence: "3 of 40; of 60 that were said, 40 were looked at",
        },
        {
          ...rate,
          emulated: true,
          of: 0,
          looked_at: 0,
          wrong: 0,
          percent: null,
          low: null,
          high: null,
          sentence: "0 of 0",
        },
      ],
    }),
  );
  await open(page, "/regressions");
  await page.getByRole("link", { name: "How often wrong", exact: true }).click();
  await expect(page).toHaveTitle("How often we are wrong · Mitigauge");
  const [real, emulated] = [
    page.getByRole("row").filter({ hasText: "7.5" }),
    page.getByRole("row").filter({ hasText: "none yet" }),
  ];
  await expect(real).toContainText("3 of 40; of 60 that were said, 40 were looked at");
  await expect(real).toContainText("7.5 [1.6, 20.4]");
  await expect(emulated).toContainText("emulated");
  for (const width of [1440, 400]) {
    await page.setViewportSize({ width, height: 900 });
    await expectAccessible(page);
    await expectNothingBeyond(page);
  }
});
