"""Every detector over the corpus, and over a year's looks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bench.truth.detectors import VOTE, VOTERS, Detector, Look, sized, vote
from bench.truth.made import KINDS, NULL, STEPPED, Frame, made
from bench.truth.metric import Counts, counted_with_start, judged
from bench.truth.peers import SLOW
from bench.truth.series import Answer, Known
from bench.truth.year import FEWEST, FRAME, SEEN, WEEKS, delay, said_of_each

# Kinds in which no level changes; those besides `NULL` are told by kind alone.
QUIET = (*NULL, "spikes", "scatter")


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many series of a kind there are, and every which look of the year is taken."""

    after: int = 0
    """So many series of each kind are left out of the corpus: all of it is then of others."""
    corpus: int = 100
    null_years: int = 100
    stepped_years: int = 40
    every: int = 1

    @property
    def looks(self) -> range:
        """How many values are seen at each look."""
        return range(SEEN.start, SEEN.stop, self.every)

    def of(self, detector: str) -> Sizes:
        """Fewer for those that take long."""
        return replace(self, **_FEW) if detector in SLOW else self


_FEW = {"corpus": 10, "null_years": 4, "stepped_years": 2}
QUICK = Sizes(corpus=5, null_years=10, stepped_years=4, every=6)


@dataclass(frozen=True, slots=True)
class OnCorpus:
    """What one detector made of the corpus."""

    series: Sequence[Known]
    counts: Sequence[Counts]
    with_start: Sequence[float]
    ms: float

    def of_kind(self, kind: str) -> list[Counts]:
        """Of each series of a kind."""
        return [c for s, c in zip(self.series, self.counts, strict=True) if s.kind == kind]


@dataclass(frozen=True, slots=True)
class OverYear:
    """What one detector said while a year went: of each kind, one entry a series."""

    alarms: Mapping[str, Sequence[int]]
    delays: Mapping[str, Sequence[int | None]]


def on_corpus(detectors: Iterable[Detector], sizes: Sizes) -> dict[str, OnCorpus]:
    """Each detector's counts, the vote's too."""
    found: dict[str, OnCorpus] = {}
    voices: dict[str, list[Answer]] = {}
    for detector in detectors:
        series = corpus(sizes.of(detector.name))
        began = _clock()
        answers = detector.answers([each.values for each in series])
        found[detector.name] = judged_all(series, answers, _clock() - began)
        if detector.name in VOTERS:
            voices[detector.name] = answers
    series = corpus(sizes)
    found[VOTE] = judged_all(
        series, voted(series, voices), sum(found[name].ms * len(series) / 1e3 for name in VOTERS)
    )
    return found


def judged_all(series: Sequence[Known], answers: Sequence[Answer], seconds: float) -> OnCorpus:
    """Counts of one detector's answers."""
    pairs = list(zip(series, answers, strict=True))
    return OnCorpus(
        series,
        [judged(each, answer) for each, answer in pairs],
        [counted_with_start([s.changes], [each.place for each in answer]) for s, answer in pairs],
        1e3 * seconds / len(series),
    )


def corpus(sizes: Sizes) -> list[Known]:
    """So many made series of each kind."""
    end = sizes.after + sizes.corpus
    return [series for kind in KINDS for series in made(kind, end)[sizes.after :]]


def voted(series: Sequence[Known], voices: Mapping[str, list[Answer]]) -> list[Answer]:
    """What two of three say."""
    return [
        sized(each.values, vote(*([found.place for found in answer] for answer in answers)))
        for each, *answers in zip(series, *(voices[name] for name in VOTERS), strict=True)
    ]


def over_year(detectors: Iterable[Detector], sizes: Sizes) -> dict[str, OverYear]:
    """Each detector's alarms and delays, the vote's too."""
    found: dict[str, OverYear] = {}
    voices: dict[str, list[Look]] = {}
    for detector in detectors:
        series = _years(detector.name, sizes)
        looks = detector.as_it_goes([each.values for each in series], sizes.looks)
        found[detector.name] = _told(series, looks, sizes.looks)
        if detector.name in VOTERS:
            voices[detector.name] = looks
    looks = [
        [vote(*places) for places in zip(*said, strict=True)]
        for said in zip(*(voices[name] for name in VOTERS), strict=True)
    ]
    found[VOTE] = _told(_years(VOTE, sizes), looks, sizes.looks)
    return found


def first_year(detectors: Iterable[Detector], count: int) -> dict[str, dict[str, int]]:
    """Of *count* null series of each kind: how many show a change at any look of their first year.

    Looks begin at the first values that any detector takes; here too little is known of the noise.
    """
    series = [each for kind in NULL for each in made(kind, count, Frame(WEEKS, WEEKS))]
    found = {}
    for detector in detectors:
        looks = detector.as_it_goes([each.values for each in series], range(FEWEST, WEEKS + 1))
        ever = dict.fromkeys(NULL, 0)
        for number, each in enumerate(series):
            ever[each.kind] += any(look[number] for look in looks)
        found[detector.name] = ever
    return found


def _years(detector: str, sizes: Sizes) -> list[Known]:
    counts = dict.fromkeys(QUIET, sizes.of(detector).null_years)
    counts |= dict.fromkeys(STEPPED, sizes.of(detector).stepped_years)
    return [series for kind, count in counts.items() for series in made(kind, count, FRAME)]


def _told(series: Sequence[Known], looks: Sequence[Look], seen: range) -> OverYear:
    alarms: dict[str, list[int]] = {kind: [] for kind in QUIET}
    delays: dict[str, list[int | None]] = {kind: [] for kind in STEPPED}
    for each, said in zip(series, said_of_each(looks, seen), strict=True):
        if each.changes:
            delays[each.kind].append(delay(each, said))
        else:
            alarms[each.kind].append(len(said))
    return OverYear(alarms, delays)


def _clock() -> float:
    """Processor time of this process and of those that it waited for."""
    return sum(os.times()[:4])
