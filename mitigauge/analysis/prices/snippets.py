"""Two pieces of code set against each other on this processor, over many layouts. Pure.

Each process has one layout of both. What each hides of the branch history is told by a branch
behind it that needs that history: what its mispredictions cost beyond those behind nothing, beside
those behind the first piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from mitigauge.analysis.prices.probe import Interval, ProbeRun, trimmed_interval
from mitigauge.core.field_types import Closed

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
    hidden: Interval | None
    """What the second hides of the history, in parts of the first; None: that one hides nothing."""

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
    """Of at least five processes."""
    told = [
        (run.history.history_ns[1] - run.history.history_ns[0],
         run.history.history_ns[2] - run.history.history_ns[0])
        for run in runs
    ]  # fmt: skip
    hides = trimmed_interval([of_first for of_first, _ in told])
    return Compared(
        len(runs),
        trimmed_interval([of_second / hides.mean for _, of_second in told])
        if hides.low > LEAST_TOLD_NS
        else None,
    )
