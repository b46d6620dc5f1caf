/** The API's description as the page shows it. */

export interface Schema {
  $ref?: string;
  type?: string;
  title?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface Content {
  content?: Record<string, { schema?: Schema }>;
  description?: string;
}

export interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content>;
}

export interface ApiDocument {
  info: { title: string; version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface Route {
  method: string;
  path: string;
  tag: string;
  operation: Operation;
}

/** All routes, in the document's order. */
export function routesOf(document: ApiDocument): Route[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      tag: operation.tags?.[0] ?? "service",
      operation,
    })),
  );
}

/** Those that have each of the words in their address, name or description. */
export function found(routes: Route[], text: string): Route[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return routes.filter(({ method, path, operation }) => {
    const all = `${method} ${path} ${operation.operationId} ${operation.description ?? ""}`;
    return words.every((word) => all.toLowerCase().includes(word));
  });
}

/** The name of a schema of the document; empty for one that is written out. */
export function nameOf(schema: Schema | undefined): string {
  return schema?.$ref?.split("/").at(-1) ?? "";
}

/** A type in a few words, as a programmer writes it. */
export function typeOf(schema: Schema | undefined): string {
  if (schema === undefined) return "anything";
  if (schema.$ref !== undefined) return nameOf(schema);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  const several = schema.anyOf ?? schema.oneOf;
  if (several !== undefined) return [...new Set(several.map(typeOf))].join(" | ");
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  if (schema.type === "object" && typeof schema.additionalProperties === "object")
    return `object of ${typeOf(schema.additionalProperties)}`;
  return schema.type ?? "anything";
}

/** The schemas that a type names. */
export function namesIn(schema: Schema | undefined): string[] {
  if (schema === undefined) return [];
  const own = nameOf(schema);
  if (own !== "") return [own];
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  if (schema.items !== undefined) parts.push(schema.items);
  if (typeof schema.additionalProperties === "object") parts.push(schema.additionalProperties);
  return [...new Set(parts.flatMap(namesIn))];
}

/** What stands for a parameter in an example. */
function example({ name, schema }: Parameter): string {
  const first = schema.enum?.[0];
  if (typeof first === "string") return first;
  if (schema.type === "integer" || schema.type === "number") return "1";
  return name.toUpperCase();
}

/** The request as a command that can be copied. */
export function curl({ method, path, operation }: Route, origin: string): string {
  const given = operation.parameters ?? [];
  const filled = given
    .filter((each) => each.in === "path")
    .reduce((url, each) => url.replace(`{${each.name}}`, example(each)), path);
  const query = given
    .filter((each) => each.in === "query" && each.required)
    .map((each) => `${each.name}=${example(each)}`)
    .join("&");
  const url = `${origin}${filled}${query && `?${query}`}`;
  const kinds = Object.keys(operation.requestBody?.content ?? {});
  const body = method === "GET" || method === "DELETE" ? "" : bodyOf(kinds);
  const verb = method === "GET" ? "" : ` -X ${method}`;
  return `curl -H "Authorization: Bearer $MITIGAUGE_TOKEN"${verb}${body} '${url}'`;
}

function bodyOf(kinds: string[]): string {
  if (kinds.includes("application/yaml"))
    return " -H 'Content-Type: application/yaml' --data-binary @spec.yml";
  return " -H 'Content-Type: application/json' -d @body.json";
}
