/** Threads by name beside a case: wake-ups before and after, with what was claimed. */

import type { Page } from "@playwright/test";
import type { Case, ThreadCell, ThreadFigure, ThreadRow, Threads } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test, type World } from "./world";

function figure(mean: number, change: number | null, q: number | null): ThreadFigure {
  return {
    mean,
    low: mean * 0.99,
    high: mean * 1.01,
    change_percent: change,
    low_percent: change === null ? null : change - 0.3,
    high_percent: change === null ? null : change + 0.3,
    q,
    note: "",
  };
}

function row(name: string, perSecond: number, change: number, arms: number[]): ThreadRow {
  const own = name === "handler*";
  const cells = arms.map((arm, at): ThreadCell => {
    const mean = at === 0 ? perSecond : perSecond * (1 + change / 100);
    const changed = at === 0 ? null : change;
    return {
      arm_id: arm,
      n: 8,
      wakeups: figure(mean, changed, changed === null ? null : Math.abs(change) > 2 ? 1e-9 : 0.7),
      run: figure(mean * 0.02, changed, null),
      wait: figure(mean * 0.005, changed, null),
      claims:
        own && at === 1
          ? [
              {
                source: "ovs-wakeups",
                low_percent: -96,
                high_percent: -96,
                outcome: "reproduced",
                reason: "the claim lies within our interval",
              },
            ]
          : [],
    };
  });
  return { name, own, threads: own ? 8 : 1, cells };
}

function threads(view: Case): Threads {
  const [first, second] = view.arms;
  if (first === undefined || second === undefined) throw new Error("fewer than two arms");
  const arms = [first.id, second.id];
  const many = Array.from({ length: 30 }, (_, at) => row(`kthread-${at}`, 20 - at / 2, 0.4, arms));
  return {
    experiment_id: view.experiment_id,
    experiment: view.experiment,
    state: "finished",
    emulated: false,
    counted: false,
    tables: [
      {
        comparison: view.comparison,
        case_id: view.case_id,
        case: view.case,
        host: view.host,
        host_class: "clx",
        processor: "",
        emulated: false,
        counted: false,
        window_s: 5,
        measured_s: 25,
        arms: ["before", "after"].map((name, at) => ({
          arm_id: arms[at] ?? 0,
          name,
          mode: "mitigations/auto",
          kernel: at === 0 ? "5.10.0" : "6.1.0",
          is_baseline: at === 0,
        })),
        rows: [row("handler*", 235.4, -96, arms), ...many],
        left_out: 0,
        others: { names: 12, wakeups: 1.5 },
      },
    ],
    left_out: 0,
  };
}

/** The recorded case as if it told of threads. */
async function show(page: Page, world: World, told: (view: Case) => Threads): Promise<void> {
  let view: Case | undefined;
  await page.route(`**/api/experiments/*/cases/${world.row.case_id}?*`, async (route) => {
    view = { ...((await (await route.fetch()).json()) as Case), threads: true };
    await route.fulfill({ json: view });
  });
  await page.route("**/api/experiments/*/threads?*", (route) => {
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
  await expect(load.getByText("[1165 … 1189]")).toBeVisible();
  await expect(load.getByText("47.1", { exact: true })).toBeVisible();
  await expect(load.getByText("changed")).toBeVisible();
  await expect(load.getByText(/claimed −96\.0/)).toBeVisible();
  await expect(load.getByText(/^ran 23\.54\s?ms, waited 5\.885\s?ms$/)).toBeVisible();
  await expect(panel.getByRole("row").nth(1)).toContainText("handler*");
  await expect(panel.getByRole("row", { name: /^kthread-0/ })).toContainText("may be noise");
  await expect(panel).toContainText("up to 12 other names with 7.5 wake-ups");
});

test("the other names are a click away", async ({ page, world }) => {
  await show(page, world, threads);
  const panel = page.getByRole("region", { name: "Threads by name", exact: true });
  await expect(panel.getByRole("row")).toHaveCount(13);
  await panel.getByRole("button", { name: "Show 19 more names" }).click();
  await expect(panel.getByRole("row")).toHaveCount(32);
  await panel.getByRole("button", { name: "Show fewer names" }).click();
  await expect(panel.getByRole("row")).toHaveCount(13);
});

test("a case that has told of none yet says so", async ({ page, world }) => {
  await show(page, world, (view) => ({ ...threads(view), tables: [] }));
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
