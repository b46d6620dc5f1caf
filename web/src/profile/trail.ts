import type { Crumb } from "../ui/page";

interface Place {
  title: string;
  host: string;
  experiment: number | string | null;
  case: number | string | null;
}

/** Where a case's profiles and counts are: the experiment, then the case on its host. */
export function trail(place: Place): Crumb[] {
  const crumbs = [{ text: "Experiments", to: "/experiments" }];
  if (place.experiment === null) return crumbs;
  const experiment = `/experiments/${place.experiment}`;
  crumbs.push({ text: `Experiment ${place.experiment}`, to: experiment });
  if (place.case === null) return crumbs;
  const host = new URLSearchParams({ host: place.host }).toString();
  return [...crumbs, { text: place.title, to: `${experiment}/cases/${place.case}?${host}` }];
}
