/** Threads by name beside a case: wake-ups before and after, with what was claimed. */

import type { Page } from "@playwright/test";
import type { Case, TableCell, TableView } from "../src/api/types";
import { answer, armColumn, column, effect, quantity, section, table, text } from "./table-view";
import { expect, expectAccessible, expectNothingBeyond, open, test, type World } from "./world";

function row(name: string, inWindow: number, change: number, arms: number[]): TableCell[] {
  const own = name === "handler*";
  const cells = arms.map((_, at) => {
    const mean = at === 0 ? inWindow : inWindow * (1 + change / 100);
    const claim = { source: "ovs-wakeups", label: "ovs-wakeups", low: -96, high: -96 };
    return answer({
      state: at === 0 ? "baseline" : "measured",
      value: { ...quantity(mean), low: mean * 0.99, high: mean * 1.01 },
      effect: at === 0 ? null : effect(change, 0.3, { q: Math.abs(change) > 2 ? 1e-9 : 0.7 }),
      more: { run: quantity(mean * 0.02), wait: quantity(mean * 0.005) },
      claims:
        own && at === 1 ? [{ ...claim, outcome: "reproduced", reason: "within our interval" }] : [],
    });
  });
  return [text(name, name, own ? "load" : ""), ...cells];
}

function threads(view: Case): TableView {
  const [first, second] = view.arms;
  if (first === undefined || second === undefined) throw new Error("fewer than two arms");
  const arms = [first.id, second.id];
  const many = Array.from({ length: 30 }, (_, at) => row(`kthread-${at}`, 100 - at, 0.4, arms));
  const rows = [row("handler*", 1177, -96, arms), ...many];
  const columns = [column("threads"), ...["before", "after"].map(armColumn)];
  const more = { run: "run, ms", wait: "wait, ms" };
  return {
    table: "threads",
    title: "threads by name",
    experiment_id: view.experiment_id,
    experiment: view.experiment,
    state: "finished",
    emulated: false,
    counted: false,
    notes: [],
    sections: [
      section({
        title: `Threads of ${view.case}`,
        meaning: "Wake-ups of all threads of a name in 5 s. `*`: q is at most 0.05.",
        tables: [{ ...table(columns, rows), more }],
        notes: [{ label: "Note", text: "up to 12 other names with 7.5 wake-ups are summed" }],
      }),
    ],
    choices: [],
    more: "",
  };
}

/** The recorded case as if it told of threads. */
async function show(page: Page, world: World, told: (view: Case) => TableView): Promise<void> {
  let view: Case | undefined;
  await page.route(`**/api/experiments/*/cases/${world.row.case_id}?*`, async (route) => {
    view = { ...((await (await route.fetch()).json()) as Case), threads: true };
    await route.fulfill({ json: view });
  });
  await page.route("**/api/experiments/*/tables/threads?*", (route) => {
    if (view === undefined) throw new Error("asked before the case was there");
    return route.fulfill({ json: told(view) });
  });
  await open(page, world.paths.case ?? "");
}

test("the load's threads come first, with change, interval, times and claim", async ({
  page,
  world,
}) => {
  await show(page, world, threads);
  const panel = page.getByRole("region", { name: "Threads by name", exact: true });
  const load = panel.getByRole("row", { name: /^handler\*/ });
  await expect(load.getByText("1177", { exact: true })).toBeVisible();
  await expect(load.getByText("[1165, 1189]")).toBeVisible();
  await expect(load.getByText("47.08", { exact: true })).toBeVisible();
  await expect(load.getByText("changed")).toBeVisible();
  await expect(load.getByText(/claimed −96\.0%/)).toBeVisible();
  await expect(load.getByText(/^run ms 23\.54, wait ms 5\.885$/)).toBeVisible();
  await expect(panel.getByRole("row").nth(1)).toContainText("handler*");
  await expect(panel.getByRole("row", { name: /^kthread-0/ })).toContainText("may be noise");
  await expect(panel).toContainText("up to 12 other names with 7.5 wake-ups");
});

test("the other names are a click away", async ({ page, world }) => {
  await show(page, world, threads);
  const panel = page.getByRole("region", { name: "Threads by name", exact: true });
  await expect(panel.getByRole("row")).toHaveCount(13);
  await panel.getByRole("button", { name: "Show 19 more rows" }).click();
  await expect(panel.getByRole("row")).toHaveCount(32);
  await panel.getByRole("button", { name: "Show fewer rows" }).click();
  await expect(panel.getByRole("row")).toHaveCount(13);
});

test("a case that has told of none yet says so", async ({ page, world }) => {
  await show(page, world, (view) => ({ ...threads(view), sections: [] }));
  await expect(page.getByText("No boot that counts has told of threads yet.")).toBeVisible();
});

test("a case whose workload tells of none has no such part", async ({ page, world }) => {
  await open(page, world.paths.case ?? "");
  await expect(page.getByRole("region", { name: "Beside the case" })).toBeVisible();
  await expect(page.getByRole("heading", { name: "Threads by name" })).toHaveCount(0);
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 400]) {
    test(`threads are accessible at ${width} in ${colorScheme}`, async ({ page, world }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await show(page, world, threads);
      const panel = page.getByRole("region", { name: "Threads by name", exact: true });
      await expect(panel.getByRole("table")).toBeVisible();
      await expectAccessible(page);
      await expectNothingBeyond(page);
      const shots = process.env.MITIGAUGE_SHOTS;
      if (shots !== undefined)
        await panel.screenshot({ path: `${shots}/threads-${width}-${colorScheme}.png` });
    });
  }
}
