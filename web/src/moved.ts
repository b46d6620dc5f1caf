/** Addresses that pages had before, and where these are now: links in old mails and notes keep working. */

import { decoded } from "./ui/name-in-path";

/** A name after a colon stands for one part of the path. The rest of the query is kept. */
export const MOVED: Readonly<Record<string, string>> = {
  "/login": "/",
  "/weekly": "/?tab=weeks",
  "/subscriptions": "/?tab=subscriptions",
  "/trends": "/regressions?tab=trends",
  "/trends/classes/:environment/:class":
    "/regressions?tab=trends&environment=:environment&class=:class",
  "/bisections": "/regressions?tab=bisections",
  "/bisections/new": "/regressions?tab=new-bisection",
  "/experiments/new": "/experiments?tab=new",
  "/compare": "/experiments?tab=compare",
  "/experiments/:id/counters": "/experiments/:id/tables/counters",
  "/experiments/:id/loss": "/experiments/:id/tables/loss",
  "/profiles/diff": "/profiles",
  "/profiles/functions": "/profiles?tab=arms",
  "/requests": "/series?tab=requests",
  "/hosts": "/fleet",
  "/kernels": "/fleet?tab=kernels",
  "/jobs": "/fleet?tab=jobs",
  "/prices": "/fleet?tab=prices",
};

type Parts = Record<string, string>;

/** Parts of the path by their names, encoded as they stand there; null where it is another path. */
function partsOf(pattern: string, path: string): Parts | null {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  if (wanted.length !== given.length) return null;
  const parts: Parts = {};
  for (const [at, name] of wanted.entries()) {
    const part = given[at] ?? "";
    if (!name.startsWith(":")) {
      if (name !== part) return null;
    } else if (part === "") return null;
    else parts[name] = part;
  }
  return parts;
}

/** Where the page of an old address is now; null: the address is not an old one. */
export function moved(path: string, search: string): string | null {
  const plain = path.length > 1 ? path.replace(/\/$/, "") : path;
  for (const [from, to] of Object.entries(MOVED)) {
    const parts = partsOf(from, plain);
    if (parts === null) continue;
    const [place = "", asked = ""] = to.split("?");
    const query = new URLSearchParams(search);
    for (const [name, value] of new URLSearchParams(asked))
      query.set(name, decoded(parts[value] ?? value));
    const there = place.replaceAll(/:\w+/g, (name) => parts[name] ?? "");
    return query.size === 0 ? there : `${there}?${query.toString()}`;
  }
  return null;
}
