"""Which rows of two experiments belong together. Pure.

A row is one case, metric and arm on one host. It is matched by workload, parameters, metric, unit
and clock; arms by their modes, then by name; hosts as :func:`pair_hosts` says. Baselines belong
together, and doubled baselines are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from mitigauge.core.clock import Clock
from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.reporting.pages.pair_schemas import Unmatched

How = Literal["baseline", "mode", "name"]
HostHow = Literal["same", "asked", "name", "only"]


@dataclass(frozen=True, slots=True)
class ArmLine:
    """One arm, as far as it is matched and shown."""

    id: int
    name: str
    mode: str
    kernel: str
    cmdline: str
    is_baseline: bool
    is_aa: bool


@dataclass(frozen=True, slots=True)
class RunLine:
    """One comparison on one host."""

    id: int
    host_id: int
    host: str
    clock: Clock


class CaseLine(NamedTuple):
    """One case; *parameters* as one text that is the same for the same parameters."""

    metrics: Mapping[str, CaseMetric]
    id: int
    workload: str
    title: str
    parameters: str
    profiled: bool
    iterations: int


@dataclass(frozen=True, slots=True)
class SideComparison:
    """Arms that share a baseline, with runs and cases."""

    name: str
    blocks: int
    layouts: int
    arms: Sequence[ArmLine]
    runs: Sequence[RunLine]
    cases: Sequence[CaseLine]
    baseline: ArmLine
    """The arm that the others are compared with."""


# A row within one experiment: run, case, metric, arm.
Key = tuple[int, int, str, int]


class Place(NamedTuple):
    """Where a row stands in its experiment."""

    comparison: SideComparison
    run: RunLine
    case: CaseLine
    arm: ArmLine

    def key(self, metric: str) -> Key:
        """The row of a metric there."""
        return self.run.id, self.case.id, metric, self.arm.id


class Match(NamedTuple):
    """A row of A and the row of B that belongs to it."""

    a: Place
    b: Place
    metric: str
    key_a: Key
    key_b: Key


@dataclass(frozen=True, slots=True)
class PairedArms:
    """An arm of A and one of B, and by what they were paired."""

    a: ArmLine
    b: ArmLine
    how: How


@dataclass(frozen=True, slots=True)
class PairedHosts:
    """A host of A and one of B, by id and name, and by what they were paired."""

    a: tuple[int, str]
    b: tuple[int, str]
    how: HostHow


@dataclass(slots=True)
class Matches:
    """What was matched, in A's order, and how many rows were not."""

    rows: list[Match] = field(default_factory=list)
    comparisons: list[tuple[SideComparison, SideComparison]] = field(default_factory=list)
    """Those that the rows are of."""
    unmatched: Counter[Unmatched] = field(default_factory=Counter)


def pair_hosts(
    a: Sequence[tuple[int, str]], b: Sequence[tuple[int, str]], asked: Sequence[tuple[str, str]]
) -> list[PairedHosts]:
    """Pairs of hosts (id, name): those *asked* for, the same host, one name, the only ones left.

    Raises :class:`InvalidInput` for a name that is no host's, or that is asked for twice.
    """
    left_a, left_b = dict(a), dict(b)
    found: list[PairedHosts] = []

    def pair(one: int, other: int, how: HostHow) -> None:
        names = left_a.pop(one), left_b.pop(other)
        found.append(PairedHosts((one, names[0]), (other, names[1]), how))

    for name_a, name_b in asked:
        pair(_named(left_a, name_a, "A"), _named(left_b, name_b, "B"), "asked")
    for one in [host for host in left_a if host in left_b]:
        pair(one, one, "same")
    for one, name in list(left_a.items()):
        other = next((host for host, its in left_b.items() if its == name), None)
        if other is not None:
            pair(one, other, "name")
    if len(left_a) == len(left_b) == 1:
        pair(next(iter(left_a)), next(iter(left_b)), "only")
    return found


def _named(left: Mapping[int, str], name: str, side: str) -> int:
    for host, its in left.items():
        if its == name:
            return host
    raise InvalidInput(
        f"hosts: experiment {side} has no host {name!r} that is not paired yet",
        hint=f"Its hosts: {', '.join(left.values()) or 'none'}. Write A's host, a colon, B's host.",
    )


def pair_arms(a: Sequence[ArmLine], b: Sequence[ArmLine]) -> list[PairedArms]:
    """Baseline with baseline; the others by mode and name, by mode where it is one's own, by name.

    A mode that several arms of a side have (kernels against kernels) tells nothing by itself.
    """
    left = [
        [arm for arm in side if not (arm.is_baseline or arm.is_aa)] for side in (list(a), list(b))
    ]
    pairs = [
        PairedArms(one, other, "baseline")
        for one in a
        for other in b
        if one.is_baseline and other.is_baseline
    ]
    for how in ("both", "mode", "name"):
        for one, other in list(_alike(left[0], left[1], how)):
            left[0].remove(one)
            left[1].remove(other)
            pairs.append(PairedArms(one, other, "name" if how == "name" else "mode"))
    order = {arm.id: place for place, arm in enumerate(a)}
    return sorted(pairs, key=lambda pair: order[pair.a.id])


def _alike(
    a: Sequence[ArmLine], b: Sequence[ArmLine], how: str
) -> Iterator[tuple[ArmLine, ArmLine]]:
    def key_of(arm: ArmLine) -> tuple[str, ...]:
        return {"both": (arm.mode, arm.name), "mode": (arm.mode,), "name": (arm.name,)}[how]

    counts = [Counter(key_of(arm) for arm in side) for side in (a, b)]
    own = {key_of(arm): arm for arm in b}
    for arm in a:
        word = key_of(arm)
        if counts[0][word] == counts[1][word] == 1:
            yield arm, own[word]


def match(
    a: Sequence[SideComparison], b: Sequence[SideComparison], hosts: Sequence[PairedHosts]
) -> Matches:
    """Rows of both experiments that belong together; each stands in one pair at most."""
    found = Matches()
    partner = {pair.a[0]: pair.b[0] for pair in hosts}
    taken_a: set[Key] = set()
    taken_b: set[Key] = set()
    refused: dict[Key, tuple[Match, Unmatched]] = {}
    for one, other in _ordered(a, b):
        before = len(found.rows)
        for of in _candidates(one, other, partner):
            if of.key_a in taken_a or of.key_b in taken_b:
                continue
            why = _obstacle(of)
            if why is not None:
                refused.setdefault(of.key_a, (of, why))
                continue
            taken_a.add(of.key_a)
            taken_b.add(of.key_b)
            found.rows.append(of)
        if len(found.rows) > before:
            found.comparisons.append((one, other))
    kept = [
        each for key, each in refused.items() if key not in taken_a and each[0].key_b not in taken_b
    ]
    _count(found, (a, b), hosts, kept)
    return found


def _ordered(
    a: Sequence[SideComparison], b: Sequence[SideComparison]
) -> list[tuple[SideComparison, SideComparison]]:
    """All pairs of comparisons: of one baseline's mode first, then of one name, then as planned."""
    pairs = [(one, other) for one in a for other in b]
    return sorted(
        pairs,
        key=lambda pair: (
            pair[0].baseline.mode != pair[1].baseline.mode,
            pair[0].name != pair[1].name,
        ),
    )


def _candidates(
    a: SideComparison, b: SideComparison, partner: Mapping[int, int]
) -> Iterator[Match]:
    arms = [pair for pair in pair_arms(a.arms, b.arms) if pair.how != "baseline"]
    runs = {run.host_id: run for run in b.runs}
    cases: dict[tuple[str, str], list[CaseLine]] = {}
    for case in reversed(b.cases):
        cases.setdefault((case.workload, case.parameters), []).append(case)
    both = []
    for case in a.cases:
        same = cases.get((case.workload, case.parameters))
        if same:
            both.append((case, same.pop()))
    for run in a.runs:
        other = runs.get(partner.get(run.host_id, -1))
        if other is None:
            continue
        for case_a, case_b in both:
            metrics = [
                metric
                for metric, declared in case_a.metrics.items()
                if not declared.counter and metric in case_b.metrics
            ]
            for pair in arms:
                places = Place(a, run, case_a, pair.a), Place(b, other, case_b, pair.b)
                for metric in metrics:
                    yield Match(*places, metric, places[0].key(metric), places[1].key(metric))


def _obstacle(of: Match) -> Unmatched | None:
    if of.a.run.clock != of.b.run.clock:
        return Unmatched.CLOCK
    if of.a.case.metrics[of.metric].unit != of.b.case.metrics[of.metric].unit:
        return Unmatched.UNIT
    return None


def _count(
    found: Matches,
    sides: tuple[Sequence[SideComparison], Sequence[SideComparison]],
    hosts: Sequence[PairedHosts],
    refused: Sequence[tuple[Match, Unmatched]],
) -> None:
    """Count the rows of either side that stand in no pair; two that were refused count once."""
    others: set[Key] = set()
    left = Counter(_totals(sides[0])), Counter(_totals(sides[1]))
    for of in found.rows:
        left[0][of.a.run.host_id] -= 1
        left[1][of.b.run.host_id] -= 1
    for of, why in refused:
        if of.key_b in others:
            continue
        others.add(of.key_b)
        found.unmatched[why] += 1
        left[0][of.a.run.host_id] -= 1
        left[1][of.b.run.host_id] -= 1
    paired = {pair.a[0] for pair in hosts}, {pair.b[0] for pair in hosts}
    reasons = (Unmatched.ONLY_A, Unmatched.HOST_A), (Unmatched.ONLY_B, Unmatched.HOST_B)
    for of_host, known, (only, alone) in zip(left, paired, reasons, strict=True):
        for host, rows in of_host.items():
            if rows:
                found.unmatched[only if host in known else alone] += rows


def _totals(side: Sequence[SideComparison]) -> dict[int, int]:
    """Rows of one experiment by host id."""
    totals: Counter[int] = Counter()
    for comparison in side:
        arms = sum(not (arm.is_baseline or arm.is_aa) for arm in comparison.arms)
        metrics = sum(
            not declared.counter for case in comparison.cases for declared in case.metrics.values()
        )
        for run in comparison.runs:
            totals[run.host_id] += arms * metrics
    return totals
