import type { Host, HostQueue } from "../src/api/types";
import { expect, expectAccessible, expectNothingBeyond, open, test } from "./world";

const HOSTILE = "<img src=x onerror=alert(1)>";

test("the queue says which host runs what, and what waits until when", async ({ page }) => {
  const run = (id: number, starts: number | null, why = ""): HostQueue["waiting"][number] => ({
    run_id: id,
    experiment_id: id,
    experiment: id === 3 ? HOSTILE : `nightly ${id}`,
    comparison: "modes",
    submitted_by: "kim",
    state: "queued",
    takes_s: 3600,
    takes_low_s: 3000,
    takes_high_s: 4200,
    starts_in_s: starts,
    starts_low_s: starts,
    starts_high_s: starts,
    not_known: why,
  });
  const queues: HostQueue[] = [
    {
      host: "epyc-1",
      environment: "rack",
      kept: "",
      running: run(1, null),
      waiting: [run(2, 7200), run(3, null, "a run before it has no boot behind it")],
    },
    {
      host: "epyc-2",
      environment: "rack",
      kept: "epyc-2 is reserved by kim until 2026-12-01 08:00 UTC: a new BIOS",
      running: null,
      waiting: [],
    },
  ];
  await page.route("**/api/queue", (route) => route.fulfill({ json: queues }));
  await open(page, "/fleet");
  const queue = page.getByRole("region", { name: "Queue" });
  await expect(queue.getByRole("row", { name: /nightly 1/ })).toContainText("now");
  await expect(queue.getByRole("row", { name: /nightly 2/ })).toContainText("in 2 h");
  await expect(queue.getByRole("link", { name: HOSTILE })).toBeVisible();
  await expect(queue.getByText(/not known: a run before it/)).toBeVisible();
  await expect(queue.getByText(/reserved by kim until/)).toBeVisible();
  await expectAccessible(page);
});

test("a host says who has it, when it changed, how it scatters and where its time went", async ({
  page,
  world,
}) => {
  const path = world.paths.host ?? "";
  await page.route("**/api/hosts/lab-*", async (route) => {
    const answer = await route.fetch();
    const host = (await answer.json()) as Host;
    await route.fulfill({
      json: {
        ...host,
        reserved_by: "kim",
        reserved_until: "2026-12-01T08:00:00Z",
        reserved_reason: HOSTILE,
        drift: [
          {
            at: "2026-11-20T08:00:00Z",
            from_id: 1,
            to_id: 2,
            back: false,
            changed: [{ name: "microcode", before: "0x1", after: null }],
          },
        ],
        absences: [
          {
            kind: "reserved",
            reason: HOSTILE,
            begun_by: "kim",
            began_at: "2026-11-24T08:00:00Z",
            until: "2026-12-01T08:00:00Z",
            ended_at: null,
            ended_by: "",
          },
        ],
      } satisfies Host,
    });
  });
  await open(page, path);
  await expect(page.getByRole("status").filter({ hasText: "Reserved by kim" })).toContainText(
    `mitigauge host release ${world.row.host}`,
  );
  const drift = page.getByRole("region", { name: "When it changed" });
  await expect(drift.getByRole("row", { name: /microcode/ })).toContainText("absent");
  const noise = page.getByRole("region", { name: "Noise" });
  await expect(noise.getByRole("row").nth(1)).toContainText("%");
  const time = page.getByRole("region", { name: "Time" });
  await expect(time.getByText(/in \d+ runs?/)).toBeVisible();
  await expect(time.getByRole("row", { name: /reserved by kim/ })).toContainText(HOSTILE);
  for (const width of [1440, 400]) {
    await page.setViewportSize({ width, height: 900 });
    await expectAccessible(page);
    await expectNothingBeyond(page);
  }
});
