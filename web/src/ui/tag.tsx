import type {
  AnswerKind,
  BisectionState,
  BootState,
  ExperimentState,
  JobState,
  RevisionState,
  StudyState,
} from "../api/types";
import {
  ANSWER,
  BISECTION_STATE,
  BOOT_STATE,
  EXPERIMENT_STATE,
  JOB_STATE,
  REVISION_STATE,
  STUDY_STATE,
  type Tone,
} from "../words";

const SIGN: Record<Tone, string> = { good: "✓", bad: "✗", busy: "●", quiet: "○", void: "⊘" };

/** A state as a word with a sign; colour only repeats what they say. */
export function Tag({ tone, text, title }: { tone: Tone; text: string; title?: string }) {
  return (
    <span className="tag" data-tone={tone} data-sign={SIGN[tone]} title={title}>
      {text}
    </span>
  );
}

export function ExperimentTag({ state }: { state: ExperimentState }) {
  const word = EXPERIMENT_STATE[state];
  return <Tag tone={word.tone} text={word.label} title={word.meaning} />;
}

export function BootTag({ state }: { state: BootState }) {
  const word = BOOT_STATE[state];
  return <Tag tone={word.tone} text={word.label} title={word.meaning} />;
}

export function RevisionTag({ state }: { state: RevisionState }) {
  const word = REVISION_STATE[state];
  return <Tag tone={word.tone} text={word.label} title={word.meaning} />;
}

export function StudyTag({ state }: { state: StudyState }) {
  const word = STUDY_STATE[state];
  return <Tag tone={word.tone} text={word.label} title={word.meaning} />;
}

export function JobTag({ state }: { state: JobState }) {
  const word = JOB_STATE[state];
  return <Tag tone={word.tone} text={word.label} title={word.meaning} />;
}

/** Where a bisection stands; once it has an answer, which. */
export function BisectionTag({
  state,
  answer,
}: {
  state: BisectionState;
  answer: AnswerKind | null;
}) {
  const word = answer === null ? BISECTION_STATE[state] : ANSWER[answer];
  return <Tag tone={word.tone} text={word.label} title={word.meaning} />;
}
