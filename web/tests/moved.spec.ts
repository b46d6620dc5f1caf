/** Old addresses, each opened once as somebody kept it: the page is there, under its new address. */

import { MOVED } from "../src/moved";
import { expect, expectAccessible, expectNothingBeyond, open, test, type World } from "./world";

interface Kept {
  path: string;
  heading: RegExp;
  /** What the new address has. */
  now: RegExp;
}

function profileQuery({ recorded, profiled }: World): string {
  const { case_id: caseId, host } = profiled.row;
  return `experiment=${recorded.id}&case=${caseId}&host=${host}`;
}

function kept(world: World): Record<keyof typeof MOVED, Kept> {
  const { recorded, again } = world;
  const tables = `/experiments/${recorded.id}`;
  return {
    "/login": { path: "/login", heading: /^Today$/, now: /\/$/ },
    "/weekly": { path: "/weekly", heading: /^Weeks$/, now: /\/\?tab=weeks$/ },
    "/subscriptions": {
      ...{ path: "/subscriptions?of=everybody", heading: /^Subscriptions$/ },
      now: /\/\?of=everybody&tab=subscriptions$/,
    },
    "/trends": {
      ...{ path: "/trends?find=udp", heading: /^Trends$/ },
      now: /\/regressions\?find=udp&tab=trends$/,
    },
    "/trends/classes/:environment/:class": {
      ...{ path: "/trends/classes/bench/Xeon%2C%208280", heading: /^Xeon, 8280$/ },
      now: /\/regressions\?tab=trends&environment=bench&class=Xeon%2C\+8280$/,
    },
    "/bisections": {
      ...{ path: "/bisections", heading: /^Bisections$/ },
      now: /\/regressions\?tab=bisections$/,
    },
    "/bisections/new": {
      ...{ path: "/bisections/new?regression=7", heading: /^New bisection$/ },
      now: /\/regressions\?regression=7&tab=new-bisection$/,
    },
    "/experiments/new": {
      ...{ path: "/experiments/new?spec=lab-demo", heading: /^New experiment$/ },
      now: /\/experiments\?spec=lab-demo&tab=new$/,
    },
    "/compare": {
      ...{ path: `/compare?a=${recorded.id}&b=${again.id}`, heading: / and / },
      now: /\/experiments\?a=\d+&b=\d+&tab=compare$/,
    },
    "/experiments/:id/counters": {
      ...{ path: `${tables}/counters`, heading: /^Counters$/, now: /\/tables\/counters$/ },
    },
    "/experiments/:id/loss": {
      ...{ path: `${tables}/loss`, heading: /^Loss matrix$/, now: /\/tables\/loss$/ },
    },
    "/profiles/diff": {
      ...{ path: `/profiles/diff?${profileQuery(world)}&a=off&b=loop&tab=functions`, heading: /./ },
      now: /\/profiles\?experiment=.*&tab=functions$/,
    },
    "/profiles/functions": {
      ...{ path: `/profiles/functions?${profileQuery(world)}`, heading: /^Functions over arms$/ },
      now: /\/profiles\?experiment=.*&tab=arms$/,
    },
    "/requests": {
      ...{ path: "/requests?show=all", heading: /^Requests by mail$/ },
      now: /\/series\?show=all&tab=requests$/,
    },
    "/hosts": {
      ...{ path: "/hosts?find=lab", heading: /^Fleet$/, now: /\/fleet\?find=lab$/ },
    },
    "/kernels": { path: "/kernels", heading: /^Kernels$/, now: /\/fleet\?tab=kernels$/ },
    "/jobs": { path: "/jobs", heading: /^Jobs$/, now: /\/fleet\?tab=jobs$/ },
    "/prices": { path: "/prices", heading: /^Prices$/, now: /\/fleet\?tab=prices$/ },
  };
}

for (const pattern of Object.keys(MOVED))
  test(`${pattern} leads to where its page is now`, async ({ page, world }) => {
    const one = kept(world)[pattern];
    if (one === undefined) throw new Error("this old address is not tried");
    await open(page, one.path);
    await expect(page).toHaveURL(one.now);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(one.heading);
    if (pattern.includes(":environment")) return; // The served database has no such class.
    await expect(page.getByText("Not found")).toHaveCount(0);
  });

test("a redirect leaves nothing to come back to", async ({ page }) => {
  await open(page, "/find");
  await page.goto("/jobs");
  await expect(page).toHaveURL(/\/fleet\?tab=jobs$/);
  await page.goBack();
  await expect(page).toHaveURL(/\/find$/);
});

const PLACES: Record<string, string[]> = {
  Today: ["Today", "Weeks", "Subscriptions"],
  Regressions: ["Regressions", "Trends", "Bisections", "How often wrong"],
  Experiments: ["Experiments", "New", "Compare"],
  Series: ["Series", "Requests by mail"],
  Fleet: ["Hosts", "Kernels", "Jobs", "Prices"],
};

test("the menu has five entries", async ({ page }) => {
  await open(page, "/");
  const menu = page.getByRole("navigation", { name: "Main" });
  await expect(menu.getByRole("link")).toHaveText(Object.keys(PLACES));
});

for (const [place, tabs] of Object.entries(PLACES))
  test(`${place} has its tabs, which the keyboard walks, also on a phone`, async ({ page }) => {
    await page.setViewportSize({ width: 400, height: 900 });
    await open(page, "/find");
    const menu = page.getByRole("navigation", { name: "Main" });
    await menu.getByRole("link", { name: place, exact: true }).click();
    const bar = page.getByRole("main").getByRole("navigation", { name: place });
    await expect(bar.getByRole("link")).toHaveText(tabs);
    for (const tab of tabs) {
      const link = bar.getByRole("link", { name: tab, exact: true });
      await link.focus();
      await page.keyboard.press("Enter");
      await expect(link).toHaveAttribute("aria-current", "page");
      await expect(menu.locator("[aria-current]")).toHaveText(place);
      await expect(page.locator(".skeleton")).toHaveCount(0);
      await expectAccessible(page);
      await expectNothingBeyond(page);
    }
  });

const SHOTS = process.env.MITIGAUGE_SHOTS;
for (const colorScheme of ["light", "dark"] as const)
  for (const width of [1440, 400])
    for (const path of ["/", "/regressions", "/experiments", "/series", "/fleet"])
      test(`${path} is accessible and fits, ${width} wide and ${colorScheme}`, async ({ page }) => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        await open(page, path);
        await expectAccessible(page);
        await expectNothingBeyond(page);
        if (SHOTS !== undefined)
          await page.screenshot({
            path: `${SHOTS}/${path.slice(1) || "today"}-${width}-${colorScheme}.png`,
          });
      });
