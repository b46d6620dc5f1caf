"""One table of a source's real series."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.truth.detectors import VOTE, VOTERS, Detector
from bench.truth.intervals import of_f1, wilson
from bench.truth.measured import voted
from bench.truth.metric import Counts, counted_with_start, judged, total
from bench.truth.real import Marked, put_in
from bench.truth.series import Answer, Known
from bench.truth.table import NONE, share

STEPS = (2.0, 5.0)


def put_in_table(series: Sequence[Marked], detectors: Sequence[Detector]) -> list[list[str]]:
    """One row a detector: how many of the steps are found that are put into what nobody marked."""
    columns = [_found(put_in(series, size), detectors) for size in STEPS]
    head = ["detector", *(f"step {size:g}, found %" for size in STEPS)]
    return [head, *([name, *(column[name] for column in columns)] for name in columns[0])]


def _found(series: Sequence[Known], detectors: Sequence[Detector]) -> dict[str, str]:
    found = {}
    for name, said in _answers(series, detectors).items():
        sums = total(judged(each, answer) for each, answer in zip(series, said, strict=True))
        found[name] = share(sums.recall, wilson(sums.right, len(series)))
    return found


def _answers(series: Sequence[Known], detectors: Sequence[Detector]) -> dict[str, list[Answer]]:
    values = [each.values for each in series]
    answers = {each.name: each.answers(values) for each in detectors}
    answers[VOTE] = voted(series, {name: answers[name] for name in VOTERS})
    return answers


def table(series: Sequence[Marked], detectors: Sequence[Detector]) -> list[list[str]]:
    """One row a detector; false alarms of each kind of series, counted a series."""
    answers = _answers([each.known for each in series], detectors)
    kinds = list(dict.fromkeys(each.kind for each in series))
    head = ["detector", "recall %", "precision %", "F1 %", "F1, start counted"]
    head += [f"false, {kind}" for kind in kinds]
    return [head, *(_row(name, series, said, kinds) for name, said in answers.items())]


def _row(
    name: str, series: Sequence[Marked], answers: Sequence[Answer], kinds: Sequence[str]
) -> list[str]:
    counts = [judged(s.known, answer) for s, answer in zip(series, answers, strict=True)]
    sums = total(counts)
    said = sums.right + sums.false
    with_start = [
        counted_with_start(each.readers, [found.place for found in answer])
        for each, answer in zip(series, answers, strict=True)
    ]
    return [
        name,
        share(sums.recall, wilson(sums.right, sums.right + sums.missed)),
        share(sums.precision, wilson(sums.right, said)) if said else NONE,
        share(sums.f1, of_f1(counts)),
        f"{100.0 * np.mean(with_start):.1f}",
        *(_false(kind, series, counts) for kind in kinds),
    ]


def _false(kind: str, series: Sequence[Marked], counts: Sequence[Counts]) -> str:
    of_kind = [c.false for s, c in zip(series, counts, strict=True) if s.kind == kind]
    return f"{np.mean(of_kind):.2f}"
