"""What was another thing after a change than before it. Pure: it compares, and guesses nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mitigauge.core.natural_order import natural_order
from mitigauge.tracking.trends.context import applies, kind_of
from mitigauge.tracking.trends.schemas import Cause, CauseKind

ABSENT = "absent"
# More than these are a new installation; the rest is counted.
MOST = 24


@dataclass(frozen=True, slots=True)
class Circumstances:
    """On what a value was measured."""

    host: str
    context: Mapping[str, str]


def causes_between(
    before: Sequence[Circumstances], after: Sequence[Circumstances], workload: str
) -> list[Cause]:
    """What differs from the last values of *before* to the first ones of *after*, in time's order.

    Each host is compared with itself. Where no host was measured on both sides, the last one
    before is compared with the first one after, and that it is another host is said first.
    """
    then = {value.host: value for value in before}
    now = {value.host: value for value in reversed(after)}
    found: list[Cause] = []
    if then.keys() != now.keys():
        found.append(
            Cause(
                kind=CauseKind.HOST,
                what="hosts",
                before=", ".join(sorted(then, key=natural_order)),
                after=", ".join(sorted(now, key=natural_order)),
            )
        )
    both = sorted(then.keys() & now.keys(), key=natural_order)
    pairs = [(host, then[host], now[host]) for host in both]
    if not both and before and after:
        pairs = [(f"{before[-1].host}, {after[0].host}", before[-1], after[0])]
    return found + _joined(pairs, workload)


def _joined(
    pairs: Iterable[tuple[str, Circumstances, Circumstances]], workload: str
) -> list[Cause]:
    """The differences of all hosts; what is the same on all of them is said once."""
    every = list(pairs)
    by_difference: dict[tuple[CauseKind, str, str, str], list[str]] = {}
    for host, one, two in every:
        for difference in _differences(one.context, two.context, workload):
            by_difference.setdefault(difference, []).append(host)
    order = list(CauseKind)
    named = sorted(
        by_difference.items(), key=lambda item: (order.index(item[0][0]), natural_order(item[0][1]))
    )
    causes = [
        Cause(
            kind=kind, what=what, before=before, after=after,
            host="" if len(hosts) == len(every) else ", ".join(hosts),
        )
        for (kind, what, before, after), hosts in named
    ]  # fmt: skip
    if len(causes) > MOST:
        more = len(causes) - MOST
        rest = Cause(kind=CauseKind.TOOLS, what=f"{more} more facts", before="", after="")
        return [*causes[:MOST], rest]
    return causes


def _differences(
    one: Mapping[str, str], two: Mapping[str, str], workload: str
) -> Iterable[tuple[CauseKind, str, str, str]]:
    for name in sorted(one.keys() | two.keys()):
        kind = kind_of(name)
        before, after = one.get(name, ABSENT), two.get(name, ABSENT)
        if kind is not None and before != after and applies(name, workload):
            yield kind, name, before, after
