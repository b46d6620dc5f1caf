/** What states are called on the pages, and what they mean. */

import type {
  AnswerKind,
  BisectionState,
  BootState,
  ClaimOutcome,
  ConfirmationState,
  ExperimentState,
  JobState,
  PublicationState,
  RegressionState,
  Result,
  RevisionState,
  Row,
  Run,
  StudyState,
  TargetName,
  Verdict,
} from "./api/types";

export type Tone = "good" | "bad" | "busy" | "quiet" | "void";

interface Word {
  label: string;
  meaning: string;
  tone: Tone;
}

export const EXPERIMENT_STATE: Record<ExperimentState, Word> = {
  queued: { label: "queued", meaning: "waiting for its hosts", tone: "quiet" },
  running: { label: "running", meaning: "booting and measuring", tone: "busy" },
  finished: { label: "finished", meaning: "every planned boot has an outcome", tone: "good" },
  failed: { label: "failed", meaning: "it could not go on", tone: "bad" },
  cancelled: { label: "cancelled", meaning: "stopped by a person", tone: "quiet" },
};

export const BISECTION_STATE: Record<BisectionState, Word> = {
  running: { label: "running", meaning: "building and measuring", tone: "busy" },
  finished: { label: "finished", meaning: "it has an answer", tone: "good" },
  failed: { label: "failed", meaning: "it could not go on", tone: "bad" },
  cancelled: { label: "cancelled", meaning: "stopped by a person", tone: "quiet" },
};

export const JOB_STATE: Record<JobState, Word> = {
  queued: { label: "queued", meaning: "waiting for a worker", tone: "quiet" },
  running: { label: "running", meaning: "a worker took it on", tone: "busy" },
  done: { label: "done", meaning: "it gave what was asked for", tone: "good" },
  failed: { label: "failed", meaning: "it could not go on", tone: "bad" },
  cancelled: { label: "cancelled", meaning: "stopped by a person", tone: "quiet" },
};

export const PUBLICATION_STATE: Record<PublicationState, Word> = {
  waiting: { label: "waiting", meaning: "it is sent, or sent again, by a worker", tone: "quiet" },
  begun: { label: "being sent", meaning: "a worker sends it now", tone: "busy" },
  published: { label: "published", meaning: "the target has it", tone: "good" },
  nothing: { label: "no place for it", meaning: "the target knows nothing it is of", tone: "void" },
  given_up: { label: "given up", meaning: "the target refused it, or never answered", tone: "bad" },
};

export const PUBLICATION_TARGET: Record<TargetName, string> = {
  kcidb: "KCIDB",
  patchwork: "patchwork",
  github: "GitHub",
};

export const REGRESSION_STATE: Record<RegressionState, Word> = {
  new: { label: "new", meaning: "nobody looked at it yet", tone: "bad" },
  confirmed: { label: "confirmed", meaning: "it is real, and nobody's yet", tone: "bad" },
  assigned: { label: "assigned", meaning: "its owner works on it", tone: "busy" },
  known: { label: "known", meaning: "a bug has it", tone: "quiet" },
  fixed: { label: "fixed", meaning: "it is mended", tone: "good" },
  false: { label: "false", meaning: "noise, or a fault of the measurement", tone: "void" },
  "not-worth-it": { label: "not worth it", meaning: "real, and it stays as it is", tone: "quiet" },
  duplicate: { label: "duplicate", meaning: "another regression has it", tone: "void" },
};

/** What fresh boots of both kernels say of a change that values over time showed. */
export const CONFIRMATION_STATE: Record<ConfirmationState, Word> = {
  waiting: {
    label: "waiting",
    meaning: "for the budget of boots of its host class",
    tone: "quiet",
  },
  measuring: { label: "measuring", meaning: "both kernels are booted, side by side", tone: "busy" },
  confirmed: { label: "confirmed", meaning: "the new kernel is slower", tone: "bad" },
  "slower-builds": {
    label: "slower builds",
    meaning: "one build of each kernel was measured: it may be where their code lies",
    tone: "busy",
  },
  refuted: { label: "refuted", meaning: "the new kernel is not slower", tone: "good" },
  undecided: { label: "undecided", meaning: "neither slower nor the same", tone: "void" },
  impossible: { label: "impossible", meaning: "two kernels cannot tell it", tone: "void" },
};

/** What a bisection answered. */
export const ANSWER: Record<AnswerKind, Word> = {
  found: { label: "found", meaning: "one change is the culprit, and was verified", tone: "good" },
  several: { label: "several", meaning: "no single change explains it", tone: "busy" },
  none_of_these: {
    label: "none of these",
    meaning: "no change in the range made the difference",
    tone: "quiet",
  },
  refused: { label: "refused", meaning: "it cannot be bisected as it was asked", tone: "bad" },
  undecided: { label: "undecided", meaning: "it ended without a name", tone: "void" },
};

export const REVISION_STATE: Record<RevisionState, Word> = {
  refused: {
    label: "refused",
    meaning: "it is not whole, or touches what it must not",
    tone: "bad",
  },
  waiting: { label: "waiting", meaning: "a person has to approve it", tone: "quiet" },
  approved: { label: "approved", meaning: "it may run; its kernel is built next", tone: "busy" },
  building: { label: "building", meaning: "its kernel is being built", tone: "busy" },
  measuring: { label: "measuring", meaning: "its experiment says how far it is", tone: "good" },
  failed: { label: "failed", meaning: "its patches do not apply or build", tone: "bad" },
  set_aside: { label: "set aside", meaning: "our side failed too often", tone: "bad" },
  nothing_runs_it: {
    label: "nothing runs it",
    meaning: "no case runs what it changes, so nothing was measured",
    tone: "quiet",
  },
};

/** What a revision was asked beside its experiment. */
export const STUDY_STATE: Record<StudyState, Word> = {
  waiting: { label: "waiting", meaning: "for a worker", tone: "quiet" },
  building: { label: "building", meaning: "its kernels are being built", tone: "busy" },
  measuring: { label: "measuring", meaning: "its kernels are booted", tone: "busy" },
  done: { label: "done", meaning: "it has an answer", tone: "good" },
  failed: { label: "failed", meaning: "it could not go on", tone: "bad" },
  cancelled: { label: "cancelled", meaning: "stopped by a person", tone: "quiet" },
};

export const BOOT_STATE: Record<BootState, Word> = {
  planned: { label: "planned", meaning: "not started", tone: "quiet" },
  booting: { label: "booting", meaning: "on its way up", tone: "busy" },
  measuring: { label: "measuring", meaning: "up and proven, cases running", tone: "busy" },
  effective: {
    label: "effective",
    meaning: "the mode was proven in force; it counts",
    tone: "good",
  },
  not_effective: {
    label: "not effective",
    meaning: "the kernel said the mode was not in force; never compared",
    tone: "void",
  },
  wrong_kernel: {
    label: "wrong kernel",
    meaning: "another kernel came up than the one asked for; never compared",
    tone: "bad",
  },
  did_not_boot: {
    label: "did not boot",
    meaning: "the fallback came up, or the host was power-cycled",
    tone: "bad",
  },
  lab_fault: {
    label: "lab fault",
    meaning: "the lab failed, not the mode; the boot is done again",
    tone: "bad",
  },
  invalid: {
    label: "invalid",
    meaning: "a check that does not know the arm failed; its block is run again",
    tone: "void",
  },
  skipped: { label: "skipped", meaning: "not needed any more", tone: "quiet" },
};

export const RESULT_STATE: Record<Result["state"], Tone> = {
  planned: "quiet",
  running: "busy",
  measured: "good",
  failed: "bad",
  lab_fault: "bad",
};

export const VERDICT: Record<Verdict, { meaning: string }> = {
  better: { meaning: "the interval lies on the good side of zero" },
  worse: { meaning: "the interval lies on the bad side of zero" },
  same: { meaning: "the interval lies within the margin of no difference" },
  undecided: { meaning: "too few boots to tell" },
};

export const CLAIM: Record<ClaimOutcome, { label: string; tone: Tone }> = {
  reproduced: { label: "reproduced", tone: "good" },
  contradicted: { label: "contradicted", tone: "bad" },
  undecided: { label: "undecided", tone: "quiet" },
  not_measured: { label: "not measured", tone: "void" },
  another_processor: { label: "another processor", tone: "quiet" },
  cannot_be_matched: { label: "cannot be matched", tone: "void" },
  emulated: { label: "emulated", tone: "void" },
};

/** The run's step in words. */
export function stepInWords(run: Run): string {
  if (run.state === "finished") {
    return typeof run.stopped_after === "number" ? "done early: all decided" : "done";
  }
  if (run.state === "failed") return run.error === "" ? "failed" : `failed: ${run.error}`;
  if (run.state === "cancelled") return "cancelled";
  return run.detail === "" ? run.step : run.detail;
}

export function directionInWords(row: Pick<Row, "direction">): string {
  return row.direction === "higher" ? "higher is better" : "lower is better";
}

/** Whether the boot has an outcome; before that it neither counts nor fails to. */
export function hasOutcome(state: BootState): boolean {
  return !["planned", "booting", "measuring", "skipped"].includes(state);
}
