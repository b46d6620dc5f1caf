"""The next action of a bisection. Pure: the same question and history give the same action."""

from __future__ import annotations

from mitigauge.bisect.evidence import posterior
from mitigauge.bisect.model import (
    Action,
    History,
    Measure,
    Purpose,
    Question,
    Refused,
    Undecided,
)

END_BLOCKS = 4


def next_action(question: Question, history: History) -> Action:
    """What to measure next, or the answer. Never raises for what was measured."""
    last = question.last
    for point in (0, last):
        if point in history.skipped:
            return Refused(
                f"point {point} is an end and cannot be booted: {history.skipped[point]}",
                "Choose an end that builds and boots.",
            )
    at_ends = {item.group for item in history.observed if item.point == last}
    if len(at_ends) < END_BLOCKS:
        blocks = END_BLOCKS - len(at_ends)
        if len(history.observed) + 2 * blocks <= question.budget_boots:
            why = "do the ends differ?"
            return Measure((0, last), blocks, why, Purpose.ENDS)
    now = posterior(question, history)
    return Undecided("the budget is spent", tuple(range(1, last + 1)), 1.0, now)
