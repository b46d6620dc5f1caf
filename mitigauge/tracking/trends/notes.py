"""What to know of a trend before believing it. Pure: said, never guessed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from mitigauge.core.natural_order import natural_order
from mitigauge.tracking.trends.repository import ValueRow

# Of fewer values even a clean step cannot be told from chance.
FEWEST_VALUES = 14
# A silence this much longer than usual, and longer than this, is a gap.
GAP_TIMES = 3.0
GAP_AT_LEAST = timedelta(days=10)
# A host that was not measured for so many values of the others left.
LEFT_AFTER = 5
MOST_GAPS = 3


def notes_of(values: Sequence[ValueRow], titles: Sequence[str] = ()) -> list[str]:
    """Notes about *values*, in order of time; *titles*: what the case was called before."""
    if not values:
        return []
    return [
        *_few(values),
        *_gaps([value.at for value in values]),
        *_hosts(values),
        *_clocks(values),
        *(f"the case was called {title!r} before" for title in titles),
    ]


def _few(values: Sequence[ValueRow]) -> Iterator[str]:
    if len(values) < FEWEST_VALUES:
        yield (
            f"{_values(len(values))}: no change can be told from chance before there are "
            f"{FEWEST_VALUES}"
        )


def _values(number: int) -> str:
    return "1 value" if number == 1 else f"{number} values"


def _gaps(times: Sequence[datetime]) -> Iterator[str]:
    pauses = [(later - earlier, earlier, later)
              for earlier, later in pairwise(times)]  # fmt: skip
    if not pauses:
        return
    usual = sorted(pause for pause, _, _ in pauses)[len(pauses) // 2]
    gaps = [p for p in pauses if p[0] > max(usual * GAP_TIMES, GAP_AT_LEAST)]
    for _, earlier, later in gaps[-MOST_GAPS:]:
        yield f"no value between {earlier:%Y-%m-%d} and {later:%Y-%m-%d}"
    if len(gaps) > MOST_GAPS:
        yield f"{len(gaps) - MOST_GAPS} earlier gaps"


def _hosts(values: Sequence[ValueRow]) -> Iterator[str]:
    last = {value.host: place for place, value in enumerate(values)}
    if len(last) < 2:
        return
    for host, place in sorted(last.items(), key=lambda of: natural_order(of[0])):
        if len(values) - 1 - place >= LEFT_AFTER:
            yield f"{host} was measured last on {values[place].at:%Y-%m-%d}; others go on"


def _clocks(values: Sequence[ValueRow]) -> Iterator[str]:
    said: set[str] = set()
    for value in values:
        for note in value.notes:
            if note not in said and len(said) < MOST_GAPS:
                said.add(note)
                yield note
