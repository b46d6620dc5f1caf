import type { BisectionProposal, Bisection, BisectionHead } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const HOSTILE = "<img src=x onerror=alert(1)>";

const HEAD: BisectionHead = {
  id: 7,
  kind: "patches",
  title: "vmscape-bhb v4: x86/vmscape: Clear the branch history",
  state: "finished",
  why: "",
  environment: "lab",
  hosts: ["lab-intel"],
  emulated: true,
  counted: true,
  case: "syscall basic",
  metric: "time_per_call",
  candidates: 8,
  boots: 42,
  budget_boots: 300,
  seconds: 5400,
  budget_s: 172800,
  answer: "found",
  culprit: "x86/entry: Count system calls",
  confidence: 0.9994,
  submitted_by: "operator",
  created_at: "2026-11-24T06:00:00Z",
  finished_at: "2026-11-24T08:00:00Z",
};

/** A bisection of so many changes; the third is the culprit, the fourth does not boot. */
function bisection(count: number, over: Partial<Bisection> = {}): Bisection {
  const step = {
    blocks: 4,
    experiment_state: "finished" as const,
    case_id: 1,
    over: true,
    outcome: "",
    boots: 8,
    measured_s: 900,
    profiled: false,
    verifies: null,
  };
  const level = (point: number, mean: number, effect: number | null) => ({
    point,
    boots: 4,
    mean,
    deviation_percent: 0.1,
    effect_percent: effect,
  });
  return {
    ...HEAD,
    candidates: count,
    workload: "syscall",
    parameters: { test: "basic" },
    unit: "ns",
    higher_is_worse: true,
    minimum_effect_percent: 0.5,
    wanted_confidence: 0.95,
    source: {
      base: "linux-source-7.2",
      profile: "lab",
      tree: "",
      good: "",
      bad: "",
      revision: "vmscape-bhb v4",
      message_id: "",
      subject: "",
      to: [],
      cc: [],
      references: [],
      notes: [],
    },
    changes: Array.from({ length: count }, (_, at) => ({
      position: at + 1,
      name: `${at}`.repeat(12).slice(0, 12),
      title:
        at === 2 ? "x86/entry: Count system calls" : `init: Say ${at} ${at === 0 ? HOSTILE : ""}`,
      message_id: "",
      files: ["init/main.c"],
      functions: [],
      prior: at === 7 ? 0 : 1,
      prior_why: at === 7 ? "the binary is the same with and without it" : "",
      probability: at === 2 ? 0.9994 : 0.00001,
    })),
    left_out: 0,
    points: [
      {
        position: 4,
        mode: "spectre-bhi/off",
        kernel: "7.2.12-mg0",
        skipped: `does not boot: Kernel panic ${HOSTILE}`,
        without: null,
      },
      {
        position: 6,
        mode: "spectre-bhi/off",
        kernel: "",
        skipped: "does not build: patch 6: arch/x86/entry/syscall_64.c:95: undeclared",
        without: null,
      },
    ],
    steps: [
      {
        ...step,
        number: 1,
        points: [0, 8],
        purpose: "ends",
        why: "Do the ends differ?",
        experiment_id: 1,
        levels: [level(0, 685, null), level(8, 905, 32.1)],
      },
      {
        ...step,
        number: 2,
        points: [2, 3],
        purpose: "verify",
        verifies: 3,
        profiled: true,
        why: "Is it change 3?",
        experiment_id: 2,
        levels: [level(2, 685, null), level(3, 905, 32.1)],
      },
    ],
    none_probability: 0.0003,
    several_probability: 0.0003,
    found: {
      kind: "found",
      candidates: [3],
      confidence: 0.9994,
      effect_percent: 32.1,
      ci_low_percent: 31.9,
      ci_high_percent: 32.3,
      why: "fresh blocks of it and of its parent say the same",
      what_it_takes: "",
      flame_graph: { experiment_id: 2, case_id: 1, host: "lab-intel", a: "p02", b: "p03" },
      verified_by: [2],
      reverts: [
        {
          candidate: 3,
          outcome: "gone",
          blocks: 4,
          change_percent: -24.31,
          change_low_percent: -24.55,
          change_high_percent: -24.07,
          off_percent: 0.03,
          off_low_percent: -0.22,
          off_high_percent: 0.28,
        },
      ],
    },
    ...over,
  };
}

test("the list leads to the bisection, whose candidates come from the database", async ({
  page,
}) => {
  await open(page, "/regressions?tab=bisections");
  const row = page.getByRole("row", { name: /4 patches on linux-source-7.2/ });
  await expect(row.getByText("running", { exact: true })).toBeVisible();
  await row.getByRole("link").first().click();
  await expect(page).toHaveURL(/\/bisections\/\d+$/);
  await expect(page.getByText(HOSTILE).first()).toBeVisible();
  await expect(page.getByText(/mitigauge bisect wait \d+/)).toBeVisible();
});

test("without any, the page says what to run", async ({ page }) => {
  await page.route("**/api/bisections", (route) => route.fulfill({ json: [] }));
  await open(page, "/regressions?tab=bisections");
  await expect(page.getByText("mitigauge bisect start --series NAME")).toBeVisible();
});

test("the answer names the culprit, its confidence and its flame graph", async ({ page }) => {
  await page.route("**/api/bisections/7", (route) => route.fulfill({ json: bisection(8) }));
  await open(page, "/bisections/7");
  const answer = page.getByRole("region", { name: "The culprit" });
  await expect(answer.getByText("x86/entry: Count system calls")).toBeVisible();
  await expect(answer.getByText(/99.94 %/)).toBeVisible();
  await expect(answer.getByText(/\+32.10%/)).toBeVisible();
  const graph = answer.getByRole("link", { name: "Flame graph of the difference" });
  await expect(graph).toHaveAttribute(
    "href",
    "/profiles?experiment=2&case=1&host=lab-intel&a=p02&b=p03",
  );
  await expect(
    answer.getByText(/change 3 reverted on the last end the change is gone: −24.31%/),
  ).toBeVisible();
  await expect(answer.getByText(/\+0.03% \(.*from the change's parent; 4 blocks/)).toBeVisible();
  const skipped = page.getByRole("region", { name: "Skipped" });
  await expect(skipped.getByText(/does not build: patch 6/)).toBeVisible();
  await expect(skipped.getByText(/does not boot: Kernel panic/)).toBeVisible();
  await expect(page.getByText("the binary is the same with and without it")).toBeVisible();
  await expect(page.getByRole("link", { name: "1", exact: true })).toHaveAttribute(
    "href",
    "/experiments/1",
  );
});

test("a revert that does not help is said in the answer", async ({ page }) => {
  const shown = bisection(8);
  const found = shown.found;
  if (found === null) throw new Error("the fixture has no answer");
  found.kind = "several";
  found.reverts = found.reverts.map((each) => ({ ...each, outcome: "nothing" as const }));
  await page.route("**/api/bisections/7", (route) => route.fulfill({ json: shown }));
  await open(page, "/bisections/7");
  const answer = page.getByRole("region", { name: "One culprit, and something besides it" });
  await expect(answer.getByText("the change stays")).toBeVisible();
});

test("two hundred candidates are shown, and how many more there are", async ({ page }) => {
  const many = bisection(200, { left_out: 2800, candidates: 3000 });
  await page.route("**/api/bisections/7", (route) => route.fulfill({ json: many }));
  await open(page, "/bisections/7");
  await expect(page.getByText("2800 less likely changes are not shown.")).toBeVisible();
  await expect(page.getByRole("region", { name: "Candidates" }).getByRole("row")).toHaveCount(203);
});

test("a bisection that there is not is said, with the way out", async ({ page }) => {
  await open(page, "/bisections/9999");
  await expect(page.getByText(/there is no bisection 9999/)).toBeVisible();
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 400]) {
    test(`a bisection is accessible at ${width} in ${colorScheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.route("**/api/bisections/7", (route) => route.fulfill({ json: bisection(8) }));
      for (const path of ["/bisections/7", "/regressions?tab=bisections"]) {
        await open(page, path);
        await expectAccessible(page);
        await expectNothingBeyond(page);
        const shots = process.env.MITIGAUGE_SHOTS;
        const name = path.replaceAll("/", "-").slice(1);
        if (shots !== undefined)
          await page.screenshot({
            path: `${shots}/${name}-${width}-${colorScheme}.png`,
            fullPage: true,
          });
      }
    });
  }
}

test("with one candidate no bisection is offered, and the page says why", async ({ page }) => {
  await page.route("**/api/bisections/proposal*", async (route) => {
    const proposed = (await (await route.fetch()).json()) as BisectionProposal;
    const arms = "arms:\n- {name: a, mode: spectre-bhi/off}\n- {name: b, mode: spectre-bhi/loop}\n";
    await route.fulfill({ json: { ...proposed, series: "", revision: "", arms, changes: 1 } });
  });
  await open(page, "/regressions?tab=new-bisection&regression=7");
  const start = page.getByRole("button", { name: "Start the bisection" });
  await expect(page.getByText("there is nothing to search")).toBeVisible();
  await expect(start).toHaveCount(0);
  await expectAccessible(page);
  const arms = page.getByLabel("Arms (YAML), in order");
  await arms.fill(`${await arms.inputValue()}- {name: c, mode: spectre-bhi/both}`);
  await expect(start).toBeVisible();
});
