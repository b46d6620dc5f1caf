// Writes src/api/schema.d.ts from the OpenAPI document that MITIGAUGE_OPENAPI names.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";

const target = fileURLToPath(new URL("../src/api/schema.d.ts", import.meta.url));
const file = process.env.MITIGAUGE_OPENAPI;
if (!file) {
  console.error("Run scripts/generate, which names the document in MITIGAUGE_OPENAPI.");
  process.exit(1);
}
const document = JSON.parse(readFileSync(file, "utf8"));

const header = "// Made by `make setup` from the API's description.\n\n";
writeFileSync(target, header + astToString(await openapiTS(document)));
