"""How often we are wrong: what was said, and what people and later boots made of it."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from mitigauge.core.stats.rates import rate_interval
from mitigauge.reporting.pages import error_rate_repository as rows
from mitigauge.reporting.pages.error_rate_repository import Tally


class ErrorRate(BaseModel):
    """Of what was said in one way, the part that was wrong."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str
    meaning: str = Field(description="what is counted, and who says that it was wrong")
    emulated: bool = Field(description="of emulated hosts; else of real ones")
    of: int
    looked_at: int = Field(description="those of which it is known whether they were wrong")
    wrong: int
    percent: float | None = Field(description="wrong of those looked at; null: there is none")
    low: float | None = Field(
        description="95 %, exact, by days of hosts or by experiments: cases of one may be alike"
    )
    high: float | None
    sentence: str = Field(description="0 of 3; of 40 that were said, 3 were looked at")


class Kind(BaseModel):
    """One way to be wrong."""

    model_config = ConfigDict(frozen=True)

    name: str
    title: str
    meaning: str
    count: Callable[[Session], dict[bool, Tally]]
    unseen: str = "of {of} that were said, {looked_at} were looked at"


KINDS = (
    Kind(
        name="confirmed",
        title="Confirmed by fresh boots, false for people",
        meaning="Regressions that fresh boots of both kernels confirmed: of those that a person "
        "judged, the ones called false.",
        count=rows.confirmed,
    ),
    Kind(
        name="suspicions",
        title="Tries of fresh boots at suspicions, refuted",
        meaning="Fresh boots for changes of values over time, each try: of those that decided, the "
        "ones that found no change.",
        unseen="of {of} tries, {looked_at} decided",
        count=rows.suspicions,
    ),
    Kind(
        name="judged",
        title="Regressions of trends, false for people",
        meaning="Regressions made of changes over time: of those that a person judged, the ones "
        "called false.",
        count=rows.judged,
    ),
    Kind(
        name="aa",
        title="One arm against itself",
        meaning="Arms that were measured beside themselves (A/A): those of which an experiment "
        "said better or worse.",
        count=rows.against_themselves,
    ),
    Kind(
        name="slowed",
        title="Known slow-downs, not found",
        meaning="Arms that were measured beside themselves while a program took a known part of "
        "each processor's time: those that were not called worse.",
        count=rows.slowed,
    ),
    Kind(
        name="opposite",
        title="Measured again, the opposite",
        meaning="Verdicts whose question was measured again: those where better became worse, or "
        "worse better.",
        count=rows.opposite,
    ),
)


def error_rates(session: Session) -> list[ErrorRate]:
    """Every kind, of real hosts and, where there is any, of emulated ones."""
    return [
        _rate(kind, emulated, tally)
        for kind in KINDS
        for found in [kind.count(session)]
        for emulated, tally in [(False, found.get(False, rows.NOTHING)), *_emulated(found)]
    ]


def _emulated(found: dict[bool, Tally]) -> list[tuple[bool, Tally]]:
    return [(True, found[True])] if True in found and found[True].of else []


def _rate(kind: Kind, emulated: bool, of: Tally) -> ErrorRate:
    groups = max(1, min(of.groups, of.looked_at))
    low, high = (
        rate_interval(of.wrong, of.looked_at, groups=groups) if of.looked_at else (None, None)
    )
    unseen = kind.unseen.format(of=of.of, looked_at=of.looked_at)
    sentence = f"{of.wrong} of {of.looked_at}"
    if of.looked_at < of.of:
        sentence += f"; {unseen}"
    if of.undecided:
        sentence += f"; {of.undecided} undecided"
    return ErrorRate(
        name=kind.name,
        title=kind.title,
        meaning=kind.meaning,
        emulated=emulated,
        of=of.of,
        looked_at=of.looked_at,
        wrong=of.wrong,
        percent=100.0 * of.wrong / of.looked_at if of.looked_at else None,
        low=None if low is None else 100.0 * low,
        high=None if high is None else 100.0 * high,
        sentence=sentence,
    )
