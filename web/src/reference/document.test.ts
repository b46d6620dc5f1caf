import { expect, test } from "vitest";
import { curl, found, namesIn, type Operation, type Route, typeOf } from "./document";

function route(method: string, path: string, more: Partial<Operation> = {}): Route {
  return { method, path, tag: "x", operation: { operationId: "do", responses: {}, ...more } };
}

test("types are said in a few words", () => {
  expect(typeOf({ type: "array", items: { $ref: "#/components/schemas/A" } })).toBe("list of A");
  expect(typeOf({ anyOf: [{ type: "integer" }, { type: "null" }] })).toBe("integer | null");
  expect(typeOf({ enum: ["a", "b"] })).toBe('"a" | "b"');
  expect(typeOf({ type: "object", additionalProperties: { type: "string" } })).toBe(
    "object of string",
  );
  expect(typeOf(undefined)).toBe("anything");
});

test("the shapes that a type names are found at every depth", () => {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  expect(
    namesIn({ anyOf: [{ type: "array", items: ref("A") }, { additionalProperties: ref("B") }] }),
  ).toEqual(["A", "B"]);
  expect(namesIn({ type: "string" })).toEqual([]);
});

test("routes are found by each word", () => {
  const routes = [route("GET", "/api/v1/hosts"), route("POST", "/api/v1/hosts/{name}/resume")];
  expect(found(routes, "post HOSTS")).toEqual([routes[1]]);
  expect(found(routes, "  ")).toHaveLength(2);
  expect(found(routes, "nothing")).toEqual([]);
});

test("a request can be copied as a command", () => {
  const parameters = [
    { name: "name", in: "path", required: true, schema: { type: "string" } },
    { name: "a", in: "query", required: true, schema: { type: "integer" } },
    { name: "b", in: "query", schema: { type: "integer" } },
  ];
  expect(curl(route("GET", "/api/v1/hosts/{name}", { parameters }), "http://x")).toBe(
    `curl -H "Authorization: Bearer $MITIGAUGE_TOKEN" 'http://x/api/v1/hosts/NAME?a=1'`,
  );
  const requestBody = { content: { "application/yaml": {} } };
  expect(curl(route("POST", "/api/v1/experiments", { requestBody }), "http://x")).toContain(
    "--data-binary @spec.yml",
  );
});
