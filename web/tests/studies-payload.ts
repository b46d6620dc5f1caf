/** What a revision of ten patches was asked, as the service answers it. */

import type {
  Interaction,
  PatchCost,
  PatchCosts,
  PatchRow,
  SelectionCell,
  SelectionGroup,
  Selections,
  Study,
  Variant,
  Variants,
} from "../src/api/types";

export const TITLES = [
  "x86/vmscape: Say what the documentation says",
  "x86/vmscape: Give each choice a name of its own",
  "x86/bugs: Ask whether a predictor is cleared, not how",
  "x86/vmscape: Clear the branch history before returning to userspace",
  "x86/vmscape: Take the choice from one place",
  "Documentation: Name the new options of vmscape=",
  "x86/entry: Clear what the choice before asks for as well",
  "x86/vmscape: Choose by processor under vmscape=auto",
  "x86/vmscape: Drop a comment that holds no more",
  "selftests/x86: Look at what sysfs says of VMSCAPE",
];
/** The patch that costs most. */
export const COSTLY = 4;
/** The one that costs another number after it than alone. */
export const INTERACTS = 7;

const HOST = "lab-intel";
const CASES = ["syscall getpid", "pipe round trip"];

interface Told {
  exact: number;
  functions?: [string, number][];
  ns?: number;
}

function cost(of: string, { exact, functions = [], ns = 0 }: Told): PatchCost {
  const [low = ns, high = ns] = [ns * 0.8, ns * 1.3].toSorted((x, y) => x - y);
  return {
    ...{ case: of, host: HOST, mode: "mitigations=auto", exact, difference: exact + 0.02 },
    ...{ lines: exact > 20 ? 2 : 0, in_its_code: exact, why_none: "" },
    functions: functions.map(([name, own]) => ({ function: name, exact: own, difference: own })),
    others: [],
    events: [],
    predictions: [
      { processor: "skylake", title: "Skylake (Xeon)", ns, low, high, missing: [] },
      { processor: "zen2", title: "Zen 2", ns, low, high, missing: ["ibpb"] },
    ],
  };
}

const CLEARED: Told = {
  exact: 55,
  functions: [
    ["clear_bhb_loop", 50],
    ["do_syscall_64", 5],
  ],
  ns: 31.4,
};

const IN_PLACE: Partial<Record<number, Told>> = {
  3: { exact: -2, functions: [["do_syscall_64", -2]], ns: -0.6 },
  [COSTLY]: CLEARED,
  [INTERACTS]: { exact: 20, functions: [["arch_exit_to_user_mode_prepare", 20]], ns: 4.1 },
  8: { exact: 3, functions: [["do_syscall_64", 3]], ns: 0.9 },
};
const SAME_CODE = [1, 6, 9, 10];

function row(patch: number): PatchRow {
  const told = IN_PLACE[patch] ?? { exact: 0 };
  const same = SAME_CODE.includes(patch);
  const costs = CASES.map((of) => cost(of, told));
  const alone = patch === INTERACTS ? { ...told, exact: 6 } : told;
  return {
    ...{ patches: [patch], titles: [TITLES[patch - 1] ?? ""], same_code: same, why_none: "" },
    costs: same ? [] : costs,
    alone: patch === 1 ? [] : CASES.map((of) => cost(of, alone)),
    alone_why: "",
    changed: same ? [] : ["do_syscall_64", "vmscape_select_mitigation"],
    changed_count: same ? 0 : 2,
  };
}

const INTERACTION: Interaction = {
  ...{ patch: INTERACTS, case: "syscall getpid", host: HOST, alone: 6, after: 20 },
  others: [COSTLY],
};

const COSTS: PatchCosts = {
  kind: "patch-cost",
  mode: "mitigations=auto",
  sets: [],
  experiments: [11, 12],
  rows: TITLES.map((_, at) => row(at + 1)),
  whole: CASES.map((of) => cost(of, { exact: 76, ns: 35.8 })),
  interactions: [INTERACTION],
  warnings: TITLES.map((_, at) =>
    at === 7 ? ["arch/x86/kernel/cpu/bugs.c:3391: unused variable 'old' [-Wunused-variable]"] : [],
  ),
};

const STUDY = {
  ...{ revision_id: 5, why: "it is done", asked_by: "alice" },
  state: "done",
  ...{ asked_at: "2026-11-28T09:00:00Z", ended_at: "2026-11-28T10:10:00Z" },
  looks_worse: false,
} as const;

export const patchCost: Study = {
  ...STUDY,
  ...{ id: 1, kind: "patch-cost", body: COSTS },
  answer: [
    "patch 4 'x86/vmscape: Clear the branch history before returning to userspace': exactly +55 instructions an operation of syscall getpid on lab-intel (clear_bhb_loop +50, do_syscall_64 +5)",
    "  predicted for Skylake (Xeon): +31.4 ns [+25.1, +40.8]",
    "patch 7 interacts with patch 4: +20 instructions an operation of syscall getpid on lab-intel in its place, +6 alone on the base",
    "patches 1-2, 5-6, 9-10: nothing in any of these cases, by exact counts",
  ],
};

const branches = (b: number) => ({
  ...{ event: "bhb-branch", title: "branch of the clearing loop" },
  ...{ a: 84, b, exact: b - 84, protects: true },
});

const ranked = (name: string, told: Told): Variant => ({
  ...{ name, title: `x86/entry: A loop of ${name}`, gate: "does as much", why: "", same_as: "" },
  costs: CASES.map((of) => ({ ...cost(of, told), events: [branches(84)] })),
});

const VARIANTS: Variants = {
  kind: "variants",
  mode: "spectre-bhi/loop",
  sets: [],
  experiments: [13],
  variants: [
    { ...ranked("v5", { exact: 0 }), gate: "reference", costs: [] },
    {
      ...ranked("v4+fix-7", { exact: -120, ns: -40 }),
      gate: "does less",
      why: "branch of the clearing loop from 84 to 20 an operation of syscall getpid on lab-intel",
      costs: CASES.map((of) => ({ ...cost(of, { exact: -120, ns: -40 }), events: [branches(20)] })),
    },
    ranked("v4", { exact: 12, ns: 3 }),
    ranked("v3", { exact: -8, ns: -2 }),
  ],
  rankings: [
    {
      ...{ case: "syscall getpid", host: HOST, processor: "", title: "" },
      places: [
        { name: "v3", more: 0, low: 0, high: 0, is_alike: true, missing: [] },
        { name: "v5", more: 8, low: 8, high: 8, is_alike: false, missing: [] },
        { name: "v4", more: 20, low: 20, high: 20, is_alike: false, missing: [] },
      ],
    },
  ],
};

export const variants: Study = {
  ...STUDY,
  ...{ id: 3, kind: "variants", body: VARIANTS },
  answer: [
    "syscall getpid on lab-intel: v3 runs the fewest instructions; v5 +8, v4 +20",
    "  predicted for Skylake (Xeon): v3 the fastest; v5 +2.0 ns [+1.6, +2.6], v4 +5.0 ns [+4.0, +6.5]",
    "v4+fix-7 is out, it does less of what protects: branch of the clearing loop from 84 to 20 an operation of syscall getpid on lab-intel",
  ],
};

/** Under way: nothing is known yet. */
export const building: Study = {
  ...patchCost,
  ...{ state: "building", why: "kernel p3, 17 left", answer: [], ended_at: null },
  body: { ...COSTS, rows: [], whole: [], interactions: [], experiments: [] },
};

const PROCESSORS = [
  ...["Zen 2", "Zen 2, no IBPB", "Zen 2, a guest", "Zen 2, BHI_CTRL"],
  ...["Zen 3", "Skylake", "Cascade Lake", "Ice Lake"],
];
const OPTIONS = ["", "vmscape=off", "vmscape=ibpb", "vmscape=force", "vmscape=on"];
const WORDS = [
  ...["", "mitigations=off", "mitigations=auto,no_guest_host", "mitigations=auto,no_user_user"],
];

const BASE = "7.2.12-mg00000000base";
const REVISION = "7.2.12-mg00000000this";
const VULNERABLE = "Vulnerable";
const IBPB = "Mitigation: IBPB before exit to userspace";
const BHB = "Mitigation: Clear BHB before exit to userspace";

type Where = Pick<SelectionCell, "kernel" | "processor" | "mitigations" | "option">;

/** The revision's vmscape=on is lost where mitigations= leaves users to themselves. */
const isLost = ({ kernel, processor, mitigations, option }: Where) =>
  kernel === REVISION &&
  processor === "Skylake" &&
  mitigations === "mitigations=auto,no_user_user" &&
  option === "vmscape=on";

function stateOf(where: Where): string {
  const { kernel, processor, mitigations, option } = where;
  if (processor === "Zen 2, a guest") return "Not affected";
  if (option === "vmscape=off" || processor === "Zen 2, no IBPB" || isLost(where))
    return VULNERABLE;
  const isAsked = option !== "" && !(kernel === BASE && option === "vmscape=on");
  if (mitigations !== "" && mitigations !== "mitigations=auto,no_user_user" && !isAsked)
    return VULNERABLE;
  return kernel === REVISION && processor.endsWith("Lake") && option !== "vmscape=ibpb"
    ? BHB
    : IBPB;
}

const IGNORED = "VMSCAPE: Ignoring unknown vmscape option (on).";
const NO_END = "its program did not end; last: nothing";
const hasNoProof = ({ kernel, processor, mitigations }: Where) =>
  kernel === REVISION && processor === "Zen 3" && mitigations === "mitigations=off";

function findingsOf(where: Where): SelectionCell["findings"] {
  const { kernel, option, processor } = where;
  if (hasNoProof(where)) return ["no proof"];
  if (isLost(where)) return ["worse than asked"];
  const before = stateOf({ ...where, kernel: BASE });
  return [
    ...(processor === "Zen 2, no IBPB" && /ibpb|force|on/.test(option)
      ? ["cannot be protected" as const]
      : []),
    ...(kernel === BASE && option === "vmscape=on" ? ["not known" as const] : []),
    ...(kernel === REVISION && stateOf(where) !== before ? ["changed" as const] : []),
  ];
}

function cell(where: Where): SelectionCell {
  const unproven = hasNoProof(where) ? NO_END : "";
  const state = unproven === "" ? stateOf(where) : null;
  const log = state === null ? [] : [`VMSCAPE: ${state}`];
  if (findingsOf(where).includes("not known")) log.unshift(IGNORED);
  return { ...where, state, log, code: "5d1c", unproven, findings: findingsOf(where) };
}

export const CELLS: SelectionCell[] = [BASE, REVISION].flatMap((kernel) =>
  PROCESSORS.flatMap((processor) =>
    WORDS.flatMap((mitigations) =>
      OPTIONS.map((option) => cell({ kernel, processor, mitigations, option })),
    ),
  ),
);

const saidOf = ({ processor, mitigations, option }: SelectionCell) =>
  `${[mitigations, option].filter(Boolean).join(" ") || "no option"} on ${processor}`;

const WHY: Record<string, string> = {
  "worse than asked": `${VULNERABLE}, but ${BHB} with vmscape=on`,
  "cannot be protected": `${VULNERABLE}, whatever is asked of this processor`,
  "not known": `the kernel says: ${IGNORED}`,
  changed: `${IBPB} before, ${BHB} now`,
  "no proof": NO_END,
};

const GROUPS: SelectionGroup[] = Object.entries(WHY).flatMap(([finding, why]) =>
  [BASE, REVISION].flatMap((kernel) => {
    const cells = CELLS.filter((each) => each.kernel === kernel)
      .filter((each) => each.findings.some((found) => found === finding))
      .map(saidOf);
    return cells.length === 0 ? [] : [{ finding, kernel, why, cells }];
  }),
);

const SELECTIONS: Selections = {
  ...{ kind: "selection", spec: "vmscape", title: "VMSCAPE", asked: CELLS.length, groups: GROUPS },
  kernels: [
    {
      name: "base",
      patches: [],
      release: BASE,
      content: "",
      skipped: "",
      revision: "",
      by_code: false,
    },
    {
      name: "this",
      patches: [1],
      release: REVISION,
      content: "",
      skipped: "",
      revision: "",
      by_code: false,
    },
  ],
  cells: CELLS,
};

export const selection: Study = {
  ...STUDY,
  ...{ id: 2, kind: "selection", asked_by: "worker", looks_worse: true, body: SELECTIONS },
  answer: [
    `worse than asked, this revision: ${WHY["worse than asked"] ?? ""}: mitigations=auto,no_user_user vmscape=on on Skylake`,
    `5 cells without proof: ${NO_END}`,
    "VMSCAPE: 315 of 320 cells proven on emulated processors",
  ],
};

/** A selection of as many cells as the service takes at most. */
export function large(): Study {
  const words = Array.from({ length: 25 }, (_, at) => `mitigations=auto,word_${at}`);
  const cells = CELLS.filter((each) => each.mitigations === "").flatMap((each) =>
    words.map((mitigations) => ({ ...each, mitigations })),
  );
  return { ...selection, body: { ...SELECTIONS, cells, asked: cells.length, groups: [] } };
}
