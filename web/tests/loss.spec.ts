import type { Loss, LossCell } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const FIRST = ["off", "retpoline", "entry", "always"];
const SECOND = ["off", "on"];

function cell(first: string, second: string, place: number, claimed: boolean): LossCell {
  const loss = 4.1 * place - 0.3;
  return {
    first,
    second,
    arm_id: place + 1,
    arm: `${first}.${second}`,
    is_baseline: place === 0,
    state: place === 0 ? "baseline" : place === 5 ? "not_effective" : "measured",
    n: place === 5 ? 0 : 8,
    mean: 12.3,
    loss_percent: place === 0 || place === 5 ? null : loss,
    low_percent: place === 0 || place === 5 ? null : loss - 0.9,
    high_percent: place === 0 || place === 5 ? null : loss + 0.9,
    mde_percent: 1,
    verdict: place === 0 || place === 5 ? null : "worse",
    note: "",
    observed: place === 5 ? ["Mitigation: Retpolines; IBPB: disabled"] : [],
    claims:
      claimed && place > 1
        ? ["haswell", "skylake", "kabylake-u"].map((label, at) => ({
            source: "ibrs-ibpb-loss",
            label,
            low_percent: 4 + at,
            high_percent: 4 + at,
            outcome: "emulated" as const,
            reason: "an emulated host says nothing about hardware",
          }))
        : [],
  };
}

function block(host: string, emulated: boolean) {
  const places = FIRST.flatMap((first) => SECOND.map((second) => [first, second] as const));
  return {
    host,
    host_class: emulated ? "emulated-icelake" : "haswell-ep",
    processor: "Intel(R) Xeon(R) CPU E5-2690 v3 @ 2.60GHz",
    emulated,
    counted: emulated,
    // No barrier without retpolines or IBRS: there is no such arm.
    cells: places
      .map(([first, second], at) => cell(first, second, at, emulated))
      .filter(({ first, second }) => !(first === "off" && second === "on")),
  };
}

function loss(): Loss {
  const of = { case_id: 1, case: "compile of 128 units, 20 functions each, jobs 0" };
  const metric = { metric: "wall", metric_title: "Wall-clock time", primary: true };
  return {
    experiment_id: 1,
    experiment: "ibrs-ibpb-loss",
    state: "finished",
    emulated: true,
    counted: true,
    tables: [
      {
        comparison: "loss",
        ...of,
        workload: "compile",
        ...metric,
        unit: "s",
        direction: "lower",
        rest: "",
        baseline: "unpatched (ibrs/off+ibpb/off)",
        first: { family: "ibrs", modes: FIRST },
        second: { family: "ibpb", modes: SECOND },
        blocks: [block("hsw-01", false), block("lab-intel", true)],
      },
    ],
    choices: [
      { ...of, ...metric },
      { ...of, metric: "user", metric_title: "Time in user space", primary: false },
    ],
    left_out: 1,
  };
}

test("an experiment that crosses nothing says how to", async ({ page, world }) => {
  await open(page, `/experiments/${world.recorded.id}/loss`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Loss matrix");
  await expect(page.getByText("crosses two families")).toBeVisible();
  await expect(page.getByText("cross: [ibrs, ibpb]")).toBeVisible();
  await expectAccessible(page);
});

test("each combination has its loss, its interval, its boots and what was claimed", async ({
  page,
}) => {
  await page.route("**/api/experiments/1/loss*", (route) => route.fulfill({ json: loss() }));
  await open(page, "/experiments/1/loss");
  const real = page.getByRole("table", { name: /on hsw-01/ });
  const row = real.getByRole("row", { name: /^retpoline/ });
  await expect(row.getByText("worse")).toHaveCount(2);
  await expect(row.getByText("+7.0 … +8.8")).toBeVisible();
  await expect(real.getByText("the kernel said: Mitigation: Retpolines")).toBeVisible();
  await expect(real.getByText("no arm")).toHaveCount(1);
  const emulated = page.getByRole("table", { name: /on lab-intel/ });
  await expect(emulated.getByText(/haswell \+4/).first()).toBeVisible();
  await expect(page.getByText("emulated", { exact: true }).first()).toBeVisible();
  await expect(page.getByText("1 more table not shown")).toBeVisible();
  await row.getByRole("link").first().click();
  await expect(page).toHaveURL(/\/experiments\/1\/cases\/1\?host=hsw-01&metric=wall/);
});

test("a case and a metric are chosen by the address", async ({ page }) => {
  const asked: string[] = [];
  await page.route("**/api/experiments/1/loss*", (route) => {
    asked.push(new URL(route.request().url()).search);
    return route.fulfill({ json: loss() });
  });
  await open(page, "/experiments/1/loss");
  await page.getByLabel("Case and metric").selectOption({ index: 2 });
  await expect(page).toHaveURL(/loss\?case=1&metric=user/);
  await expect.poll(() => asked.at(-1)).toContain("metric=user");
});

test("a case that is not there is said", async ({ page, world }) => {
  await open(page, `/experiments/${world.recorded.id + 100_000}/loss`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Not found");
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 400]) {
    test(`a loss matrix is accessible at ${width} in ${colorScheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.route("**/api/experiments/1/loss*", (route) => route.fulfill({ json: loss() }));
      await open(page, "/experiments/1/loss");
      await expect(page.getByRole("table").first()).toBeVisible();
      await expectAccessible(page);
      await expectNothingBeyond(page);
      const shots = process.env.MITIGAUGE_SHOTS;
      if (shots !== undefined)
        await page.screenshot({
          path: `${shots}/loss-${width}-${colorScheme}.png`,
          fullPage: true,
        });
    });
  }
}
