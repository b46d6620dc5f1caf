/** Prices of processors. */

import { readFileSync } from "node:fs";
import type { Locator, Page } from "@playwright/test";
import type { Prices } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const HOSTILE = "<img src=x onerror=alert(1)> what does it cost?";

/** The processor's row, and what is open below it. */
function rowOf(page: Page, name: string): Locator {
  const processors = page.getByRole("region", { name: "Processors", exact: true });
  return processors.locator("tbody > tr").filter({ hasText: name }).first();
}

function opened(page: Page): Locator {
  return page.locator(".prices-processors > tbody > .opened");
}

/** What the API says, which its own tests compare with the files. */
async function asked(page: Page, model = ""): Promise<Prices> {
  const answer = await page.request.get("/api/prices", { params: { model } });
  return (await answer.json()) as Prices;
}

async function withAnswer(page: Page, change: (of: Prices) => Prices): Promise<void> {
  const answer = change(await asked(page));
  await page.route(/\/api\/prices(\?|$)/, (route) => route.fulfill({ json: answer }));
}

function first<T>(of: readonly T[], what: string): T {
  const [found] = of;
  if (found === undefined) throw new Error(`no ${what}`);
  return found;
}

test("processors open to their prices and sources, one at a time", async ({ page }) => {
  await open(page, "/");
  await page.getByRole("link", { name: "Fleet", exact: true }).click();
  await page.getByRole("link", { name: "Prices", exact: true }).click();
  await expect(page).toHaveURL(/\/fleet\?tab=prices$/);
  await expect(page).toHaveTitle("Prices · Mitigauge");
  const { processors } = await asked(page);
  const toggles = page.locator(".prices-processors button.fold");
  await expect(toggles).toHaveCount(processors.length);
  await expect(opened(page)).toHaveCount(0);
  const xeon = rowOf(page, "xeon-8280");
  await expect(xeon).toContainText("Cascade Lake");
  await expect(xeon).toContainText(/none.*not known.*prices not checked.*3 published/);
  await xeon.getByRole("button").click();
  await expect(page).toHaveURL(/[?&]open=xeon-8280(&|$)/);
  const row = opened(page).getByRole("row", { name: /^any other instruction/ });
  await expect(row).toContainText(/0\.244\sns.*0\.118 to 0\.370.*published/);
  const source = row.getByRole("link", { name: /^InstLatX64/ });
  await expect(source).toHaveAttribute("href", /^https:\/\//);
  await expect(opened(page)).toContainText("mitigauge price measure --here -o prices/processors");
  await rowOf(page, "epyc-rome").getByRole("button").click();
  await expect(opened(page)).toHaveCount(1);
  await expect(opened(page)).toContainText("prices/processors/epyc-rome.yml");
  await rowOf(page, "epyc-rome").getByRole("button").click();
  await expect(opened(page)).toHaveCount(0);
  await expect(page).toHaveURL(/\/fleet\?tab=prices$/);
});

test("a measured processor says what it is, what it refused and what it was tried on", async ({
  page,
}) => {
  const { processors } = await asked(page);
  const of = first(
    processors.filter((each) => each.machines.some((machine) => machine.checks.length > 0)),
    "processor with a check",
  );
  const machine = first(
    of.machines.filter((each) => each.checks.length > 0 && each.refused.length > 0),
    "machine with a check that refused an event",
  );
  await open(page, `/fleet?tab=prices&open=${of.processor}`);
  await expect(rowOf(page, of.processor)).toContainText(machine.is_virtual ? "virtual" : "bare");
  await expect(opened(page)).toContainText(`family ${of.identity?.family}`);
  const part = opened(page).getByRole("region", { name: `Machine ${machine.machine}` });
  await expect(part.getByRole("heading")).toContainText(machine.at);
  await expect(part).toContainText("within 15\u202f%, and all within 30\u202f%");
  for (const check of machine.checks) {
    const row = part.getByRole("row").filter({ hasText: check.what });
    const off = 100 * (check.predicted / check.measured.ns - 1);
    await expect(row).toContainText(`${off < 0 ? "\u2212" : "+"}${Math.abs(off).toFixed(1)}%`);
  }
  const without = part.getByRole("table", { name: /^Without a price on/ });
  for (const { event, why } of machine.refused) {
    const row = without.getByRole("row").filter({ has: page.getByText(event, { exact: true }) });
    await expect(row).toContainText(why);
  }
  for (const set of machine.aftermaths.flatMap((each) => each.working_sets))
    await expect(
      part.getByRole("row", { name: new RegExp(`^${set.branches.indirect ?? 0} indirect`) }),
    ).toBeVisible();
});

test("modes are ranked by processor, and a missing price says what it would have to be", async ({
  page,
}) => {
  const { rankings } = await asked(page);
  await open(page, "/fleet?tab=prices");
  const region = page.getByRole("region", { name: /^Modes, cheapest first: exit from a guest/ });
  const { processors } = first(
    rankings.filter((each) => each.bills === "vmscape-exit"),
    "ranking of the modes of VMSCAPE",
  );
  await expect(region.locator("tbody > tr")).toHaveCount(processors.length);
  const zen3 = region.getByRole("row").filter({ hasText: "amd-25-1" });
  await expect(zen3.locator("ol > li code")).toHaveText(["off", "bhb-clear", "ibpb"]);
  await expect(zen3).toContainText(/120\.8\sns \[99\.4, 142\.2\]/);
  await expect(zen3).toContainText("over 99\u202f%");
  const masked = region.getByRole("row").filter({ hasText: "intel-6-167-masked" });
  await expect(masked.locator("ol > li code")).toHaveText(["off", "bhb-clear"]);
  await expect(masked).toContainText(
    "ibpb: no price of ibpb. It costs as much as bhb-clear where one ibpb takes 60.1\u202fns; where one takes more, bhb-clear is cheaper.",
  );
  await expect(region).toContainText("predicted");
});

test("words of a model narrow the page, in the address and in the file", async ({ page }) => {
  await open(page, "/fleet?tab=prices");
  await page.getByRole("search", { name: "Processors" }).getByRole("searchbox").fill("zen 4");
  await expect(page).toHaveURL(/[?&]find=zen\+4$/);
  await expect(page.getByRole("status").filter({ hasText: /processor/ })).toHaveText("1 processor");
  await expect(rowOf(page, "epyc-9654")).toBeVisible();
  await expect(page.locator(".prices-processors button.fold")).toHaveCount(1);
  await expect(page.getByRole("region", { name: /^Modes, cheapest first/ })).toHaveCount(0);
  await page.getByText("Download", { exact: true }).click();
  const fetched = page.waitForEvent("download");
  await page.getByRole("link", { name: "Prices as CSV" }).click();
  const file = await fetched;
  expect(file.suggestedFilename()).toBe("prices.csv");
  const text = readFileSync(await file.path(), "utf8");
  const lines = text.trim().split("\r\n");
  expect(lines[0]).toMatch(/^processor,title,.*,masked,trusted,event,ns,low,high,kind,/);
  expect(lines.slice(1).map((line) => line.split(",")[0])).toEqual(Array(3).fill("epyc-9654"));
  await page.goto("/fleet?tab=prices&find=nothing+like+that");
  await expect(page.getByText("No processor is like that.")).toBeVisible();
  await expectAccessible(page);
});

test("what is masked, trusted by nothing or without an order is said", async ({ page }) => {
  await withAnswer(page, (of) => {
    const processor = first(
      of.processors.filter((each) => each.identity !== null),
      "processor that said itself",
    );
    const ranking = first(of.rankings, "ranking");
    const one = first(ranking.processors, "ranked processor");
    return {
      ...of,
      processors: [
        {
          ...processor,
          title: HOSTILE,
          trusted: "not_trusted",
          identity: processor.identity && { ...processor.identity, masked: "says Zen 2, has AMX" },
          machines: processor.machines.map((each) => ({ ...each, checks: [], is_virtual: false })),
        },
      ],
      rankings: [
        { ...ranking, processors: [{ ...one, ranked: one.ranked.slice(0, 1), chance: null }] },
        { ...ranking, bills: "other", operation: "nothing that has a price", processors: [] },
      ],
    };
  });
  await open(page, "/fleet?tab=prices");
  const row = rowOf(page, HOSTILE);
  await expect(row).toContainText(/masked model.*bare.*not trusted/);
  await row.getByRole("button", { name: HOSTILE }).click();
  await expect(opened(page)).toContainText("says Zen 2, has AMX");
  await expect(opened(page)).toContainText("No operation could be predicted and measured");
  await expect(page.locator("main img")).toHaveCount(0);
  await expect(page.getByText("no order")).toBeVisible();
  const other = page.getByRole("region", { name: /nothing that has a price$/ });
  await expect(other).toContainText("mitigauge price measure --here -o prices/processors");
});

for (const colorScheme of ["light", "dark"] as const)
  for (const width of [1440, 400])
    test(`the page is accessible at ${width} pixels in ${colorScheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const measured = first(
        (await asked(page)).processors.filter((each) => each.machines.length > 0),
        "processor with a machine",
      );
      await open(page, `/fleet?tab=prices&open=${measured.processor}`);
      await expect(opened(page)).toBeVisible();
      await expectAccessible(page);
      await expectNothingBeyond(page);
    });

test("without prices it says what to do", async ({ page }) => {
  await withAnswer(page, (of) => ({ ...of, processors: [], rankings: [] }));
  await open(page, "/fleet?tab=prices");
  await expect(page.getByText(/^No prices of a processor are known/)).toContainText(
    "prices/README.md",
  );
  await expect(page.getByText(/^mitigauge price measure --here -o prices/)).toBeVisible();
  await expect(page.getByRole("search", { name: "Processors" })).toHaveCount(0);
  await expectAccessible(page);
});

test("published tables stand beside what is predicted of them", async ({ page }) => {
  await open(page, "/fleet?tab=prices");
  const published = page.getByRole("region", { name: "Published tables, predicted" });
  const table = published.getByRole("group").filter({ hasText: "iPerf between guest and host" });
  await expect(table).toContainText(/ibpb: \d+ of \d+ within the interval/);
  await expect(table.getByRole("table")).toHaveCount(0);
  await table.getByText(/^iPerf between guest and host/).click();
  const row = table.getByRole("row").filter({ hasText: "user udp 4 16" }).last();
  await expect(row).toContainText(/bhb-clear.*\u22123\.7.*\u22120\.12.*right/);
  for (const width of [1440, 400]) {
    await page.setViewportSize({ width, height: 900 });
    await expectAccessible(page);
    await expectNothingBeyond(page);
  }
});
