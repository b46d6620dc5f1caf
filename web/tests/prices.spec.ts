/** Prices of processors and checks of them; the checks are made up, in tests/web. */

import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const HOSTILE = "<img src=x onerror=alert(1)> what does it cost?";

test("prices stand by processor with their sources", async ({ page }) => {
  await open(page, "/");
  await page.getByRole("link", { name: "Fleet", exact: true }).click();
  await page.getByRole("link", { name: "Prices", exact: true }).click();
  await expect(page).toHaveURL(/\/fleet\?tab=prices$/);
  await expect(page).toHaveTitle("Prices · Mitigauge");
  const xeon = page.getByRole("region", { name: /^Intel Xeon Platinum 8280/ });
  await expect(xeon).toContainText("Cascade Lake");
  const row = xeon.getByRole("row", { name: /^any other instruction/ });
  await expect(row).toContainText(/0\.244\sns.*0\.118 to 0\.370/);
  const source = row.getByRole("link", { name: /^InstLatX64/ });
  await expect(source).toHaveAttribute("href", /^https:\/\//);
});

test("a check says how often predictions held, and opens to its rows", async ({ page }) => {
  await open(page, "/fleet?tab=prices");
  const checks = page.getByRole("region", { name: "How often predictions held" });
  const [real, lab] = [
    checks.getByRole("group").filter({ hasText: "desk-01" }),
    checks.getByRole("group").filter({ hasText: "lab-intel" }),
  ];
  await expect(real).toContainText("6 of 10 hold; of those with every price 3 of 6; signs 9 of 10");
  await expect(real).not.toContainText("emulated");
  await expect(lab).toContainText("emulated");
  await expect(lab).toContainText("counted time");
  await real.getByText(/^6 of 10 hold/).click();
  const row = real.getByRole("row", { name: /^syscall call-0 spectre-bhi\/loop/ });
  await expect(row).toContainText(/\+7\.0\sns \[\+4\.5, \+9\.5\]/);
  await expect(row).toContainText(/\+47\.0\sns \[\+45\.5, \+48\.5\]/);
  await expect(row).toContainText("does not hold");
  const ibpb = real.getByRole("row", { name: /^syscall call-0 vmscape/ });
  await expect(ibpb).toContainText(/ibpb.*holds/);
  await real.getByRole("link", { name: /^desktops/ }).click();
  await expect(page).toHaveURL(/\/experiments\/\d+$/);
});

test("names from outside are text", async ({ page }) => {
  await open(page, "/fleet?tab=prices");
  await page.getByText(/^6 of 10 hold/).click();
  await expect(page.getByRole("rowheader", { name: HOSTILE })).toBeVisible();
  await expect(page.locator("main img")).toHaveCount(0);
});

for (const colorScheme of ["light", "dark"] as const)
  for (const width of [1440, 400])
    test(`the page is accessible at ${width} pixels in ${colorScheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await open(page, "/fleet?tab=prices");
      await page.getByText(/^6 of 10 hold/).click();
      await expect(page.getByRole("rowheader", { name: HOSTILE })).toBeVisible();
      await expectAccessible(page);
      await expectNothingBeyond(page);
    });

test("without prices and checks it says what to do", async ({ page }) => {
  await page.route("**/api/prices", (route) =>
    route.fulfill({ json: { processors: [], checks: [], more: 0 } }),
  );
  await open(page, "/fleet?tab=prices");
  await expect(page.getByText(/^No prices of a processor are known/)).toContainText(
    "prices/README.md",
  );
  await expect(page.getByText(/^mitigauge price check MEASURED COUNTED/)).toBeVisible();
  await expectAccessible(page);
});

test("a prediction of exact counts says how often its processor's held", async ({
  page,
  world,
}) => {
  await open(page, `${world.profiled.path}&tab=exact`);
  const bill = page.getByRole("region", { name: "The bill of an operation" });
  await expect(bill).toContainText(/8280.*Held 6 of 10 times on hosts so far/);
  await bill.getByRole("link", { name: "Prices", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Prices" })).toBeVisible();
});
