/**
 * Browser tests against the real service over a real database with a recorded run.
 * MITIGAUGE_WEB_URL is the link of a service that runs already, as it was printed, with its
 * key; else one is started and its link read from what it prints.
 */
import { defineConfig } from "@playwright/test";

const given = process.env.MITIGAUGE_WEB_URL;

const CHROMIUM_ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  reporter: process.env.CI === undefined ? "list" : [["list"], ["github"]],
  workers: 1,
  // The experiment under way ends by itself, so those who watch it go first.
  projects: [
    { name: "live", testMatch: "live.spec.ts" },
    { name: "pages", testIgnore: "live.spec.ts" },
  ],
  timeout: 60_000,
  forbidOnly: process.env.CI !== undefined,
  use: {
    viewport: { width: 1440, height: 900 },
    launchOptions: {
      executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
      args: CHROMIUM_ARGS,
    },
    permissions: ["clipboard-read", "clipboard-write"],
    trace: "retain-on-failure",
  },
  ...(given === undefined && {
    webServer: {
      command: ".venv/bin/python -m tests.web.serve",
      cwd: "..",
      wait: { stdout: /(?<mitigauge_started_link>http:\/\/127\.0\.0\.1:\d+\/login#key=\S+)/ },
      timeout: 120_000,
      gracefulShutdown: { signal: "SIGTERM", timeout: 20_000 },
    },
  }),
});
