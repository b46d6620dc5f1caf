/** The entries of the menu, and the tabs of each; the first tab has no word in the address. */

export interface Place {
  label: string;
  path: string;
  tabs: Readonly<Record<string, string>>;
  /** Where the pages begin that belong to it and have an address of their own. */
  within: readonly string[];
}

export const PLACES = {
  today: {
    label: "Today",
    path: "/",
    tabs: { today: "Today", weeks: "Weeks", subscriptions: "Subscriptions" },
    within: ["/weekly/"],
  },
  regressions: {
    label: "Regressions",
    path: "/regressions",
    tabs: {
      regressions: "Regressions",
      trends: "Trends",
      bisections: "Bisections",
      errors: "How often wrong",
    },
    within: ["/regressions/", "/trends/", "/bisections/"],
  },
  experiments: {
    label: "Experiments",
    path: "/experiments",
    tabs: { experiments: "Experiments", new: "New", compare: "Compare" },
    within: ["/experiments/", "/boots/", "/profiles"],
  },
  series: {
    label: "Series",
    path: "/series",
    tabs: { series: "Series", requests: "Requests by mail" },
    within: ["/series/"],
  },
  fleet: {
    label: "Fleet",
    path: "/fleet",
    tabs: { hosts: "Hosts", kernels: "Kernels", jobs: "Jobs", prices: "Prices" },
    within: ["/hosts/", "/jobs/"],
  },
} as const satisfies Record<string, Place>;

export type PlaceName = keyof typeof PLACES;

export function tabPath(place: PlaceName, tab: string): string {
  const { path, tabs } = PLACES[place];
  return tab === Object.keys(tabs)[0] ? path : `${path}?tab=${tab}`;
}

export function isWithin(place: PlaceName, location: string): boolean {
  const { path, within } = PLACES[place];
  return location === path || within.some((start) => location.startsWith(start));
}
