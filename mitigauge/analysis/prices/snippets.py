"""Two pieces of code set against each other on this processor, over many layouts. Pure.

Each process has one layout of both. The effect is the trimmed mean over processes of what the
second takes more than the first, in parts of the first, without what a loop of neither takes.
What each hides of the branch history is told by a branch behind it that needs that history: what
its mispredictions cost beyond those behind nothing, beside those behind the first piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from mitigauge.analysis.prices.probe import Interval, ProbeRun, trimmed_interval
from mitigauge.core.field_types import Closed

# A difference within this part is none that matters.
MARGIN = 0.01
# What hides less than so much of what the first hides is said to hide less.
LEAST_HIDDEN = 0.9
# A branch behind nothing tells the history only where a misprediction costs so much, ns.
LEAST_TOLD_NS = 1.0
# A first piece that takes less is set against this, ns.
LEAST_NS = 0.01


class History(Closed):
    """Cost of mispredictions behind nothing, the first and the second piece; ns."""

    history_ns: tuple[float, float, float] = Field()


@dataclass(frozen=True, slots=True)
class SnippetRun:
    """What one process says of both pieces."""

    timed: ProbeRun
    history: History

    @property
    def first(self) -> float:
        """Nanoseconds of the first piece."""
        assert self.timed.without
        assert self.timed.without_again
        return self.timed.without_again.low - self.timed.without.low

    @property
    def second(self) -> float:
        """Nanoseconds of the second piece."""
        assert self.timed.without
        assert self.timed.with_
        return self.timed.with_.low - self.timed.without.low


@dataclass(frozen=True, slots=True)
class Compared:
    """Both pieces over all layouts."""

    layouts: int
    first: Interval
    second: Interval
    effect: Interval
    """What the second takes more, in parts of the first."""
    hidden: Interval | None
    """What the second hides of the history, in parts of the first; None: that one hides nothing."""

    @property
    def verdict(self) -> str:
        """``slower``, ``faster``, ``same`` or ``undecided``, of the second."""
        if self.effect.low > -MARGIN and self.effect.high < MARGIN:
            return "same"
        if self.effect.low > 0:
            return "slower"
        return "faster" if self.effect.high < 0 else "undecided"

    @property
    def hides_less(self) -> bool:
        """Whether the second surely hides less than the first."""
        return self.hidden is not None and self.hidden.high < LEAST_HIDDEN

    @property
    def hides_as_much(self) -> bool:
        """Whether it surely hides no less."""
        return self.hidden is not None and self.hidden.low >= LEAST_HIDDEN


def more_than_first(run: SnippetRun) -> float:
    """What the second takes more in one process, in parts of the first."""
    return (run.second - run.first) / max(run.first, LEAST_NS)


def compare_snippets(runs: Sequence[SnippetRun]) -> Compared:
    """Of at least five processes. Where a piece takes no time the effect is of what can be seen."""
    first = trimmed_interval([run.first for run in runs])
    least = max(first.mean / 100, 0.01)
    effects = [(run.second - run.first) / max(run.first, least) for run in runs]
    told = [
        (run.history.history_ns[1] - run.history.history_ns[0],
         run.history.history_ns[2] - run.history.history_ns[0])
        for run in runs
    ]  # fmt: skip
    hides = trimmed_interval([of_first for of_first, _ in told])
    return Compared(
        len(runs),
        first,
        trimmed_interval([run.second for run in runs]),
        trimmed_interval(effects),
        trimmed_interval([of_second / hides.mean for _, of_second in told])
        if hides.low > LEAST_TOLD_NS
        else None,
    )
