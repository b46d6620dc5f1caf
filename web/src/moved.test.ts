import { expect, test } from "vitest";
import { MOVED, moved } from "./moved";

/** Every old address as somebody kept it, and where it leads. */
const KEPT: [old: string, now: string][] = [
  ["/login", "/"],
  ["/weekly", "/?tab=weeks"],
  ["/subscriptions?of=everybody", "/?of=everybody&tab=subscriptions"],
  ["/trends?find=udp&changed=1", "/regressions?find=udp&changed=1&tab=trends"],
  [
    "/trends/classes/lab/Xeon%2C%208280%2F2?find=udp",
    "/regressions?find=udp&tab=trends&environment=lab&class=Xeon%2C+8280%2F2",
  ],
  ["/bisections?state=done", "/regressions?state=done&tab=bisections"],
  ["/bisections/new?regression=7", "/regressions?regression=7&tab=new-bisection"],
  ["/experiments/new?from=3", "/experiments?from=3&tab=new"],
  [
    "/compare?a=1&b=2&hosts=x%3Ay&hosts=v%3Aw",
    "/experiments?a=1&b=2&hosts=x%3Ay&hosts=v%3Aw&tab=compare",
  ],
  ["/experiments/3/counters?case=4", "/experiments/3/tables/counters?case=4"],
  ["/experiments/3/loss", "/experiments/3/tables/loss"],
  ["/profiles/diff?tree=web&a=x&b=y&tab=exact", "/profiles?tree=web&a=x&b=y&tab=exact"],
  ["/profiles/functions?experiment=3&case=4", "/profiles?experiment=3&case=4&tab=arms"],
  ["/requests?show=all", "/series?show=all&tab=requests"],
  ["/hosts?find=epyc&state=free", "/fleet?find=epyc&state=free"],
  ["/kernels", "/fleet?tab=kernels"],
  ["/jobs?state=running", "/fleet?state=running&tab=jobs"],
  ["/prices", "/fleet?tab=prices"],
];

test.each(KEPT)("%s is now %s", (old, now) => {
  const { pathname, search } = new URL(old, "http://host");
  expect(moved(pathname, search)).toBe(now);
});

test("every old address was tried, in the order of the table", () => {
  const shape = (path: string) => path.replaceAll(/:\w+/g, "").split("/").length;
  const tried = KEPT.map(([old]) => new URL(old, "http://host").pathname.split("/").length);
  expect(tried).toEqual(Object.keys(MOVED).map(shape));
});

test.each(["/", "/fleet", "/hosts/jobs", "/bisections/7", "/trends/7", "/weekly/2026-W47"])(
  "%s is where it was",
  (path) => {
    expect(moved(path, "")).toBeNull();
  },
);

test("no new address is an old one, so that nothing goes round", () => {
  for (const to of Object.values(MOVED)) {
    const { pathname, search } = new URL(to, "http://host");
    expect(moved(pathname, search)).toBeNull();
  }
});

test("a slash at the end, a lone percent sign and a plus change nothing", () => {
  expect(moved("/jobs/", "")).toBe("/fleet?tab=jobs");
  expect(moved("/trends/classes/lab/a+b&c%", "")).toBe(
    "/regressions?tab=trends&environment=lab&class=a%2Bb%26c%25",
  );
});
