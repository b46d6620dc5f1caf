import { expect, expectAccessible, expectNothingBeyond, open, test, type World } from "./world";

function path({ recorded, profiled }: World, more: Record<string, string> = {}): string {
  const query = new URLSearchParams({
    ...{ experiment: String(recorded.id), case: String(profiled.row.case_id) },
    ...{ host: profiled.row.host, ...more },
  });
  return `/profiles?tab=arms&${query.toString()}`;
}

test("the case's page leads to its functions over all arms", async ({ page, world }) => {
  const { recorded, profiled } = world;
  const query = new URLSearchParams({ host: profiled.row.host }).toString();
  await open(page, `/experiments/${recorded.id}/cases/${profiled.row.case_id}?${query}`);
  await page.getByRole("link", { name: "functions over all arms" }).click();
  await expect(page).toHaveURL(/\/profiles\?tab=arms&/);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Functions over arms");
  const table = page.getByRole("region", { name: "Functions over arms" });
  await expect(table.getByRole("columnheader", { name: /^off/ })).toBeVisible();
  await expect(table.getByRole("columnheader", { name: /^loop/ })).toBeVisible();
});

test("the function that the mode adds is the surest difference, with its interval", async ({
  page,
  world,
}) => {
  await open(page, path(world, { sort: "q" }));
  const first = page.getByRole("row").nth(1);
  await expect(first).toContainText("clear_bhb_loop");
  await expect(first.locator('[data-way="more"]')).toBeVisible();
  await expect(first).toContainText(/\[.*….*\] q/);
});

test("a search, an order and a page are in the address", async ({ page, world }) => {
  await open(page, path(world));
  const before = await page.getByRole("status").filter({ hasText: "functions" }).textContent();
  await page.getByLabel("Filter functions").fill("BHB");
  await expect(page.getByRole("row", { name: /clear_bhb_loop/ })).toBeVisible();
  await expect(page).toHaveURL(/search=BHB/);
  await expect(page.getByRole("status").filter({ hasText: "function" })).not.toHaveText(
    before ?? "",
  );
  await page.getByLabel("Filter functions").fill("");
  await page.getByLabel("Sort by").selectOption("name");
  await expect(page).toHaveURL(/sort=name/);
  await page.getByRole("button", { name: "Next" }).click();
  await expect(page).toHaveURL(/page=2/);
  await expect(page.getByRole("status").filter({ hasText: /^51–/ })).toBeVisible();
  await page.getByLabel("Filter functions").fill("nothing is called this");
  await expect(page.getByText("No function's name matches")).toBeVisible();
});

test("the tabs lead from all arms to two of them, and back to the same", async ({
  page,
  world,
}) => {
  await open(page, path(world));
  const tabs = page.getByRole("navigation", { name: "Profile" });
  await tabs.getByRole("link", { name: "Callers and callees" }).click();
  await expect(page).toHaveURL(/\/profiles\?.*a=off&b=loop&tab=sandwich/);
  await tabs.getByRole("link", { name: "All arms" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Functions over arms");
  await expect(tabs.locator("[aria-current]")).toHaveText("All arms");
  await tabs.getByRole("link", { name: "Graph" }).click();
  await expect(page).toHaveURL(/a=off&b=loop$/);
  await expect(tabs.locator("[aria-current]")).toHaveText("Graph");
});

test("a case without profiles says how to get some", async ({ page, world }) => {
  const row = world.recorded.comparisons.flatMap((c) => c.rows).find((r) => !r.profiled);
  if (row === undefined) throw new Error("every case is profiled");
  const of = { ...world, profiled: { ...world.profiled, row } };
  await open(page, path(of));
  await expect(page.getByText("No boot of this case has a profile yet.")).toBeVisible();
});

test("an address that names no case leads on", async ({ page }) => {
  await open(page, "/profiles?tab=arms&experiment=1");
  await expect(page.getByText("The address names no case on a host")).toBeVisible();
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 400]) {
    test(`functions are accessible at ${width} in ${colorScheme}`, async ({ page, world }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await open(page, path(world));
      await expect(page.getByRole("row").nth(1)).toBeVisible();
      await expectAccessible(page);
      await expectNothingBeyond(page);
      const shots = process.env.MITIGAUGE_SHOTS;
      if (shots !== undefined)
        await page.screenshot({ path: `${shots}/functions-${width}-${colorScheme}.png` });
    });
  }
}
