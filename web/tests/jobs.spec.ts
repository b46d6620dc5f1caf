import type { Page } from "@playwright/test";
import type { JobWhole, Worker } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const HOSTILE = "<img src=x onerror=alert(1)>";

function job(id: number, over: Partial<JobWhole> = {}): JobWhole {
  return {
    id,
    kind: "kernel",
    subject: "0".repeat(64),
    title: `v${id} ${HOSTILE}`,
    need: "kernels",
    state: "running",
    progress: "CC arch/x86/kernel/cpu/bugs.o",
    error: "",
    waits: "",
    result: {},
    asked_by: "operator",
    cancelled_by: "",
    failures: 0,
    created_at: "2026-11-24T06:00:00Z",
    started_at: "2026-11-24T06:00:01Z",
    finished_at: null,
    wake_at: "2026-11-24T06:00:00Z",
    events: [{ id: 1, at: "2026-11-24T06:00:02Z", text: `Compiling ${HOSTILE}` }],
    attempts: [
      {
        epoch: 2,
        worker: "w2",
        outcome: "",
        detail: "",
        started_at: "2026-11-24T06:10:00Z",
        finished_at: null,
      },
      {
        epoch: 1,
        worker: "w1",
        outcome: "lost",
        detail: "the worker did not come back",
        started_at: "2026-11-24T06:00:01Z",
        finished_at: "2026-11-24T06:10:00Z",
      },
    ],
    ...over,
  };
}

const WORKERS: Worker[] = ["gone", "works"].map((state) => ({
  name: `${state}:1`,
  machine: "builder",
  version: "0.1.0",
  schema_revision: "0044",
  alive: state === "works",
  stopped: false,
  jobs: ["kernels"],
  hosts: { lab: ["lab-intel"] },
  architecture: "x86_64",
  lacks: [{ what: "mail", why: "/srv/mail/new is missing" }],
  started_at: "2026-11-24T06:00:00Z",
  seen_at: "2026-11-24T07:00:00Z",
}));

async function answer(page: Page, jobs: JobWhole[]): Promise<void> {
  await page.route("**/api/jobs", (route) => route.fulfill({ json: jobs }));
  await page.route("**/api/workers", (route) => route.fulfill({ json: WORKERS }));
  for (const each of jobs)
    await page.route(`**/api/jobs/${each.id}`, (route) => route.fulfill({ json: each }));
}

test("jobs say what they do or why they wait, workers what they can and lack", async ({ page }) => {
  const waits = "no worker that runs now builds kernels: start one with `mitigauge worker`";
  await answer(page, [
    job(2, { state: "queued", waits, progress: "" }),
    job(1),
    job(3, { state: "failed", error: "patch 2/5 does not apply", progress: "" }),
  ]);
  await open(page, "/fleet?tab=jobs");
  await expect(page.getByText(waits)).toBeVisible();
  await expect(page.getByText("CC arch/x86/kernel/cpu/bugs.o")).toBeVisible();
  await expect(page.getByText("patch 2/5 does not apply")).toBeVisible();
  const rows = page.locator("section", { hasText: "Workers" }).last().locator("tbody tr");
  await expect(rows.nth(0)).toContainText("works:1");
  await expect(rows.nth(0)).toContainText("lab: lab-intel");
  await expect(rows.nth(0)).toContainText("mail: /srv/mail/new is missing");
  await expect(rows.nth(1)).toContainText("gone");
  await expect(rows.nth(1)).not.toContainText("lab-intel");
  await expectAccessible(page);
  await expectNothingBeyond(page);
});

test("nothing asked for and no worker: what to do next", async ({ page }) => {
  await page.route("**/api/jobs", (route) => route.fulfill({ json: [] }));
  await page.route("**/api/workers", (route) => route.fulfill({ json: [] }));
  await open(page, "/fleet?tab=jobs");
  await expect(page.getByText("mitigauge kernel build PATCHES")).toBeVisible();
  await expect(page.getByText("No worker has run yet")).toBeVisible();
});

test("a job shows its log and attempts, and is cancelled by its button", async ({ page }) => {
  const asked: string[] = [];
  await answer(page, [job(1)]);
  await page.route("**/api/jobs/1/cancel", (route) => {
    asked.push(route.request().method());
    return route.fulfill({ json: job(1, { cancelled_by: "operator" }) });
  });
  await open(page, "/jobs/1");
  await expect(page.getByText(`Compiling ${HOSTILE}`)).toBeVisible();
  await expect(page.getByText("the worker did not come back")).toBeVisible();
  await expect(page.getByText("under way")).toBeVisible();
  await expectAccessible(page);
  await expectNothingBeyond(page);
  await page.getByRole("button", { name: "Cancel…" }).click();
  await page.getByRole("button", { name: "Cancel it" }).click();
  await expect.poll(() => asked).toEqual(["POST"]);
});

test("a job that is over has no button, and leads to what it gave", async ({ page }) => {
  await answer(page, [
    job(4, { kind: "revision", state: "done", progress: "", result: { experiment: 12 } }),
  ]);
  await open(page, "/jobs/4");
  await expect(page.getByRole("link", { name: "experiment 12" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Cancel" })).toHaveCount(0);
});

test("as many jobs as the service lists are a page like any other", async ({ page }) => {
  await answer(page, []);
  await page.route("**/api/jobs", (route) =>
    route.fulfill({ json: Array.from({ length: 500 }, (_, at) => job(at + 1)) }),
  );
  await open(page, "/fleet?tab=jobs");
  await expect(page.locator("tbody").first().locator("tr")).toHaveCount(500);
});
