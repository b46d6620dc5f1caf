"""From what was measured to the tables that are printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bench.truth.detectors import OURS
from bench.truth.intervals import Interval, of_f1, of_f1_difference, of_median, of_rate, wilson
from bench.truth.made import KINDS, NULL, PASSING, STEPPED
from bench.truth.measured import QUIET, OnCorpus, OverYear
from bench.truth.metric import Counts, total

CHANGED = tuple(kind for kind in KINDS if kind not in QUIET)
NONE = "–"


def main_table(corpus: Mapping[str, OnCorpus], years: Mapping[str, OverYear]) -> list[list[str]]:
    """One row a detector, with 95 % intervals."""
    head = [
        "detector", "series", "recall %", "precision %", "F1 %", "F1 less ours",
        "F1 of what stays %", "size held %", "years", "false alarms a year", "delay",
        "F1, start counted", "ms a series",
    ]  # fmt: skip
    ours = corpus.get(OURS.name)
    return [head, *(_row(name, corpus[name], ours, years.get(name)) for name in corpus)]


def _row(name: str, made: OnCorpus, ours: OnCorpus | None, year: OverYear | None) -> list[str]:
    sums = total(made.counts)
    changes, said = sums.right + sums.missed, sums.right + sums.false
    return [
        name,
        str(len(made.series)),
        share(sums.recall, wilson(sums.right, changes)),
        share(sums.precision, wilson(sums.right, said)) if said else NONE,
        share(sums.f1, of_f1(made.counts)),
        _less(made, ours),
        f"{100.0 * total(_staying(made)).f1:.1f}",
        share(sums.held / sums.right, wilson(sums.held, sums.right)) if sums.right else NONE,
        *(_of_year(year) if year else [NONE, NONE, NONE]),
        f"{100.0 * np.mean(made.with_start):.1f}",
        f"{made.ms:.2f}",
    ]


def _staying(made: OnCorpus) -> list[Counts]:
    """Without the kinds whose level goes back to what it was."""
    pairs = zip(made.series, made.counts, strict=True)
    return [counts for series, counts in pairs if series.kind not in PASSING]


def _less(made: OnCorpus, ours: OnCorpus | None) -> str:
    """Only of the same series: those of one kind vary, and are then the same for both."""
    if ours is None or made is ours or len(made.series) != len(ours.series):
        return NONE
    difference = total(made.counts).f1 - total(ours.counts).f1
    return share(difference, of_f1_difference(made.counts, ours.counts), "+.1f")


def _of_year(year: OverYear) -> list[str]:
    alarms = [number for kind in NULL for number in year.alarms[kind]]
    # Of steps of 2 and more, which nearly everybody finds: delays of others would be of fewer.
    delays = [d for kind in STEPPED if "step 1" not in kind for d in year.delays[kind]]
    known = [d for d in delays if d is not None]
    low, high = of_rate(alarms)
    rate = f"{np.mean(alarms):.3f} [{low:.3f}, {high:.3f}]"
    if not known:
        return [str(len(alarms)), rate, NONE]
    low, high = of_median(known)
    return [str(len(alarms)), rate, f"{np.median(known):g} [{low:g}, {high:g}]"]


def share(figure: float, interval: Interval, form: str = ".1f") -> str:
    """In percent, with its interval."""
    low, high = interval
    return f"{100.0 * figure:{form}} [{100.0 * low:{form}}, {100.0 * high:{form}}]"


def recalls(corpus: Mapping[str, OnCorpus]) -> list[list[str]]:
    """Share of the changes that was found, by kind, in percent."""
    return _by_kind(
        "found, %",
        CHANGED,
        {name: [f"{100.0 * total(made.of_kind(kind)).recall:.0f}" for kind in CHANGED]
         for name, made in corpus.items()},
    )  # fmt: skip


def false_alarms(corpus: Mapping[str, OnCorpus]) -> list[list[str]]:
    """False alarms a hundred series of 100 to 200 values, by kind."""
    return _by_kind(
        "false, a hundred series",
        tuple(KINDS),
        {name: [_hundred([c.false for c in made.of_kind(kind)]) for kind in KINDS]
         for name, made in corpus.items()},
    )  # fmt: skip


def yearly_alarms(years: Mapping[str, OverYear]) -> list[list[str]]:
    """False alarms in a hundred years of a series, by kind."""
    return _by_kind(
        "false, a hundred series-years",
        QUIET,
        {name: [_hundred(year.alarms[kind]) for kind in QUIET] for name, year in years.items()},
    )


def delays(years: Mapping[str, OverYear]) -> list[list[str]]:
    """Share that was said within the year, and the median of its delays."""
    return _by_kind(
        "said in the year, %: median delay",
        STEPPED,
        {name: [_delay(year.delays[kind]) for kind in STEPPED] for name, year in years.items()},
    )


def shares_of_first_year(found: Mapping[str, Mapping[str, int]], count: int) -> list[list[str]]:
    """Share of null series, by kind, that showed a change at any look."""
    return _by_kind(
        "with a change in the first year, %",
        NULL,
        {name: [share(ever[kind] / count, wilson(ever[kind], count)) for kind in NULL]
         for name, ever in found.items()},
    )  # fmt: skip


def _delay(delays: Sequence[int | None]) -> str:
    known = [each for each in delays if each is not None]
    found = f"{100.0 * len(known) / len(delays):.0f}"
    return f"{found}: {np.median(known):g}" if known else found


def _hundred(events: Sequence[int]) -> str:
    return f"{100.0 * float(np.mean(events)):.0f}"


def _by_kind(
    title: str, kinds: Sequence[str], columns: Mapping[str, Sequence[str]]
) -> list[list[str]]:
    return [
        [title, *columns],
        *([kind, *cells] for kind, *cells in zip(kinds, *columns.values(), strict=True)),
    ]


def printed(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """Lines with columns below each other: the first to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()
