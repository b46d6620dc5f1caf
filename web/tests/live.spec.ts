import { expect, open, test } from "./world";

test("progress and log of a running experiment move on without a reload", async ({
  page,
  world,
}) => {
  await open(page, `/experiments/${world.live.id}`);
  const loads: string[] = [];
  page.on("request", (request) => {
    if (request.isNavigationRequest()) loads.push(request.url());
  });

  const overall = page.getByTestId("overall");
  const before = await overall.textContent();
  await expect(overall).not.toHaveText(before ?? "", { timeout: 45_000 });

  await page.getByText("Log", { exact: true }).click();
  const lines = page.getByLabel("Log, newest first").getByRole("listitem");
  const newest = await lines.first().textContent();
  await expect(lines.first()).not.toHaveText(newest ?? "", { timeout: 45_000 });
  expect(loads).toEqual([]);
});

test("each run says its step, block, boots and an honest time left", async ({ page, world }) => {
  await open(page, `/experiments/${world.live.id}`);
  const runs = page.getByRole("region", { name: "Runs" });
  for (const host of world.live.hosts) {
    const row = runs.getByRole("row").filter({ has: page.getByRole("link", { name: host }) });
    await expect(row).toContainText(/\d+ of \d+/);
    await expect(row).toContainText(
      /under a minute|about .+, from \d+ boot|no estimate before|took/,
    );
  }
});

test("what happened stands on the page within three seconds", async ({ page, world }) => {
  const path = `/api/experiments/${world.live.id}`;
  await open(page, `/experiments/${world.live.id}`);
  await page.getByText("Log", { exact: true }).click();
  const newest = page.getByLabel("Log, newest first").getByRole("listitem").first();
  await expect(newest).toBeVisible();
  const lags: number[] = [];
  const last = async () => {
    const answer = await page.request.get(`${path}/progress`);
    return ((await answer.json()) as { last_event_id: number }).last_event_id;
  };
  let known = await last();
  while (lags.length < 5) {
    const now = await last();
    if (now === known) continue;
    const happened = Date.now();
    const answer = await page.request.get(`${path}/log?after=${known}`);
    known = now;
    const lines = (await answer.json()) as { id: number; at: string }[];
    const at = lines.find((each) => each.id === now)?.at;
    await expect(page.locator(`.log time[datetime="${at}"]`).first()).toBeVisible({
      timeout: 3_000,
    });
    lags.push(Date.now() - happened);
  }
  console.log(`seen after ${lags.join(", ")} ms`);
});

test("a lost connection is said and taken up again", async ({ page, world }) => {
  await open(page, `/experiments/${world.live.id}`);
  let refuse = true;
  await page.route("**/progress", (route) => (refuse ? route.abort() : route.continue()));
  await expect(page.getByText("connection lost, trying again")).toBeVisible();
  refuse = false;
  await expect(page.getByText("live", { exact: true })).toBeVisible({ timeout: 20_000 });
});

test("hostile text is shown as text", async ({ page, world }) => {
  const dialogs: string[] = [];
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  for (const path of ["/experiments", `/experiments/${world.live.id}`]) {
    await open(page, path);
    await expect(page.getByText(world.live.question).first()).toBeVisible();
    await expect(page.locator("img[onerror]")).toHaveCount(0);
  }
  expect(dialogs).toEqual([]);
});
