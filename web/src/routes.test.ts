import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PLACES } from "./ui/places";

const HERE = new URL(".", import.meta.url);

/** Paths of all routes, wherever in the dashboard they are declared. */
function routes(): string[] {
  const files = readdirSync(HERE, { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".tsx"))
    .map((file) => readFileSync(new URL(file, HERE), "utf8"))
    .flatMap((text) =>
      [...text.matchAll(/<Route\s+path="([^"]+)"/g)].map(([, path]) => path ?? ""),
    );
}

test("there are at most twenty routes, each once", () => {
  const paths = routes();
  expect(paths).toContain("/experiments/:id");
  expect(paths.length).toBeLessThanOrEqual(20);
  expect(new Set(paths).size).toBe(paths.length);
});

test("the menu has five entries, each with a route", () => {
  const entries = Object.values(PLACES).map(({ path }) => path);
  expect(entries).toHaveLength(5);
  expect(routes()).toEqual(expect.arrayContaining(entries));
});
