"""Words and weeks that were made up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mitigauge.core.effect import Verdict
from mitigauge.core.stats.bounds import Bound
from mitigauge.reporting.letters.weekly.data import Counts, FactChange, Side, WeekData
from mitigauge.reporting.letters.weekly.findings import Key, Known, Machine, Word, findings
from mitigauge.reporting.letters.weekly.week import Week

WEEK = Week(2026, 47)
NOW, BEFORE = WEEK.start + timedelta(days=2), WEEK.start - timedelta(days=5)
OFF = Side(name="off", mode="bhi/off", title="Off", kernel="", options=["spectre_bhi=off"])
LOOP = Side(name="loop", mode="bhi/loop", title="Loop", kernel="", options=["spectre_bhi=on"])
MICROCODE = FactChange(name="microcode", before="0x1", after="0x2")


def word(
    verdict: str,
    effect: float = 5.0,
    at: datetime = NOW,
    *,
    host: int = 1,
    case: str = "syscall basic",
    half: float = 1.0,
    run: int = 1,
    version: int = 1,
    bound: Bound = Bound.EXACT,
) -> Word:
    """One word: effect ± *half*."""
    return Word(
        key=Key("syscall", case, "time", "ns", "bhi/off", "", "bhi/loop", ""),
        host_id=host,
        run_id=run,
        case_id=1,
        arm_id=2,
        experiment_id=1,
        verdict=Verdict(verdict),
        effect_percent=effect,
        ci_low_percent=effect - half,
        ci_high_percent=effect + half,
        bound=bound,
        n=8,
        given_at=at,
        version=version,
    )


def known(
    *, causes: list[FactChange] | None = None, emulated: bool = True, name: str = "host-a"
) -> Known:
    """Two hosts; between any two of their runs *causes* changed, None: it is not known."""
    return Known(
        machines={
            1: Machine(name, "lab", "test", emulated),
            2: Machine("host-b", "lab", "test", False),
        },
        counted_runs=frozenset({1} if emulated else ()),
        sides={2: (OFF, LOOP)},
        metrics={(1, "time"): ("Time per call", "lower")},
        causes=lambda _before, _after: causes,
    )


def week_of(*words: Word, known_: Known | None = None, complete: bool = True) -> WeekData:
    """A week in which nothing but these words was said."""
    found, counted = findings(words, WEEK.start, known_ or known())
    return WeekData(
        week=str(WEEK),
        complete=complete,
        until=None if complete else datetime(2026, 11, 18, 12, tzinfo=UTC),
        counts=Counts(worse=1),
        compared=[],
        found=counted,
        findings=found,
        trends=[],
        trends_known=False,
        not_measured=[],
        under_way=0,
        aside=[],
        drift=[],
        noise=[],
        hours=[],
        aa=[],
    )
