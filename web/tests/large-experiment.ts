/** An experiment of thousands of cases as the service describes it; same size, same figures. */

import type {
  Arm,
  Cell,
  Comparison,
  Matrices,
  Row,
  Verdict,
  WholeExperiment,
} from "../src/api/types";
import { random } from "./random";

const HOSTS = ["cascade-lake-1", "granite-rapids-1"];
const WORKLOADS: readonly [string, string, string, "lower" | "higher"][] = [
  ["iperf", "Throughput", "bit/s", "higher"],
  ["fio", "Operations", "op/s", "higher"],
  ["syscall", "Time", "s", "lower"],
  ["hackbench", "Time", "s", "lower"],
  ["exits", "Time per exit", "s", "lower"],
];
const BLOCKS = 16;
const DELTA_PERCENT = 1;
const FIRST = { note: "", version: 1, reason: "", earlier: [] };

/** The baseline, two modes that cost something, and one that this kernel does not have. */
const ARMS: readonly Pick<Arm, "name" | "title" | "cmdline" | "expected" | "observed">[] = [
  { name: "off", title: "off", cmdline: "vmscape=off", expected: ["Vulnerable"], observed: [] },
  {
    ...{ name: "ibpb", title: "IBPB", cmdline: "vmscape=ibpb", observed: [] },
    expected: ["Mitigation: IBPB before exit to userspace"],
  },
  {
    ...{ name: "force", title: "forced", cmdline: "vmscape=force", observed: [] },
    expected: ["Mitigation: IBPB on VMEXIT"],
  },
  {
    ...{ name: "bhb-clear", title: "BHB clearing", cmdline: "vmscape=on" },
    expected: ["Mitigation: Clear BHB before exit to userspace"],
    observed: ["Vulnerable"],
  },
];

function armsOf(count: number): Arm[] {
  return ARMS.slice(0, count).map((arm, i) => ({
    ...arm,
    id: i + 1,
    ...{ kernel: "7.2.0", mode: arm.name, is_baseline: i === 0, is_aa: false },
    boots_effective: arm.observed.length === 0 ? BLOCKS * HOSTS.length : 0,
    boots_not_effective: arm.observed.length === 0 ? 0 : BLOCKS * HOSTS.length,
    boots_failed: 0,
    shares_boots: false,
  }));
}

/** The verdict that such an interval has; a higher figure is good only for some metrics. */
function verdictOf(low: number, high: number, direction: Row["direction"]): Verdict {
  if (low > 0) return direction === "lower" ? "worse" : "better";
  if (high < 0) return direction === "lower" ? "better" : "worse";
  return Math.max(-low, high) <= DELTA_PERCENT ? "same" : "undecided";
}

function measured(next: () => number, arm: Arm, direction: Row["direction"], mean: number): Cell {
  const differs = next() < 0.1 * (arm.id - 1);
  const cost = differs ? 2 + next() ** 3 * 40 : (next() - 0.5) * 0.8;
  const effect = direction === "lower" ? cost : -cost;
  const half = 0.2 + next() ** 3 * 5;
  const [low, high] = [effect - half, effect + half];
  return {
    ...{
      arm_id: arm.id,
      state: "measured",
      n: BLOCKS,
      blocks: BLOCKS,
      ...FIRST,
      bound: "exact" as const,
    },
    mean: mean * (1 + effect / 100),
    ...{ effect_percent: effect, ci_low_percent: low, ci_high_percent: high },
    ...{ mde_percent: half, p: differs ? 1e-4 : 0.5, q: null, decided_after: null },
    verdict: verdictOf(low, high, direction),
  };
}

function cellOf(next: () => number, arm: Arm, row: Omit<Row, "cells">): Cell {
  const mean = row.unit === "s" ? 4e-7 * (1 + next()) : 2e8 * (1 + next());
  const empty = { arm_id: arm.id, blocks: 0, ...FIRST, bound: "exact" as const };
  if (arm.observed.length > 0)
    return { ...empty, state: "not_effective", n: 0, mean: null, note: "sysfs said Vulnerable" };
  if (arm.is_baseline) return { ...empty, state: "baseline", n: BLOCKS, mean };
  if (next() < 0.01) return { ...empty, state: "no_data", n: 0, mean: null };
  return measured(next, arm, row.direction, mean);
}

function rowOf(next: () => number, i: number, count: number, arms: Arm[]): Row {
  const per = Math.ceil(count / (HOSTS.length * WORKLOADS.length));
  const group = Math.floor(i / per);
  const of = WORKLOADS[group % WORKLOADS.length];
  if (of === undefined) throw new Error("there are no workloads");
  const [workload, title, unit, direction] = of;
  const place = i % per;
  const row: Omit<Row, "cells"> = {
    case_id: i + 1,
    case: `${workload} ${["tcp", "udp"][place % 2] ?? ""} ${1 + (place % 8)}-vCPU p${1 + place}`,
    ...{ workload, metric: "main", metric_title: title, unit, direction },
    ...{ primary: true, delta_percent: DELTA_PERCENT, counter: false, profiled: place % 10 === 0 },
    host: HOSTS[Math.floor(group / WORKLOADS.length)] ?? "",
    ...{ disturbed: 0, unsteady: 0 },
  };
  return { ...row, cells: arms.map((arm) => cellOf(next, arm, row)) };
}

/** `rows` cases of five workloads on two hosts, in up to four arms. */
export function largeExperiment(rows: number, arms = 4): WholeExperiment {
  const next = random(rows * 8 + arms);
  const columns = armsOf(arms);
  const comparison: Comparison = {
    ...{
      id: 1,
      name: "vmscape",
      family_title: "VMSCAPE",
      hosts: HOSTS,
      emulated: false,
      counted: false,
      factorial: false,
      is_rebased: false,
    },
    arms: columns,
    rows: Array.from({ length: rows }, (_, i) => rowOf(next, i, rows, columns)),
  };
  const at = "2026-11-20T12:00:00Z";
  return {
    ...{ id: 1, name: "Many cases", question: "What does each mode cost?", state: "finished" },
    ...{ environment: "example", seed: 7, spec_text: "cases: many", submitted_by: "operator" },
    ...{
      headline: "",
      chosen_baseline: "",
      worst_bound: "exact",
      emulated: false,
      counted: false,
      hosts: HOSTS,
      host_facts: {},
      runs: [],
    },
    ...{ boots_done: BLOCKS * arms, boots_left_out: 0, boots_total: BLOCKS * arms },
    ...{ created_at: at, started_at: at, finished_at: at },
    comparisons: [comparison],
  };
}

/** The two answers that the service gives of it: the head without rows, and the rows. */
export function answersOf(experiment: WholeExperiment): { head: object; matrix: Matrices } {
  const { id, comparisons } = experiment;
  const heads = comparisons.map((comparison) => ({ ...comparison, rows: undefined }));
  const rows = Object.fromEntries(comparisons.map((c) => [c.id, c.rows]));
  return { head: { ...experiment, comparisons: heads }, matrix: { experiment_id: id, rows } };
}
