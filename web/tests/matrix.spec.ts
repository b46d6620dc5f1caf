import { quantity } from "../src/format/quantity";
import { expect, open, test } from "./world";

test("an arm that was not in force shows as such, with the kernel's own string", async ({
  page,
  world,
}) => {
  const { comparison, arm } = world.notEffective;
  await open(page, `/experiments/${world.recorded.id}`);
  const head = page.getByRole("columnheader").filter({ hasText: arm.expected[0] ?? arm.title });
  await expect(head).toContainText("not effective");
  await expect(head).toContainText(arm.cmdline);
  for (const said of arm.observed) await expect(head).toContainText(said);

  const matrix = page.getByRole("table", { name: new RegExp(`^${comparison.name}:`) });
  const primary = comparison.rows.filter((row) => row.primary);
  await expect(matrix.locator('td[data-state="not_effective"]')).toHaveCount(primary.length);
});

test("a cell gives effect, interval, n and verdict, and leads to its boots", async ({
  page,
  world,
}) => {
  await open(page, `/experiments/${world.recorded.id}`);
  // Limits may be judged on the same page meanwhile, in a table of their own.
  const line = page
    .locator(".matrix")
    .getByRole("row")
    .filter({ has: page.getByRole("link", { name: world.row.case, exact: true }) })
    .first();
  const base = world.row.cells.find((cell) => cell.state === "baseline");
  await expect(line).toContainText(quantity(base?.mean ?? 0, world.row.unit));

  const verdict = world.row.cells.find((c) => c.state === "measured")?.verdict ?? "";
  const cell = line.locator("td", { hasText: verdict }).first();
  await expect(cell).toContainText(new RegExp(`[+\u2212][\\d.]+% ${verdict}`));
  await expect(cell).toContainText(/95 % interval \[[+\u2212]?[\d.]+, [+\u2212]?[\d.]+\]n \d+/);
  await cell.getByRole("link").first().click();
  await expect(page).toHaveURL(new RegExp(`/cases/${world.row.case_id}\\?host=${world.row.host}`));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(world.row.case);
});

test("which metrics are shown is in the address", async ({ page, world }) => {
  const rows = world.recorded.comparisons.flatMap((c) => c.rows);
  const primary = rows.filter((row) => row.primary);
  expect(primary.length).toBeLessThan(rows.length);
  const shown = page.locator(".matrix tbody th[scope=row]");
  await open(page, `/experiments/${world.recorded.id}`);
  await expect(shown).toHaveCount(primary.length);
  await page.getByRole("button", { name: "All metrics" }).click();
  await expect(page).toHaveURL(/metrics=all/);
  await expect(shown).toHaveCount(rows.length);
  await page.reload();
  await expect(shown).toHaveCount(rows.length);
});

test("which cases are shown is in the address", async ({ page, world }) => {
  const query = new URLSearchParams({ case: world.row.case }).toString();
  await open(page, `/experiments/${world.recorded.id}?${query}`);
  const shown = page.locator(".matrix tbody th[scope=row]");
  for (const text of await shown.allTextContents()) expect(text).toContain(world.row.case);
  await page.getByRole("searchbox", { name: "Filter cases" }).fill("no such case");
  await expect(shown).toHaveCount(0);
  await expect(page.getByText("No case fits the filter.").first()).toBeVisible();
  await expect(page).toHaveURL(/case=no\+such\+case/);
});

test("the report is copied as the service writes it", async ({ page, request, world }) => {
  await open(page, `/experiments/${world.recorded.id}`);
  for (const [label, format] of [
    ["Copy as text", "text"],
    ["Copy as Markdown", "markdown"],
  ] as const) {
    await page.getByRole("button", { name: label }).click();
    await expect(page.getByText(`Copied as ${label.slice(8)}.`)).toBeVisible();
    const report = await request.get(
      `/api/experiments/${world.recorded.id}/report?format=${format}`,
    );
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await report.text());
  }
});

test("every boot is a mark and a line of the table, with its raw iterations", async ({
  page,
  world,
}) => {
  await open(page, world.paths.case ?? "");
  const marks = page.locator("a.dot");
  const lines = page.getByRole("region", { name: "Boots" }).locator("tbody tr");
  expect(await marks.count()).toBeGreaterThan(0);
  expect(await lines.count()).toBe(await marks.count());
  await page.getByLabel("iterations").check();
  await expect(page).toHaveURL(/iterations=1/);
  await expect(page.locator("circle.iteration").first()).toBeVisible();
});

test("iterations that were taken again stand beside those that count, and are counted", async ({
  page,
  world,
}) => {
  const rows = world.recorded.comparisons.flatMap((c) => c.rows);
  const row = rows.find((r) => r.disturbed > 0);
  if (row === undefined) throw new Error("the recording has no disturbed iteration");
  const query = new URLSearchParams({ host: row.host, metric: row.metric });
  await open(page, `/experiments/${world.recorded.id}/cases/${row.case_id}?${query.toString()}`);
  await expect(page.getByTestId("pace")).toContainText(`${row.disturbed} iteration`);
  const again = page.getByRole("region", { name: "Boots" }).getByText(/^taken again: /);
  const listed = (await again.allInnerTexts()).map((text) => text.replace("taken again: ", ""));
  expect(listed.flatMap((values) => values.split(/\s+/))).toHaveLength(row.disturbed);
});

test("a boot is traced to its nonce, boot id, string and raw files", async ({
  page,
  request,
  world,
}) => {
  const path = world.paths.boot ?? "";
  const boot = (await (await request.get(`/api${path}`)).json()) as {
    nonce: string;
    kernel_boot_id: string;
    observed: string;
  };
  await open(page, path);
  const proof = page.getByRole("region", { name: "Proof" });
  await expect(proof).toContainText(boot.nonce);
  await expect(proof).toContainText(boot.kernel_boot_id);
  await expect(proof).toContainText(boot.observed);
  await expect(proof.getByText("proven", { exact: true })).toHaveCount(3);
});

test("claims that an emulated host can say nothing of are one line that opens", async ({
  page,
  request,
  world,
}) => {
  const { id } = world.recorded;
  const sources = (await (await request.get(`/api/experiments/${id}/claims`)).json()) as {
    claims: { outcome: string; case_id: number | null }[];
  }[];
  const beside = sources.flatMap((source) => source.claims).filter((c) => c.case_id !== null);
  const emulated = beside.filter((claim) => claim.outcome === "emulated").length;
  expect(emulated).toBeGreaterThan(1);
  await open(page, `/experiments/${id}`);
  const claims = page.getByRole("region", { name: "Published claims" });
  await expect(claims.getByRole("rowheader")).toHaveCount(beside.length - emulated);
  const line = claims.getByRole("button", { name: `${emulated} claims about hardware` });
  await line.press("Enter");
  await expect(line).toHaveAttribute("aria-expanded", "true");
  await expect(claims.getByRole("rowheader")).toHaveCount(beside.length);
});
