"""Which rows of two experiments belong together. Pure.

A row is one case, metric and arm on one host. It is matched by workload, parameters, metric, unit
and clock; comparisons and arms by name; hosts as :func:`pair_hosts` says. Baselines of a comparison
belong together, whatever their names, and doubled baselines are left out.
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

HostHow = Literal["same", "asked", "name"]


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
    """An arm of A and one of B: baselines, or arms of one name."""

    a: ArmLine
    b: ArmLine


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
    """Pairs of hosts (id, name): those *asked* for, the same host, one name.

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
    """Baseline with baseline, the others by name, in A's order."""
    others = {arm.name: arm for arm in b if not (arm.is_baseline or arm.is_aa)}
    baseline = next((arm for arm in b if arm.is_baseline), None)
    pairs = [
        (one, baseline if one.is_baseline else others.get(one.name)) for one in a if not one.is_aa
    ]
    return [PairedArms(one, other) for one, other in pairs if other is not None]


def match(
    a: Sequence[SideComparison], b: Sequence[SideComparison], hosts: Sequence[PairedHosts]
) -> Matches:
    """Rows of both experiments that belong together; names are one's own within an experiment."""
    found = Matches()
    partner = {pair.a[0]: pair.b[0] for pair in hosts}
    theirs = {each.name: each for each in b}
    left = Counter(_totals(a)), Counter(_totals(b))
    for one in a:
        other = theirs.get(one.name)
        if other is None:
            continue
        before = len(found.rows)
        for of in _candidates(one, other, partner):
            left[0][of.a.run.host_id] -= 1
            left[1][of.b.run.host_id] -= 1
            why = _obstacle(of)
            if why is None:
                found.rows.append(of)
            else:
                found.unmatched[why] += 1
        if len(found.rows) > before:
            found.comparisons.append((one, other))
    _count_alone(found, left, hosts)
    return found


def _candidates(
    a: SideComparison, b: SideComparison, partner: Mapping[int, int]
) -> Iterator[Match]:
    arms = [pair for pair in pair_arms(a.arms, b.arms) if not pair.a.is_baseline]
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


def _count_alone(
    found: Matches, left: tuple[Counter[int], Counter[int]], hosts: Sequence[PairedHosts]
) -> None:
    """Count the rows of either side that nothing stands beside; *left*: so many by host id."""
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
