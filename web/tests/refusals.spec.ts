import { expect, expectAccessible, open, test } from "./world";

for (const path of [
  "/experiments/999999",
  "/experiments/none",
  "/experiments/1/cases/999999",
  "/boots/999999",
  "/hosts/no-such-host",
]) {
  test(`${path} is not found and shows the way out`, async ({ page }) => {
    await open(page, path);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Not found");
    await page.getByRole("main").getByRole("link", { name: "list of experiments" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Experiments");
  });
}

test("a service that is down is said, and the page comes back with it", async ({ page }) => {
  let down = true;
  await page.route("**/api/**", (route) => (down ? route.abort() : route.continue()));
  await open(page, "/experiments");
  await expect(page.getByRole("heading", { name: "The service does not answer" })).toBeVisible();
  await expect(page.getByText("mitigauge serve")).toBeVisible();
  await expectAccessible(page);
  down = false;
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Experiments", {
    timeout: 30_000,
  });
});

test("a service that is not ready says why and the way out", async ({ page }) => {
  const body = {
    error: "NotReady",
    message: "the schema is at 0003, the service needs 0005",
    hint: "Run: mitigauge db upgrade",
  };
  await page.route("**/api/experiments", (route) => route.fulfill({ status: 503, json: body }));
  await open(page, "/experiments");
  await expect(page.getByRole("heading", { name: "The service is not ready" })).toBeVisible();
  await expect(page.getByRole("alert")).toContainText(body.message);
  await expect(page.getByRole("alert")).toContainText(body.hint);
});

test("without an experiment the list says how to start one", async ({ page }) => {
  await page.route("**/api/experiments", (route) =>
    route.fulfill({
      json: { experiments: [], total: 0, offset: 0, next: null, next_offset: null },
    }),
  );
  await open(page, "/experiments");
  await expect(
    page.getByText("mitigauge experiment submit experiments/lab-demo.yml"),
  ).toBeVisible();
  await expectAccessible(page);
});

test("a page that came after a problem has its own title again", async ({ page, world }) => {
  const path = world.paths.weekly ?? "";
  let away = true;
  await page.route(`**/api${path}`, (route) =>
    away
      ? route.fulfill({ status: 500, json: { error: "Full", message: "It is full.", hint: "" } })
      : route.continue(),
  );
  await open(page, path);
  await expect(page).toHaveTitle("Problem · Mitigauge");
  away = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("week");
  await expect(page).toHaveTitle(/^\d{4}-W\d\d · Mitigauge$/);
});
