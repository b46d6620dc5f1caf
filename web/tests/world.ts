/** What the served database holds, asked from its API, and checks that every test makes. */

import axe from "axe-core";
import { expect, type Locator, test as base, type Page } from "@playwright/test";
import type {
  Arm,
  Comparison,
  ExperimentSummary,
  Row,
  WeeklyLine,
  WholeExperiment,
} from "../src/api/types";

export interface World {
  recorded: WholeExperiment;
  /** The experiment whose case tells a load curve and breakdowns. */
  desktops: WholeExperiment;
  /** The recorded experiment, measured again with one case slower. */
  again: ExperimentSummary;
  live: ExperimentSummary;
  /** An arm that was never in force, with its comparison. */
  notEffective: { comparison: Comparison; arm: Arm };
  /** A row with a measured cell. */
  row: Row;
  /** A row whose case was profiled on real (emulated) hosts, and its diff's address. */
  profiled: { row: Row; path: string };
  paths: Record<string, string>;
}

const DESKTOPS = "desktops";
/** The recorded experiment once more. */
const AGAIN = "measured again";

/** The address of the served dashboard, without the key behind it. */
function origin(link: string): string {
  return new URL(link).origin;
}

/** A session's cookie, got as a browser gets it from the link that `mitigauge serve` prints. */
async function logIn(link: string): Promise<{ name: string; value: string }> {
  const key = /#key=(.+)$/.exec(link)?.[1];
  if (key === undefined) throw new Error(`${link} is no link with a key`);
  const answer = await fetch(new URL("/api/session", link), {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: origin(link) },
    body: JSON.stringify({ key }),
  });
  const cookie = /^([^=]+)=([^;]+);/.exec(answer.headers.get("set-cookie") ?? "");
  if (!answer.ok || cookie === null)
    throw new Error(`not logged in: ${answer.status} ${await answer.text()}`);
  return { name: need(cookie[1], "cookie"), value: need(cookie[2], "cookie") };
}

async function get<T>(base: string, path: string, cookie: string): Promise<T> {
  const answer = await fetch(new URL(path, base), { headers: { Cookie: cookie } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

function need<T>(thing: T | undefined, what: string): T {
  if (thing === undefined) throw new Error(`the served database has no ${what}`);
  return thing;
}

/** Where the cell's link of the first profiled case leads. */
function profiled(recorded: WholeExperiment): World["profiled"] {
  const row = need(
    recorded.comparisons.flatMap((c) => c.rows).find((r) => r.profiled && r.primary),
    "profiled case",
  );
  const query = new URLSearchParams({
    experiment: String(recorded.id),
    case: String(row.case_id),
    host: row.host,
    a: "off",
    b: "loop",
  });
  return { row, path: `/profiles?${query.toString()}` };
}

async function explore(base: string, cookie: string): Promise<World> {
  const { experiments: list } = await get<{ experiments: ExperimentSummary[] }>(
    ...([base, "/api/experiments", cookie] as const),
  );
  const hostile = (e: ExperimentSummary) => e.question.includes("<");
  const live = need(list.find(hostile), "experiment under way with a hostile question");
  const summary = need(
    list.find(
      (e) => e.state === "finished" && !hostile(e) && e.name !== DESKTOPS && e.name !== AGAIN,
    ),
    "recorded experiment",
  );
  const made = need(
    list.find((e) => e.name === DESKTOPS),
    "experiment of desktops",
  );
  const again = need(
    list.find((e) => e.name === AGAIN),
    "experiment that was measured again",
  );
  const desktops = await get<WholeExperiment>(
    ...([base, `/api/experiments/${made.id}/matrix.json`, cookie] as const),
  );
  const recorded = await get<WholeExperiment>(
    ...([base, `/api/experiments/${summary.id}/matrix.json`, cookie] as const),
  );
  const comparison = need(
    recorded.comparisons.find((c) => c.arms.some((a) => a.observed.length > 0)),
    "arm that was not effective",
  );
  const arm = need(
    comparison.arms.find((a) => a.boots_effective === 0 && a.observed.length > 0),
    "arm that was never effective",
  );
  const row = need(
    recorded.comparisons
      .flatMap((c) => c.rows)
      .find((r) => r.primary && r.cells.some((c) => c.state === "measured")),
    "measured case",
  );
  const points = (
    await get<{ points: Record<string, { boot_id: number; counts: boolean }[]> }>(
      base,
      `/api/experiments/${recorded.id}/cases/${row.case_id}?host=${row.host}`,
      cookie,
    )
  ).points[row.metric];
  const boot = need(
    points?.find((p) => p.counts),
    "boot that counts",
  );
  const [week] = await get<WeeklyLine[]>(base, "/api/weekly", cookie);
  if (week === undefined) throw new Error("the served database has no weekly report");
  const flames = profiled(recorded);
  const query = new URLSearchParams({ host: row.host, metric: row.metric }).toString();
  return {
    recorded,
    desktops,
    again,
    live,
    notEffective: { comparison, arm },
    row,
    profiled: flames,
    paths: {
      experiments: "/experiments",
      experiment: `/experiments/${recorded.id}?metrics=all`,
      case: `/experiments/${recorded.id}/cases/${row.case_id}?${query}`,
      boot: `/boots/${boot.boot_id}`,
      hosts: "/fleet",
      host: `/hosts/${row.host}`,
      "flame graph": flames.path,
      "series list": "/series",
      series: "/series/vmscape-bhb",
      "weekly list": "/?tab=weeks",
      weekly: `/weekly/${week.week}`,
      "not found": "/no/such/page",
    },
  };
}

interface Served {
  /** The link that lets a browser in. */
  link: string;
  cookie: { name: string; value: string };
}

export const test = base.extend<{ quiet: undefined }, { served: Served; world: World }>({
  served: [
    async ({}, use) => {
      const link = need(
        process.env.MITIGAUGE_WEB_URL ?? process.env.MITIGAUGE_STARTED_LINK,
        "link (MITIGAUGE_WEB_URL)",
      );
      await use({ link, cookie: await logIn(link) });
    },
    { scope: "worker" },
  ],
  world: [
    async ({ served: { link, cookie } }, use) => {
      await use(await explore(origin(link), `${cookie.name}=${cookie.value}`));
    },
    { scope: "worker" },
  ],
  baseURL: async ({ served }, use) => {
    await use(origin(served.link));
  },
  // Logged in, unless a test wants to be nobody.
  storageState: async ({ served: { link, cookie } }, use) => {
    const { hostname } = new URL(link);
    const rest = { domain: hostname, path: "/", expires: -1, httpOnly: true, secure: false };
    await use({ cookies: [{ ...cookie, ...rest, sameSite: "Strict" }], origins: [] });
  },
  // No page may log an error, nor break the content security policy, in any test.
  quiet: [
    async ({ page }, use) => {
      const complaints: string[] = [];
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("console", (message) => {
        // A refused request is logged by the browser itself; tests of refusals expect it.
        const refused = message.text().startsWith("Failed to load resource");
        if (message.type() === "error" && !refused) complaints.push(message.text());
      });
      await use(undefined);
      expect(complaints).toEqual([]);
    },
    { auto: true },
  ],
});

/** Opens a page of the dashboard and waits until it has its data. */
export async function open(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.locator(".skeleton")).toHaveCount(0);
}

/** Click once its page is whole: what comes late moves what is below it from under the mouse. */
export async function clickAtRest(what: Locator): Promise<void> {
  await what.waitFor();
  await expect(what.page().locator(".skeleton")).toHaveCount(0);
  await what.click();
}

/** No part of the page lies beyond its right edge. */
export async function expectNothingBeyond(page: Page): Promise<void> {
  const beyond = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(beyond).toBe(0);
}

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** No rule is broken: asked in the page itself, since no page of ours has a frame in it. */
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  const broken = await page.evaluate(async (values) => {
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(document, {
      resultTypes: ["violations"],
      runOnly: { type: "tag", values },
    });
    return violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(" | ")}`);
  }, RULES);
  expect(broken).toEqual([]);
  await expect(page.locator("iframe")).toHaveCount(0);
}

export { expect };
