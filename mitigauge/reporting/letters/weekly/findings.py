"""From verdicts to findings: what is new this week, what is still so, and what is over. Pure.

A *word* is a verdict that was given: better, worse or same, of one arm for one case and metric on
one host. Words are of the same thing where workload, case, metric, unit and what is compared are
the same: two modes, whatever kernel both ran on, or two kernels. So experiments of different weeks
meet.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from mitigauge.core.effect import Verdict
from mitigauge.core.natural_order import natural_order
from mitigauge.core.stats.bounds import Bound
from mitigauge.core.stats.terms import Direction
from mitigauge.reporting.letters.weekly.data import (
    FactChange,
    Fate,
    Finding,
    OnHost,
    Side,
    VerdictRecord,
)

# Of each fate and verdict so many are kept, the largest; all are counted.
MOST = 200
MOST_HOSTS = 12
MOST_HISTORY = 40
LONGEST_VALUE = 120
DIFFERENCE = (Verdict.BETTER, Verdict.WORSE)


class Key(NamedTuple):
    """What a word is about, whichever experiment asked."""

    workload: str
    case: str
    metric: str
    unit: str
    baseline_mode: str
    baseline_kernel: str
    arm_mode: str
    arm_kernel: str
    """Both kernels are empty where they are the same one."""


@dataclass(frozen=True, slots=True)
class Word:
    """One verdict that was given."""

    key: Key
    host_id: int
    run_id: int
    case_id: int
    arm_id: int
    experiment_id: int
    verdict: Verdict
    effect_percent: float
    ci_low_percent: float | None
    ci_high_percent: float | None
    bound: Bound
    n: int
    given_at: datetime
    version: int

    def record(self) -> VerdictRecord:
        """The word as the report holds it."""
        return VerdictRecord(
            verdict=self.verdict,
            effect_percent=self.effect_percent,
            ci_low_percent=self.ci_low_percent,
            ci_high_percent=self.ci_high_percent,
            bound=self.bound,
            n=self.n,
            given_at=self.given_at,
            experiment_id=self.experiment_id,
            case_id=self.case_id,
        )


@dataclass(frozen=True, slots=True)
class Machine:
    """A host, as far as a finding names it."""

    name: str
    environment: str
    host_class: str
    emulated: bool


@dataclass(frozen=True, slots=True)
class Known:
    """What words only refer to."""

    machines: Mapping[int, Machine]
    counted_runs: frozenset[int]
    sides: Mapping[int, tuple[Side, Side]]
    """arm id → its baseline, and itself"""
    metrics: Mapping[tuple[int, str], tuple[str, Direction]]
    """case id and metric → title and direction"""
    causes: Callable[[int, int], list[FactChange] | None]
    """Facts that differ between two runs on one host; None where either has no fingerprint."""


@dataclass(slots=True)
class _Story:
    """All words on one thing on one host, oldest first."""

    words: list[Word]

    def split(self, start: datetime) -> tuple[Word | None, Word | None]:
        """The last word before the week, and the last one within it."""
        before = [word for word in self.words if word.given_at < start]
        within = [word for word in self.words if word.given_at >= start]
        return (before[-1] if before else None), (within[-1] if within else None)


def findings(
    words: Iterable[Word], start: datetime, known: Known
) -> tuple[list[Finding], dict[str, int]]:
    """The findings of the week that begins at *start*, and how many there are of each kind.

    *words* are all until the week's end. Sorted by fate, then by size.
    """
    stories = _stories(words)
    groups: dict[tuple[Fate, Verdict, Key], list[tuple[Word, Word | None]]] = defaultdict(list)
    for (key, _), story in stories.items():
        told = _fate(*story.split(start))
        if told is not None:
            fate, now, before = told
            named = before.verdict if fate is Fate.ENDED and before else now.verdict
            groups[fate, named, key].append((now, before))
    counted = Counter(f"{fate} {verdict}" for fate, verdict, _ in groups)
    kept = _largest(groups)
    made = [_finding(group, groups[group], stories, known) for group in kept]
    return made, dict(sorted(counted.items()))


def _stories(words: Iterable[Word]) -> dict[tuple[Key, int], _Story]:
    stories: dict[tuple[Key, int], _Story] = {}
    for word in sorted(words, key=lambda w: (w.given_at, w.run_id, w.version)):
        stories.setdefault((word.key, word.host_id), _Story([])).words.append(word)
    return stories


def _fate(before: Word | None, now: Word | None) -> tuple[Fate, Word, Word | None] | None:
    """What became of a thing on one host; None where there is nothing to tell."""
    was = before is not None and before.verdict in DIFFERENCE
    if now is None:
        return (Fate.OPEN, before, None) if was and before is not None else None
    if now.verdict not in DIFFERENCE:
        return (Fate.ENDED, now, before) if was else None
    if before is None or before.verdict is not now.verdict:
        return Fate.NEW, now, before
    return (Fate.OPEN if _overlap(before, now) else Fate.RESIZED), now, before


def _overlap(one: Word, other: Word) -> bool:
    ends = (one.ci_low_percent, one.ci_high_percent, other.ci_low_percent, other.ci_high_percent)
    if any(end is None for end in ends):
        return True
    low, high, other_low, other_high = (float(end) for end in ends if end is not None)
    return low <= other_high and other_low <= high


_Groups = Mapping[tuple[Fate, Verdict, Key], Sequence[tuple[Word, Word | None]]]


def _largest(groups: _Groups) -> list[tuple[Fate, Verdict, Key]]:
    order = list(Fate)

    def size(group: tuple[Fate, Verdict, Key]) -> Any:
        fate, verdict, key = group
        largest = max(abs(_deciding_word(fate, *pair).effect_percent) for pair in groups[group])
        # First what was measured before: it changed, the others only have their first figure.
        first = fate is Fate.NEW and all(before is None for _, before in groups[group])
        return (
            order.index(fate),
            verdict is Verdict.BETTER,
            first,
            -largest,
            [natural_order(str(part)) for part in key],
        )

    kept: Counter[tuple[Fate, Verdict]] = Counter()
    chosen = []
    for group in sorted(groups, key=size):
        kept[group[:2]] += 1
        if kept[group[:2]] <= MOST:
            chosen.append(group)
    return chosen


def _deciding_word(fate: Fate, now: Word, before: Word | None) -> Word:
    """The word whose size a finding is known by: of one that ended, what it was."""
    return before if fate is Fate.ENDED and before is not None else now


def _finding(
    group: tuple[Fate, Verdict, Key],
    pairs: Sequence[tuple[Word, Word | None]],
    stories: Mapping[tuple[Key, int], _Story],
    known: Known,
) -> Finding:
    fate, verdict, key = group
    ordered = sorted(
        pairs,
        key=lambda pair: (
            -abs(_deciding_word(fate, *pair).effect_percent),
            _name(known, pair[0]),
            pair[0].run_id,
        ),
    )
    first = ordered[0][0]
    baseline, arm = known.sides[first.arm_id]
    title, direction = known.metrics[first.case_id, key.metric]
    history = stories[key, first.host_id].words[-MOST_HISTORY:]
    return Finding(
        fate=fate,
        verdict=verdict,
        workload=key.workload,
        case=key.case,
        metric=key.metric,
        metric_title=title,
        unit=key.unit,
        direction=direction,
        baseline=baseline,
        arm=arm,
        differs=differences(baseline, arm),
        on=len(ordered),
        hosts=[_on_host(now, before, known) for now, before in ordered[:MOST_HOSTS]],
        history=[word.record() for word in history],
    )


def _name(known: Known, word: Word) -> tuple[str, list[tuple[int, str, str]]]:
    machine = known.machines[word.host_id]
    return machine.environment, natural_order(machine.name)


def _on_host(now: Word, before: Word | None, known: Known) -> OnHost:
    machine = known.machines[now.host_id]
    changed = known.causes(before.run_id, now.run_id) if before is not None else None
    return OnHost(
        host=machine.name,
        environment=machine.environment,
        host_class=machine.host_class,
        emulated=machine.emulated,
        counted=now.run_id in known.counted_runs,
        now=now.record(),
        before=None if before is None else before.record(),
        cause=[] if changed is None else [in_words(change) for change in changed],
        causes_known=changed is not None,
    )


def differences(baseline: Side, arm: Side) -> list[str]:
    """What an arm has and its baseline has not, in words."""
    found = []
    if arm.kernel != baseline.kernel:
        own = "the host’s own"
        found.append(f"kernel {arm.kernel or own} instead of {baseline.kernel or own}")
    added = [option for option in arm.options if option not in baseline.options]
    gone = [option for option in baseline.options if option not in arm.options]
    if added or gone:
        options = " ".join(added) or "without"
        found.append(f"command line {options} instead of {' '.join(gone) or 'without'}")
    elif arm.mode != baseline.mode:
        found.append(f"{arm.mode} instead of {baseline.mode}")
    return found


def in_words(change: FactChange) -> str:
    """``microcode: 0x1 → 0x2``."""
    shown = [
        "absent" if value is None else value[:LONGEST_VALUE]
        for value in (change.before, change.after)
    ]
    return f"{change.name}: {shown[0]} → {shown[1]}"
