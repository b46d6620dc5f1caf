"""Pieces of assembly in the order of a tournament, those that hide less behind all. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.analysis.prices.snippets import Compared
from mitigauge.core.stats.tournament import Ranking

WINNER, TIED, SLOWER, HIDES_LESS = "winner", "as good", "slower", "out: hides less"
CANNOT_TELL = "cannot be told"


class RankedSnippet(BaseModel):
    """One piece; differences are of the winner, in parts of what the first piece takes."""

    model_config = ConfigDict(frozen=True)

    name: str
    place: str
    layouts: int = Field(description="in which it was timed; 0: it was out before")
    more_percent: float | None = None
    low_percent: float | None = None
    high_percent: float | None = None
    hides: str = Field(description="of what the first hides of the branch history, with 95 %")


def ranked_snippets(
    first: str, shown: Mapping[str, Compared], found: Ranking | None, *, margin: float
) -> list[RankedSnippet]:
    """The winner first, then who was left, then losers, the last to drop out first.

    *shown*: what each variant showed at the gate; *found*: None where none but the first was left;
    *margin*: a difference that does not matter, in parts of the first.
    """
    hides = {first: "all, by definition"} | {name: _hides(each) for name, each in shown.items()}
    return [*_timed(first, hides, found, margin), *(
        RankedSnippet(name=name, place=HIDES_LESS, layouts=0, hides=hides[name])
        for name, each in shown.items() if each.hides_less
    )]  # fmt: skip


def _timed(
    first: str, hides: Mapping[str, str], found: Ranking | None, margin: float
) -> Iterator[RankedSnippet]:
    winner = found.winner if found else first
    rounds = found.rounds if found else 0
    yield RankedSnippet(name=winner, place=WINNER, layouts=rounds, hides=hides[winner])
    if found is None:
        return
    for tied in sorted(found.tied, key=lambda each: each.more):
        is_alike = -margin < tied.low and tied.high < margin
        place = TIED if is_alike else CANNOT_TELL
        yield _placed(tied.arm, place, rounds, (tied.more, tied.low, tied.high), hides)
    for loser in reversed(found.losers):
        yield _placed(loser.arm, SLOWER, loser.rounds, (loser.more, loser.low, loser.high), hides)


def _placed(
    name: str, place: str, layouts: int, more: tuple[float, float, float], hides: Mapping[str, str]
) -> RankedSnippet:
    value, low, high = (100 * each for each in more)
    return RankedSnippet(
        name=name, place=place, layouts=layouts, more_percent=value, low_percent=low,
        high_percent=high, hides=hides[name],
    )  # fmt: skip


def _hides(of: Compared) -> str:
    if of.hidden is None:
        return CANNOT_TELL
    share = f"{100 * of.hidden.mean:.0f} % [{100 * of.hidden.low:.0f}, {100 * of.hidden.high:.0f}]"
    if of.hides_less:
        return f"{share}, less"
    return share if of.hides_as_much else f"{share}, perhaps less"
