import type { Page } from "@playwright/test";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const VIEWERS_TOKEN = "mgt_" + "v".repeat(43);

test.use({ storageState: { cookies: [], origins: [] } });

const heading = (page: Page) => page.getByRole("heading", { level: 1 });

async function enter(page: Page, token: string): Promise<void> {
  await page.getByLabel("Token").fill(token);
  await page.getByRole("main").getByRole("button", { name: "Log in" }).click();
}

test("nobody sees a page before logging in, and every page says how", async ({ page, world }) => {
  for (const path of ["/", `/experiments/${world.recorded.id}`, "/fleet", "/login"]) {
    await open(page, path);
    await expect(heading(page)).toHaveText("Log in");
    await expect(page.getByText("mitigauge token create")).toBeVisible();
    await expect(page.getByText("mitigauge serve")).toBeVisible();
    await expect(page.getByText(world.recorded.name)).toHaveCount(0);
  }
});

test("the link lets in, and its key stays nowhere", async ({ page, served }) => {
  const asked: string[] = [];
  page.on("request", (request) =>
    asked.push(`${request.url()} ${request.headers().referer ?? ""}`),
  );
  await page.goto(served.link);
  await expect(heading(page)).toHaveText("Today");
  await expect(page.getByText("operator, admin")).toBeVisible();
  const key = served.link.split("#key=")[1] ?? "";
  expect(key.length).toBeGreaterThan(40);
  expect(page.url()).not.toContain(key);
  expect(asked.join(" ")).not.toContain(key);
  await page.goto("/fleet");
  await expect(heading(page)).toHaveText("Fleet");
  await page.goBack();
  expect(page.url()).not.toContain(key);
});

test("the link may lead to any page", async ({ page, served, world }) => {
  const key = served.link.split("#")[1] ?? "";
  await page.goto(`/experiments/${world.recorded.id}#${key}`);
  await expect(heading(page)).toHaveText(world.recorded.name);
  expect(new URL(page.url()).hash).toBe("");
});

test("a link that is not valid is said, and a token still lets in", async ({ page }) => {
  await page.goto("/login#key=wrong");
  await expect(page.getByRole("alert")).toContainText("this link is not valid");
  await enter(page, VIEWERS_TOKEN);
  await expect(heading(page)).toHaveText("Today");
});

test("a token lets in, to the page that one wanted", async ({ page, world }) => {
  const path = `/experiments/${world.recorded.id}?metrics=all`;
  await open(page, path);
  await enter(page, ` ${VIEWERS_TOKEN} `);
  await expect(heading(page)).toHaveText(world.recorded.name);
  expect(page.url()).toContain(path);
  await expect(page.getByText("visitor, viewer")).toBeVisible();
  await expect(page.getByText("may read", { exact: false }).first()).toBeAttached();
  await page.reload();
  await expect(heading(page)).toHaveText(world.recorded.name);
});

test("a wrong token is refused with the way out and is not kept", async ({ page }) => {
  await open(page, "/fleet");
  for (const wrong of ["mgt_" + "w".repeat(43), "password"]) {
    await enter(page, wrong);
    await expect(page.getByRole("alert")).toContainText(/not known here|no token/);
    await expect(page.getByRole("alert")).toContainText("mitigauge token create");
    await expect(page.getByRole("alert")).not.toContainText(wrong);
  }
  expect(await page.context().cookies()).toEqual([]);
});

test("logging out ends the session in every tab", async ({ page, context }) => {
  await open(page, "/fleet");
  await enter(page, VIEWERS_TOKEN);
  await expect(heading(page)).toHaveText("Fleet");
  const other = await context.newPage();
  await other.goto("/fleet");
  await expect(heading(other)).toHaveText("Fleet");
  await page.getByRole("button", { name: "Log out" }).click();
  await expect(heading(page)).toHaveText("Log in");
  expect(await context.cookies()).toEqual([]);
  await other.getByRole("link", { name: "Experiments" }).click();
  await expect(heading(other)).toHaveText("Log in");
});

test("a session that has ended leads back to the page by logging in", async ({
  page,
  world,
  context,
}) => {
  await open(page, "/experiments");
  await enter(page, VIEWERS_TOKEN);
  await expect(heading(page)).toHaveText("Experiments");
  await page.goto(`/experiments/${world.recorded.id}`);
  await expect(heading(page)).toHaveText(world.recorded.name);
  await context.clearCookies();
  await page.getByRole("link", { name: "Fleet" }).click();
  await expect(heading(page)).toHaveText("Log in");
  await enter(page, VIEWERS_TOKEN);
  await expect(heading(page)).toHaveText("Fleet");
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 400]) {
    test(`logging in is accessible in ${colorScheme} and fits ${width} pixels`, async ({
      page,
    }, info) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      await open(page, "/fleet");
      await enter(page, "password");
      await expect(page.getByRole("alert")).toBeVisible();
      await expectAccessible(page);
      await page.screenshot({ path: info.outputPath("log-in.png") });
      await enter(page, VIEWERS_TOKEN);
      await expect(heading(page)).toHaveText("Fleet");
      await expectAccessible(page);
      await page.screenshot({ path: info.outputPath("logged-in.png") });
      await expectNothingBeyond(page);
    });
  }
}
