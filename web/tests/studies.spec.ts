/** What a revision was asked beside its experiment: what its patches cost, and what is chosen. */

import type { Page } from "@playwright/test";
import type { Series, Session, Study } from "../src/api/types";
import {
  building,
  CELLS,
  COSTLY,
  INTERACTS,
  large,
  patchCost,
  selection,
  TITLES,
  variants,
} from "./studies-payload";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const PAGE = "/series/vmscape-bhb";

/** The newest revision, approved and of ten patches, was asked `studies`. */
async function withStudies(page: Page, studies: Study[]): Promise<void> {
  await page.route("**/api/series/vmscape-bhb", async (route) => {
    const series = (await (await route.fetch()).json()) as Series;
    const newest = series.revisions.at(-1);
    const [first] = series.revisions[0]?.patches ?? [];
    if (newest === undefined || first === undefined) throw new Error("the series has no patch");
    newest.state = "measuring";
    newest.changes = [];
    newest.patches = TITLES.map((title, at) => ({ ...first, title, sha256: `${at}`.repeat(64) }));
    await route.fulfill({ json: series });
  });
  await page.route("**/api/series/vmscape-bhb/v5/studies", (route) =>
    route.fulfill({ json: studies }),
  );
}

const questions = (page: Page) => page.getByRole("region", { name: "Questions about v5" });
const button = (page: Page, name: string) => questions(page).getByRole("button", { name });
const dialog = (page: Page) => page.getByRole("dialog");
const costs = (page: Page) => page.getByRole("table", { name: "What each patch of v5 costs" });
const matrix = (page: Page) => page.getByRole("table", { name: "Choices of the base and of v5" });
const inWords = (page: Page) => page.getByRole("table", { name: "Places of v5 in words" });

test("who may submit asks by a button, and a refusal is said with its hint", async ({ page }) => {
  await withStudies(page, []);
  const json = {
    error: "InvalidInput",
    message: "no mitigation is known whose choice this series may move",
    hint: "A file of experiments/selection names it.",
  };
  await page.route("**/v5/studies/selection", (route) => route.fulfill({ status: 422, json }));
  await open(page, PAGE);
  await expect(questions(page)).toContainText("Nothing was asked about it beside its experiment.");
  await button(page, "Which mitigation is chosen where?").click();
  await expect(dialog(page)).toContainText("boots both on emulated processors");
  await dialog(page).getByRole("button", { name: "Ask" }).click();
  await expect(dialog(page).getByRole("alert")).toHaveText(`${json.message} ${json.hint}`);
  await expectAccessible(page);
});

test("what was asked shows at once, and its answer once there is one", async ({ page }) => {
  let studies: Study[] = [];
  await withStudies(page, []);
  await page.route("**/v5/studies", (route) => route.fulfill({ json: studies }));
  await page.route("**/v5/studies/patch-cost", async (route) => {
    expect(route.request().method()).toBe("POST");
    studies = [building];
    await route.fulfill({ status: 202, json: { id: 1 } });
  });
  await open(page, PAGE);
  await button(page, "What does each patch cost?").click();
  await expect(dialog(page)).toContainText(
    "a kernel after each patch, then one of each patch alone",
  );
  await dialog(page).getByRole("button", { name: "Ask" }).click();
  await expect(questions(page)).toContainText("Kernel p3, 17 left.");
  await expect(questions(page).getByText("building", { exact: true })).toBeVisible();
  // Only the others can still be asked.
  await expect(questions(page).getByRole("button")).toHaveText([
    "Which mitigation is chosen where?",
    "Which revision costs least?",
  ]);
  studies = [patchCost];
  await expect(costs(page)).toBeVisible();
  await expect(button(page, "Ask anew")).toBeVisible();
});

test("who may only read is offered nothing", async ({ page }) => {
  await page.route("**/api/session", async (route) => {
    const session = (await (await route.fetch()).json()) as Session;
    await route.fulfill({ json: { ...session, role: "viewer", rights: ["read"] } });
  });
  await withStudies(page, []);
  await open(page, PAGE);
  await expect(questions(page)).toContainText("Nothing was asked about it");
  await expect(questions(page).getByRole("button")).toHaveCount(0);
});

test("a revision whose patches may not run is asked nothing", async ({ page }) => {
  await open(page, PAGE);
  await expect(page.getByRole("article", { name: "v5" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Questions about v4" })).toBeVisible();
  await expect(questions(page)).toHaveCount(0);
});

test("a study that failed says why", async ({ page }) => {
  await withStudies(page, [
    { ...building, state: "failed", why: "the base has no kernel: it does not build" },
  ]);
  await open(page, PAGE);
  await expect(questions(page).locator(".problem")).toHaveText(
    "The base has no kernel: it does not build",
  );
  await expect(button(page, "Ask anew")).toBeVisible();
});

test("each patch has what it costs, where, and what that is predicted to take", async ({
  page,
}) => {
  await withStudies(page, [patchCost]);
  await open(page, PAGE);
  const rows = costs(page).getByRole("row");
  // A head, ten patches, and all of them.
  await expect(rows).toHaveCount(12);
  const costly = rows.nth(COSTLY);
  await expect(costly.getByRole("cell", { name: "+55" })).toHaveCount(2);
  await expect(costly).toContainText("clear_bhb_loop +50");
  await expect(costly).toContainText("+31.4 ns [+25.1, +40.8]");
  await expect(costs(page)).toContainText("predicted, Skylake (Xeon)");
  await expect(rows.nth(1)).toContainText("same code");
  await expect(rows.nth(3)).toContainText("\u22122");
  await expect(rows.nth(INTERACTS)).toContainText("alone +6");
  await expect(rows.last()).toContainText("+76");
  await expect(rows.nth(8)).toContainText("bugs.c:3391: unused variable 'old'");
  await expect(costs(page).getByText("warning", { exact: true })).toHaveCount(1);
  const study = questions(page);
  await expect(study).toContainText("Patch 7 interacts with patch 4: +20 instructions");
  await expect(study).toContainText("Counted, of software alone; mode mitigations=auto.");
  await expect(study.getByRole("link", { name: "12" })).toHaveAttribute("href", "/experiments/12");
  // What belongs to a sentence stands beneath it.
  const sentence = study.locator(".study-answer > li").first();
  await expect(sentence.getByRole("listitem")).toHaveText(/^predicted for Skylake/);
});

test("revisions are ranked, and one that protects less stands last with why", async ({ page }) => {
  await withStudies(page, [variants]);
  await open(page, PAGE);
  const table = page.getByRole("table", { name: "Revisions by what they cost" });
  const heads = table.getByRole("rowheader");
  await expect(heads).toHaveText(["v3", "v5", "v4", "v4+fix-7"]);
  const [, best, asked, , out] = await table.getByRole("row").all();
  if (best === undefined || asked === undefined || out === undefined) throw new Error("no rows");
  await expect(best).toContainText("does as much");
  await expect(best.getByRole("cell", { name: "\u22128" })).toHaveCount(2);
  await expect(asked.locator(".patch-cost")).toHaveText(["0", "0"]);
  await expect(out).toContainText("does less");
  await expect(out).toContainText("Branch of the clearing loop from 84 to 20");
  await expect(out).toContainText("branch of the clearing loop \u221264");
  await expect(questions(page)).toContainText("mode spectre-bhi/loop");
  await expect(questions(page).getByRole("link", { name: "13" })).toBeVisible();
});

test("a patch leads to itself on the page", async ({ page }) => {
  await withStudies(page, [patchCost]);
  await open(page, PAGE);
  await costs(page)
    .getByRole("link", { name: TITLES[9] ?? "" })
    .click();
  await expect(
    page.getByRole("article", { name: "v5" }).locator(".patches > li").last(),
  ).toBeInViewport();
});

test("what was found comes first, then both kernels side by side", async ({ page }) => {
  await withStudies(page, [selection]);
  await open(page, PAGE);
  await expect(questions(page).getByText("look at it")).toBeVisible();
  const found = questions(page).getByRole("list", { name: "What was found" });
  const first = found.getByRole("listitem").first();
  await expect(first).toContainText("worse than asked this revision, 1 cell: Vulnerable, but");
  await expect(first).toContainText("vmscape=on on Skylake");
  await expect(found.getByText(/^and \d+ more$/).first()).toBeVisible();
  await expect(matrix(page).getByRole("row")).toHaveCount(1 + 8 * 5);
  await expect(questions(page).getByRole("status")).toHaveText("160 places");
  await expect(matrix(page).locator("td[data-look]")).toHaveText(/!/);
  await expect(matrix(page).locator("td[data-unproven]")).toHaveCount(5);
  await expect(matrix(page).locator("td[data-unproven]").first()).toHaveAttribute(
    "title",
    /no proof: its program did not end/,
  );
});

test("what happens on a processor is a filter, which the address keeps", async ({ page }) => {
  await withStudies(page, [selection]);
  await open(page, PAGE);
  await expect(inWords(page)).toHaveCount(0);
  await questions(page).getByLabel("Processor").selectOption("Skylake");
  await expect(page).toHaveURL(/processor=Skylake/);
  await expect(questions(page).getByRole("status")).toHaveText("20 of 160 places");
  await questions(page).getByText("20 places in words").click();
  await expect(inWords(page).getByRole("row")).toHaveCount(21);
  await questions(page).getByLabel("mitigations=").selectOption("auto,no_user_user");
  await questions(page).getByLabel("Option").selectOption("vmscape=on");
  const [, told] = await inWords(page).getByRole("row").all();
  if (told === undefined) throw new Error("no place is told");
  await expect(told).toContainText("Mitigation: IBPB before exit to userspace");
  await expect(told).toContainText("VMSCAPE: Ignoring unknown vmscape option (on).");
  await expect(told).toContainText("worse than asked (this revision)");
  await page.reload();
  await expect(inWords(page).getByRole("row")).toHaveCount(2);
  await open(page, `${PAGE}?mitigations=-&option=-`);
  await expect(questions(page).getByRole("status")).toHaveText("8 of 160 places");
  await open(page, `${PAGE}?processor=Z80`);
  await expect(questions(page)).toContainText("No place is like that.");
  await expect(questions(page).getByLabel("Processor")).toHaveValue("Z80");
});

test("two thousand cells are shown in a box of their own", async ({ page }) => {
  const study = large();
  expect(study.body.kind === "selection" && study.body.cells.length).toBe(2000);
  await withStudies(page, [study]);
  await open(page, PAGE);
  await expect(questions(page).getByRole("status")).toHaveText("1000 places");
  const began = Date.now();
  await questions(page).getByLabel("Processor").selectOption("Zen 3");
  await expect(questions(page).getByRole("status")).toHaveText("125 of 1000 places");
  expect(Date.now() - began).toBeLessThan(5_000);
  await questions(page).getByLabel("Processor").selectOption("");
  await page.setViewportSize({ width: 400, height: 900 });
  await expectNothingBeyond(page);
  const box = page.getByRole("region", { name: "Choices of the base and of v5" });
  expect(await box.evaluate((each) => each.clientHeight)).toBeLessThan(900);
});

test("a study that nobody opened is not drawn", async ({ page }) => {
  await page.route("**/api/series/vmscape-bhb/v4/studies", (route) =>
    route.fulfill({ json: [selection] }),
  );
  await open(page, PAGE);
  const older = page.getByRole("region", { name: "Questions about v4" });
  await expect(older.getByText("look at it")).toBeVisible();
  await expect(older.locator("td")).toHaveCount(0);
  await older.getByText("Which mitigation is chosen where").first().click();
  await expect(older.locator(".selection-matrix td")).toHaveCount(CELLS.length / 2);
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 400]) {
    test(`studies are accessible at ${width} in ${colorScheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await withStudies(page, [patchCost, selection, variants]);
      await open(page, PAGE);
      await expect(costs(page)).toBeVisible();
      await expect(matrix(page)).toBeVisible();
      await expectAccessible(page);
      await expectNothingBeyond(page);
      const shots = process.env.MITIGAUGE_SHOTS;
      const shot = async (name: string) => {
        if (shots !== undefined)
          await questions(page).screenshot({
            path: `${shots}/${name}-${width}-${colorScheme}.png`,
          });
      };
      await shot("studies");
      await questions(page).getByLabel("Processor").selectOption("Skylake");
      await questions(page).getByLabel("Option").selectOption("vmscape=on");
      await expect(inWords(page)).toBeVisible();
      await expectAccessible(page);
      await expectNothingBeyond(page);
      await shot("studies-filtered");
    });
  }
}
