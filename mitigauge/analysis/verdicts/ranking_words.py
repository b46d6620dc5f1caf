"""What a tournament's ranking says, in a sentence. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from mitigauge.core.documents.parts import counted
from mitigauge.measurement.runs.ranking import Place, Ranking


def ranking_words(of: Ranking | None, names: Sequence[str], delta_percent: float) -> str:
    """``quick is the best of 3 after 4 blocks; surely worse: slow, slower``.

    *names*: of the arms, in the order of their comparison. *delta_percent*: a difference that does
    not matter.
    """
    if of is None:
        return "no arm is ranked: four complete blocks are needed"
    if of.note:
        return of.note
    by_place: dict[Place, list[str]] = {place: [] for place in Place}
    for arm in of.arms:
        by_place[arm.place].append(names[arm.position])
    beside = [*by_place[Place.AS_GOOD], *by_place[Place.UNDECIDED]]
    worse, absent = by_place[Place.WORSE], by_place[Place.NOT_COUNTED]
    if not by_place[Place.FIRST]:
        return "no arm has a boot in every block, so none is ranked"
    first = by_place[Place.FIRST][0]
    said = [
        _of_the_first(first, of, beside=beside, worse=worse, delta_percent=delta_percent),
        *([f"surely worse: {', '.join(worse)}"] if worse else []),
        *([f"not ranked, for want of boots: {', '.join(absent)}"] if absent else []),
    ]
    return "; ".join(said)


def _of_the_first(
    first: str, of: Ranking, *, beside: list[str], worse: list[str], delta_percent: float
) -> str:
    if not beside and not worse:
        return f"{first} alone has a boot in every block, so it has no rival"
    after = f"after {counted(of.blocks, 'block')}"
    if not beside:
        return f"{first} is the best of {len(worse) + 1} {after}"
    if of.is_decided:
        return (
            f"{first} is the best, or within {delta_percent:g} % of it, {after}; left beside it: "
            f"{', '.join(beside)}"
        )
    return (
        f"{first} has the best mean {after}, and it is not sure that it is the best: "
        f"{', '.join(beside)} may be better"
    )
