/** Tables of any kind: their page, their cells, and what old addresses lead to. */

import type { TableCell, TableSection, TableView } from "../src/api/types";
import { answer, armColumn, column, effect, quantity, section, table, text } from "./table-view";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const ARMS = ["al-inner", "ah-inner", "al-inner-sub-ax"];

function view(kind: string, sections: TableSection[], rest: Partial<TableView> = {}): TableView {
  return {
    table: kind,
    title: `${kind} of bhb-loop-variants`,
    experiment_id: 1,
    experiment: "bhb-loop-variants",
    state: "finished",
    emulated: false,
    counted: false,
    notes: [],
    sections,
    choices: [],
    more: "",
    ...rest,
  };
}

function counter(name: string, unit: string, mean: number, changes: number[]): TableCell[] {
  const cells = ARMS.map((_, at) => {
    const change = changes[at - 1] ?? 0;
    const value = quantity(mean * (1 + (at === 0 ? 0 : change) / 100), unit);
    if (at === 0) return answer({ state: "baseline", value });
    const claim = { source: "bhb-loop-variants", label: "bhb-loop-variants", low: change };
    return answer({
      value,
      effect: effect(change, 0.7, { verdict: change > 0 ? "worse" : "better" }),
      claims: [{ ...claim, high: change, outcome: "reproduced", reason: "within our interval" }],
    });
  });
  return [text(name, `${name} (${unit})`), ...cells];
}

function counters(): TableView {
  const rows = [
    counter("Time per call", "ns", 81.35, [25.9, 4.9]),
    counter("Cycles per call", "", 388.4, [25.2, 4.7]),
    counter("Branch misses per call", "", 2.396, [-88.3, 58.8]),
  ];
  return view("counters", [
    section({
      title: "Counters of syscall basic (variants), rocket-lake, host rkl-01",
      meaning: "Change against the baseline in percent of it, with its 95 % interval; exploratory.",
      href: "/experiments/1/cases/1?host=rkl-01",
      tables: [table([column("counter"), ...ARMS.map(armColumn)], rows)],
      notes: [{ label: "Absent", text: "Micro-operations issued: this host does not count them" }],
    }),
  ]);
}

const FIRST = ["off", "retpoline", "entry", "always"];

function losses(host: string, emulated: boolean) {
  const rows = FIRST.flatMap((first, down) =>
    ["off", "on"].map((second, across): TableCell[] => {
      const place = 2 * down + across;
      const href = `/experiments/1/cases/1?host=${host}&metric=wall`;
      const value = quantity(12.3, "s");
      const cell =
        place === 0
          ? answer({ state: "baseline", value })
          : place === 5
            ? answer({ state: "not_effective", n: 0, note: "the kernel said: Retpolines" })
            : answer({ href, effect: effect(4.1 * place - 0.3, 0.9, { verdict: "worse" }) });
      return [text(first), text(second), cell];
    }),
  ).filter((_, place) => place !== 1);
  const columns = [column("ibrs"), column("ibpb"), column("loss", { kind: "answer" })];
  return table(columns, rows, `haswell-ep, host ${host}${emulated ? ", EMULATED" : ""}`, true);
}

function loss(): TableView {
  const title = "Loss of Wall-clock time by ibrs and ibpb: compile of 128 units";
  return view(
    "loss",
    [
      section({
        title,
        emulated: true,
        tables: [losses("hsw-01", false), losses("lab-intel", true)],
      }),
    ],
    {
      choices: ["wall", "user"].map((metric) => ({
        title: `compile, ${metric}`,
        query: { case: "1", metric },
      })),
      more: "1 more table not shown: name a case and a metric (`mitigauge experiment table ID loss`).",
    },
  );
}

const COSTS: [string, number, number][] = [
  ["pti", 7013, 1021.4],
  ["bhi", 217.4, 31.7],
  ["left unexplained", -3.1, -0.5],
];

function factorial(): TableView {
  const rows = COSTS.map(([name, ns, percent]): TableCell[] => [
    text(name),
    { ...quantity(ns, "ns"), low: ns - 4, high: ns + 4 },
    answer({ effect: effect(percent, 0.6), href: "/experiments/1/cases/1?host=spr-01" }),
  ]);
  const columns = [
    column("knob"),
    column("cost", { kind: "quantity", with_interval: true }),
    column("of none", { kind: "answer", parts: ["change", "interval"] }),
  ];
  return view("factorial", [
    section({
      title: "What each knob of mitigations costs, host spr-01",
      tables: [table(columns, rows, "syscall basic, Time per call; none: 686 ns; 32 of 32 boots")],
      notes: [{ label: "", text: "pti: pti/off to pti/on" }],
    }),
  ]);
}

test("what each knob costs stands on the experiment's page and leads to its table", async ({
  page,
  world,
}) => {
  const id = world.recorded.id;
  await page.route(`**/api/experiments/${id}`, async (route) => {
    const answered = await route.fetch();
    const found = (await answered.json()) as { comparisons: { factorial: boolean }[] };
    for (const comparison of found.comparisons) comparison.factorial = true;
    await route.fulfill({ response: answered, json: found });
  });
  await page.route("**/api/experiments/*/tables/factorial*", (route) =>
    route.fulfill({ json: factorial() }),
  );
  await open(page, `/experiments/${id}`);
  const costs = page.getByRole("region", { name: /^What each knob of mitigations costs/ }).first();
  await expect(costs.getByRole("row", { name: /^pti/ })).toContainText("[7009, 7017]");
  await costs.getByRole("link", { name: "Each case in its unit" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("What each knob costs");
});

test("an experiment that turns no knobs together says how to", async ({ page, world }) => {
  await open(page, `/experiments/${world.recorded.id}/tables/factorial`);
  await expect(page.getByText("factorial: {knobs")).toBeVisible();
  await expectAccessible(page);
});

test("an experiment that counts nothing says how to", async ({ page, world }) => {
  await open(page, `/experiments/${world.recorded.id}/counters`);
  await expect(page).toHaveURL(/\/tables\/counters$/);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Counters");
  await expect(page.getByText("No case of this experiment counts")).toBeVisible();
  await expect(page.getByText('counters: "yes"')).toBeVisible();
  await expectAccessible(page);
});

test("an experiment that crosses nothing says how to", async ({ page, world }) => {
  await open(page, `/experiments/${world.recorded.id}/loss`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Loss matrix");
  await expect(page.getByText("cross: [ibrs, ibpb]")).toBeVisible();
});

test("each counter has its value, change, interval and claim in every arm", async ({ page }) => {
  await page.route("**/api/experiments/*/tables/counters*", (route) =>
    route.fulfill({ json: counters() }),
  );
  await open(page, "/experiments/1/tables/counters");
  const cycles = page.getByRole("row", { name: /^Cycles per call/ });
  await expect(cycles.getByText("388.4")).toBeVisible();
  await expect(cycles.getByText("[+24.5, +25.9]")).toBeVisible();
  await expect(cycles.getByText(/claimed \+25\.2%/)).toBeVisible();
  await expect(page.getByRole("row", { name: /^Branch misses/ }).getByText("better")).toBeVisible();
  await expect(page.getByText(/Absent.*Micro-operations issued/)).toBeVisible();
});

test("crossed families have a loss, an interval and boots in each combination", async ({
  page,
}) => {
  await page.route("**/api/experiments/*/tables/loss*", (route) => route.fulfill({ json: loss() }));
  await open(page, "/experiments/1/tables/loss");
  const real = page.getByRole("table", { name: /host hsw-01/ });
  const row = real.getByRole("row", { name: /^retpoline/ });
  await expect(row.getByText("worse")).toHaveCount(2);
  await expect(row.getByText("[+7.0, +8.8]")).toBeVisible();
  await expect(real.getByText("the kernel said: Retpolines")).toBeVisible();
  await expect(real.getByText("no arm")).toHaveCount(1);
  await expect(page.getByText("1 more table not shown")).toBeVisible();
  await row.getByRole("link").first().click();
  await expect(page).toHaveURL(/\/experiments\/1\/cases\/1\?host=hsw-01&metric=wall/);
});

test("a case and a metric are chosen by the address", async ({ page }) => {
  const asked: string[] = [];
  await page.route("**/api/experiments/*/tables/loss*", (route) => {
    asked.push(new URL(route.request().url()).search);
    return route.fulfill({ json: loss() });
  });
  await open(page, "/experiments/1/tables/loss");
  await page.getByRole("combobox", { name: /^Show/ }).selectOption({ index: 2 });
  await expect(page).toHaveURL(/loss\?case=1&metric=user/);
  await expect.poll(() => asked.at(-1)).toContain("metric=user");
});

test("what is not there is said: the experiment, the kind", async ({ page, world }) => {
  await open(page, `/experiments/${world.recorded.id + 100_000}/tables/loss`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Not found");
  await open(page, `/experiments/${world.recorded.id}/tables/nothing`);
  await expect(page.getByText("Choose one of matrix")).toBeVisible();
});

for (const kind of ["matrix"]) {
  test(`the recorded experiment's ${kind} is a table`, async ({ page, world }) => {
    await open(page, `/experiments/${world.recorded.id}/tables/${kind}`);
    await expect(page.getByRole("table").first()).toBeVisible();
    await expectAccessible(page);
    await expectNothingBeyond(page);
  });
}

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 400]) {
    for (const [kind, made] of [
      ["counters", counters],
      ["loss", loss],
      ["factorial", factorial],
    ] as const) {
      test(`${kind} are accessible at ${width} in ${colorScheme}`, async ({ page }) => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        await page.route(`**/api/experiments/*/tables/${kind}*`, (route) =>
          route.fulfill({ json: made() }),
        );
        await open(page, `/experiments/1/tables/${kind}`);
        await expect(page.getByRole("table").first()).toBeVisible();
        await expectAccessible(page);
        await expectNothingBeyond(page);
        const shots = process.env.MITIGAUGE_SHOTS;
        if (shots !== undefined)
          await page.screenshot({
            path: `${shots}/${kind}-${width}-${colorScheme}.png`,
            fullPage: true,
          });
      });
    }
  }
}
