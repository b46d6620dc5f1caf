// Writes src/api/schema.d.ts from the service's own OpenAPI document.
// With --check nothing is written; a difference ends with status 1.
// The document comes from the file named by MITIGAUGE_OPENAPI, else from the command.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";

const target = fileURLToPath(new URL("../src/api/schema.d.ts", import.meta.url));
const command = fileURLToPath(new URL("../../.venv/bin/mitigauge", import.meta.url));
const file = process.env.MITIGAUGE_OPENAPI;
if (!file && !existsSync(command)) {
  console.error(`There is no ${command}: run \`make setup\`, or name a file in MITIGAUGE_OPENAPI.`);
  process.exit(1);
}
const document = file
  ? readFileSync(file, "utf8")
  : execFileSync(command, ["openapi"], { encoding: "utf8", maxBuffer: 1 << 26 });

const header = "// Generated from the API's OpenAPI document by `npm run api:generate`.\n\n";
const wanted = header + astToString(await openapiTS(JSON.parse(document)));

if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== wanted) {
    console.error(
      "src/api/schema.d.ts differs from the API.\n" +
        "Run `npm run api:generate`, then make the pages fit.",
    );
    process.exit(1);
  }
} else {
  writeFileSync(target, wanted);
}
