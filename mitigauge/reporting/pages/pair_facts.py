"""What two experiments were, fact by fact, and what to know before their rows are read. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mitigauge.core.clock import Clock
from mitigauge.core.documents.parts import counted
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.runs.drift import host_changes
from mitigauge.reporting.pages.pair_matches import ArmLine, PairedArms, PairedHosts, SideComparison
from mitigauge.reporting.pages.pair_schemas import PairFact, PairJudgement, PairRow

# Of facts that differ on one pair of hosts.
MOST_HOST_FACTS = 40
# Shown of every host, whether they differ or not.
ALWAYS = ("cpu_model", "microcode")
WORDS = {"cpu_model": "processor"}
CONFOUNDED = (
    "Levels are of other boots, and perhaps other hosts, weeks and firmware: all that is in them. "
    "In the difference of effects the host cancels."
)


@dataclass(frozen=True, slots=True)
class SideFacts:
    """One experiment with what is known of its boots."""

    experiment: Experiment
    comparisons: Sequence[SideComparison]
    kernels: Sequence[str]
    """Releases that boots really ran."""
    host_facts: Mapping[int, Mapping[str, Any]]
    """By host id: facts of the first fingerprint."""
    hosts: Mapping[int, str]


def facts_of(
    a: SideFacts, b: SideFacts, hosts: Sequence[PairedHosts], arms: Sequence[PairedArms]
) -> list[PairFact]:
    """All facts, those that differ first."""
    found = [*_plain(a, b), *_of_arms(arms), *_of_hosts(a, b, hosts)]
    return sorted(found, key=lambda fact: not fact.differs)


def _fact(what: str, a: str, b: str, *, differs: bool | None = None) -> PairFact:
    return PairFact(what=what, a=a, b=b, differs=a != b if differs is None else differs)


def _plain(a: SideFacts, b: SideFacts) -> Iterator[PairFact]:
    for what, of in (
        ("kernels", lambda side: side.kernels),
        ("hosts", lambda side: side.hosts.values()),
        ("clock", _clocks),
        ("blocks", lambda side: [str(each.blocks) for each in side.comparisons]),
        ("layouts", lambda side: [str(each.layouts) for each in side.comparisons]),
        ("iterations", _iterations),
        ("environment", lambda side: [side.experiment.environment]),
    ):
        yield _fact(what, *(_listed(of(side)) for side in (a, b)))
    yield _fact("measured", *(_dates(side.experiment) for side in (a, b)))


def _clocks(side: SideFacts) -> list[str]:
    return sorted({run.clock.value for each in side.comparisons for run in each.runs})


def _iterations(side: SideFacts) -> list[str]:
    counts = {case.iterations for each in side.comparisons for case in each.cases}
    return [str(count) for count in sorted(counts)]


def _dates(experiment: Experiment) -> str:
    days = [
        f"{at:%Y-%m-%d}" for at in (experiment.started_at, experiment.finished_at) if at is not None
    ]
    return " to ".join(dict.fromkeys(days)) or "not yet"


def _of_arms(arms: Sequence[PairedArms]) -> Iterator[PairFact]:
    """Facts of arms; arms for which one says the same share a line."""
    told: Callable[[ArmLine], str]
    for what, told in (
        ("kernel", lambda arm: arm.kernel or "the host's own"),
        ("command line", lambda arm: arm.cmdline or "nothing added"),
        ("mode", lambda arm: arm.mode),
    ):
        shared: dict[tuple[str, str], list[str]] = {}
        for pair in arms:
            both = told(pair.a), told(pair.b)
            shared.setdefault(both, []).append(_named(pair))
        for both, names in shared.items():
            every = len(arms) > 1 and len(names) == len(arms)
            yield _fact(f"{what} of {'every arm' if every else ', '.join(names)}", *both)


def _named(pair: PairedArms) -> str:
    return f"{pair.a.mode} (baseline)" if pair.a.is_baseline else pair.a.mode


def _of_hosts(a: SideFacts, b: SideFacts, hosts: Sequence[PairedHosts]) -> Iterator[PairFact]:
    for pair in hosts:
        old, new = a.host_facts.get(pair.a[0], {}), b.host_facts.get(pair.b[0], {})
        for name in ALWAYS:
            both = str(old.get(name) or "unknown"), str(new.get(name) or "unknown")
            yield _fact(f"{WORDS.get(name, name)} of {host_words(pair)}", *both)
        if not (old and new):
            continue
        others = [each for each in host_changes(old, new) if each.name not in ALWAYS]
        for each in others[:MOST_HOST_FACTS]:
            was, now = each.before or "absent", each.after or "absent"
            yield _fact(f"{each.name} of {host_words(pair)}", was, now)


def host_words(pair: PairedHosts) -> str:
    """The host, or both beside each other."""
    return pair.a[1] if pair.a[1] == pair.b[1] else f"{pair.a[1]} beside {pair.b[1]}"


def notices_of(
    a: SideFacts,
    b: SideFacts,
    hosts: Sequence[PairedHosts],
    comparisons: Sequence[tuple[SideComparison, SideComparison]],
) -> Iterator[str]:
    """What to know before the rows are read."""
    for pair in hosts:
        if pair.how == "asked" and pair.a[0] != pair.b[0]:
            yield (
                f"{pair.a[1]} stands beside {pair.b[1]}, as asked: another host may have another "
                "effect."
            )
        elif pair.how == "name":
            yield f"{pair.a[1]} is a host of that name in two environments."
    modes = dict.fromkeys((one.baseline.mode, other.baseline.mode) for one, other in comparisons)
    for one, other in modes:
        if one != other:
            yield f"Effects of A are against {one}, those of B against {other}."
    if any(run.clock == Clock.COUNTED for one, _ in comparisons for run in one.runs):
        yield "Time is counted in instructions: differences are of software alone."
    for letter, side in (("A", a), ("B", b)):
        if side.experiment.finished_at is None:
            yield f"{letter} is not over: its figures change."


def sentence_of(compared: int, differing: int, matched: int, largest: PairRow | None) -> str:
    """The answer in one sentence."""
    if not matched:
        return (
            "The experiments have no row in common: comparisons, arms and hosts are matched by "
            "name, cases by workload and parameters."
        )
    if not compared:
        return f"Of {counted(matched, 'common row')} none has effects with intervals on both sides."
    if largest is None or largest.judgement is not PairJudgement.DIFFERS:
        return f"No difference seen in {counted(compared, 'row')}."
    unit = "percentage points" if largest.is_points else "%"
    return (
        f"{differing} of {counted(compared, 'row')} "
        f"{'differs' if differing == 1 else 'differ'}; largest: {largest.arm}, {largest.case}, "
        f"{largest.difference_percent:+.{_digits(largest)}f} {unit} on {largest.host}."
    )


def _digits(row: PairRow) -> int:
    assert row.difference_percent is not None
    return 2 if abs(row.difference_percent) < 1 else 1


def _listed(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(word for word in words if word)) or "unknown"
