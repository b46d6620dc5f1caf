import { expect, test } from "vitest";
import type { Run } from "../api/types";
import { overall, timeLeft, whereItWent } from "./runs";

const run: Run = {
  id: 1,
  comparison: "vmscape",
  host: "lab-amd",
  state: "running",
  step: "boot",
  detail: "booting ibpb",
  block: 2,
  blocks: 6,
  boots_done: 3,
  boots_effective: 3,
  boots_left_out: 0,
  boots_total: 18,
  lab_faults: 0,
  verdict_changes: 0,
  error: "",
  started_at: "2026-07-17T12:00:00Z",
  finished_at: null,
  seconds_left: 320,
  seconds_left_low: 250,
  seconds_left_high: 400,
};
const noEstimate = { seconds_left: null, seconds_left_low: null, seconds_left_high: null };

test("an estimate is a range and says what it rests on", () => {
  expect(timeLeft(run)).toBe("about 4–7 min, from 3 boots");
});

test("without a finished boot there is no estimate", () => {
  expect(timeLeft({ ...run, ...noEstimate, boots_done: 0 })).toBe(
    "no estimate before the first boot is done",
  );
});

test("a finished run says how long it took", () => {
  const finished_at = "2026-07-17T12:21:00Z";
  expect(timeLeft({ ...run, state: "finished", finished_at })).toBe("took 21 min");
});

test("the experiment waits for its slowest run", () => {
  const slow = { ...run, host: "lab-intel", seconds_left_low: 600, seconds_left_high: 900 };
  expect(overall({ runs: [run, slow], boots_done: 6, boots_total: 36 })).toBe(
    "6 of 36 boots, about 10–15 min left",
  );
});

test("one run without an estimate leaves the experiment without one", () => {
  expect(overall({ runs: [run, { ...run, ...noEstimate }], boots_done: 3, boots_total: 36 })).toBe(
    "3 of 36 boots, no estimate before every host's first boot is done",
  );
});

test("where a host's time went is told by method", () => {
  expect(
    whereItWent({
      total_s: 1245,
      booting_s: 610,
      measuring_s: 121,
      other_s: 514,
      boots: [
        { method: "kexec", boots: 4, mean_s: 64 },
        { method: "reset", boots: 1, mean_s: 88 },
      ],
    }),
  ).toBe("4 boots by kexec of 64 s, 1 boot by reset of 88 s, 2 min measuring, 9 min neither");
});

test("boots whose mode was not proven are told apart from those that count", () => {
  const failed = { ...run, state: "failed" as const, boots_done: 8, boots_effective: 0 };
  expect(overall({ runs: [failed], boots_done: 8, boots_total: 8 })).toBe(
    "8 of 8 boots, none of them proven",
  );
  const some = { ...failed, boots_effective: 5 };
  expect(overall({ runs: [some], boots_done: 8, boots_total: 8 })).toBe(
    "8 of 8 boots, 5 of them proven",
  );
});

test("boots that did not take place are left out, and are not done", () => {
  const stopped = { ...run, state: "finished" as const, boots_done: 9, boots_effective: 8 };
  const left = { ...stopped, boots_total: 12, boots_left_out: 3 };
  expect(overall({ runs: [left], boots_done: 9, boots_total: 12 })).toBe(
    "9 of 12 boots, 8 of them proven, 3 left out",
  );
  const never = { ...left, state: "cancelled" as const, boots_done: 0, boots_left_out: 12 };
  expect(overall({ runs: [never], boots_done: 0, boots_total: 12 })).toBe(
    "0 of 12 boots, 12 left out",
  );
});
