import type { CounterCell, CounterRow, Counters } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const ARMS = ["al-inner", "ah-inner", "al-inner-sub-ax"];

function row(metric: string, unit: string, mean: number, changes: number[]): CounterRow {
  const cells = ARMS.map((_, at): CounterCell => {
    const change = at === 0 ? null : (changes[at - 1] ?? 0);
    return {
      arm_id: at + 1,
      state: at === 0 ? "baseline" : "measured",
      n: 8,
      mean: mean * (1 + (change ?? 0) / 100),
      change_percent: change,
      low_percent: change === null ? null : change - 0.7,
      high_percent: change === null ? null : change + 0.7,
      verdict: change === null ? null : change > 0 ? "worse" : "better",
      note: "",
      claims:
        change === null
          ? []
          : [
              {
                source: "bhb-loop-variants",
                low_percent: change,
                high_percent: change,
                outcome: "reproduced",
                reason: "the claim lies within our interval",
              },
            ],
    };
  });
  return {
    metric,
    title: metric,
    unit,
    direction: "lower",
    is_counter: unit !== "ns",
    cells,
  };
}

function counters(): Counters {
  return {
    experiment_id: 1,
    experiment: "bhb-loop-variants",
    state: "finished",
    emulated: false,
    counted: false,
    tables: [
      {
        comparison: "variants",
        case_id: 1,
        case: "syscall basic",
        host: "rkl-01",
        host_class: "rocket-lake",
        processor: "11th Gen Intel(R) Core(TM) i9-11900K @ 3.50GHz",
        emulated: false,
        counted: false,
        arms: ARMS.map((name, at) => ({
          arm_id: at + 1,
          name,
          mode: "spectre-bhi/loop",
          kernel: "",
          is_baseline: at === 0,
        })),
        rows: [
          row("Time per call", "ns", 81.35, [25.9, 4.9]),
          row("Cycles per call", "cycles/op", 388.4, [25.2, 4.7]),
          row("Branch misses per call", "misses/op", 2.396, [-88.3, 58.8]),
        ],
        absent: ["Micro-operations issued per call"],
      },
    ],
    left_out: 0,
  };
}

test("an experiment that counts nothing says how to", async ({ page, world }) => {
  await open(page, `/experiments/${world.recorded.id}/counters`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Counters");
  await expect(page.getByText("No case of")).toBeVisible();
  await expect(page.getByText("lab-bhb-loop-variants.yml")).toBeVisible();
  await expectAccessible(page);
});

test("each counter has its value, change, interval and claim in every arm", async ({ page }) => {
  await page.route("**/api/experiments/1/counters*", (route) =>
    route.fulfill({ json: counters() }),
  );
  await open(page, "/experiments/1/counters");
  const cycles = page.getByRole("row", { name: /^Cycles per call/ });
  await expect(cycles.getByText("388.4")).toBeVisible();
  await expect(cycles.getByText("+24.5 … +25.9")).toBeVisible();
  await expect(cycles.getByText(/claimed \+25\.2/)).toBeVisible();
  const misses = page.getByRole("row", { name: /^Branch misses/ });
  await expect(misses.getByText("better")).toBeVisible();
  await expect(page.getByText(/Absent.*Micro-operations issued per call/)).toBeVisible();
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 400]) {
    test(`counters are accessible at ${width} in ${colorScheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.route("**/api/experiments/1/counters*", (route) =>
        route.fulfill({ json: counters() }),
      );
      await open(page, "/experiments/1/counters");
      await expect(page.getByRole("table").first()).toBeVisible();
      await expectAccessible(page);
      await expectNothingBeyond(page);
      const shots = process.env.MITIGAUGE_SHOTS;
      if (shots !== undefined)
        await page.screenshot({
          path: `${shots}/counters-${width}-${colorScheme}.png`,
          fullPage: true,
        });
    });
  }
}
