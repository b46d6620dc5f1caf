/**
 * Browser tests against the real service over a real database with a recorded run.
 * MITIGAUGE_WEB_URL is the link of a service that runs already, as it was printed, with its
 * key; else one is started and its link read from what it prints.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "@playwright/test";

const given = process.env.MITIGAUGE_WEB_URL;

// The browser without its own windows does the same for a page with less work.
const SHELL = "/usr/bin/chromium-headless-shell";
const BROWSER = existsSync(SHELL) ? SHELL : "/usr/bin/chromium";

// Parts of the browser that cost a process for each test. Only the last list of such parts
// counts, so that Playwright's own stand in it too.
const WITHOUT = [
  "WebUIOmniboxPopup,WebUIOmniboxAimPopup,SpareRendererForSitePerProcess",
  "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable,LensOverlay,MediaRouter,PaintHolding",
  "ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,TcpPortRandomizationWin",
  "OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch",
];

const CHROMIUM_ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  `--disable-features=${WITHOUT.join(",")}`,
];

export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  reporter: [
    ["list"],
    ...(process.env.CI === undefined ? [] : [["github"] as const]),
    // What each test took, where somebody wants to know.
    ...(process.env.PLAYWRIGHT_JSON_OUTPUT_NAME === undefined ? [] : [["json"] as const]),
  ],
  // Tests share one service. Those that change the same thing stand in a group whose mode is
  // "default", which runs one after the other; all others run beside one another.
  fullyParallel: true,
  // A test waits for pages and service in between, so one more runs than there are processors.
  workers: availableParallelism() + 1,
  // The experiment under way ends by itself, so those who watch it go first.
  projects: [
    { name: "live", testMatch: "live.spec.ts" },
    { name: "pages", testIgnore: "live.spec.ts" },
  ],
  // Long enough for a machine that is busy with something else; nothing is expected to be slow.
  timeout: 60_000,
  expect: { timeout: 15_000 },
  forbidOnly: process.env.CI !== undefined,
  use: {
    viewport: { width: 1440, height: 900 },
    launchOptions: {
      executablePath: process.env.CHROMIUM_PATH ?? BROWSER,
      args: CHROMIUM_ARGS,
    },
    permissions: ["clipboard-read", "clipboard-write"],
    // A trace costs a fifth of a test. For one that failed:
    // npm run test:browser -- --trace on FILE:LINE, then npx playwright show-trace
    trace: "off",
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
