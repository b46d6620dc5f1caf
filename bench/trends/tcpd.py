"""The Turing Change Point Dataset: series that people marked the changes of, and their score.

Van den Burg and Williams, "An Evaluation of Change Point Detection Algorithms", 2020. The data are
under licences of their own and are not part of this project.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# A change that is found so many places from where a person marked it is found.
MARGIN = 5
HOW_TO_GET = (
    "git clone https://github.com/alan-turing-institute/TCPD, and give the folder by --data; "
    "a bare clone serves too"
)


@dataclass(frozen=True, slots=True)
class Labelled:
    """One series with what its readers marked: one list of places a reader."""

    name: str
    values: Sequence[float]
    marked: Sequence[Sequence[int]]

    @property
    def all_marks(self) -> set[int]:
        """What any reader marked."""
        return {place for marks in self.marked for place in marks}


@dataclass(frozen=True, slots=True)
class Score:
    """How well changes that were found fit what people marked."""

    precision: float
    recall: float
    false_alarms: int

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def read(folder: Path) -> tuple[list[Labelled], list[str]]:
    """Labelled series of one dimension in a copy of the data set, and why others were left out."""
    annotations = json.loads((folder / "annotations.json").read_text())
    found: list[Labelled] = []
    left_out: list[str] = []
    for name, by_reader in sorted(annotations.items()):
        path = folder / "datasets" / name / f"{name}.json"
        if not path.exists():
            left_out.append(f"{name}: to be downloaded from elsewhere")
            continue
        series = json.loads(path.read_text())
        if series["n_dim"] != 1:
            left_out.append(f"{name}: {series['n_dim']} dimensions")
            continue
        values = _filled(series["series"][0]["raw"])
        found.append(Labelled(name, values, list(by_reader.values())))
    return found, left_out


def _filled(raw: Sequence[float | None]) -> list[float]:
    """Missing values as the last one before: all contestants get the same."""
    known = [float(value) for value in raw if value is not None]
    values: list[float] = []
    for value in raw:
        values.append(float(value) if value is not None else (values or known)[-1 if values else 0])
    return values


def score(marked: Sequence[Sequence[int]], found: Iterable[int]) -> Score:
    """Precision against all marks, recall averaged over readers; place 0 counts as a change."""
    predicted = {0, *found}
    union = {0}.union(*map(set, marked))
    right = _matched(union, predicted)
    recalls = [_matched({0, *marks}, predicted) / len({0, *marks}) for marks in marked]
    return Score(
        right / len(predicted), sum(recalls) / len(recalls), false_alarms=len(predicted) - right
    )


def _matched(marks: set[int], predicted: set[int]) -> int:
    """Marks with a prediction within the margin; each prediction serves one mark."""
    left = set(predicted)
    matched = 0
    for mark in sorted(marks):
        near = [(abs(mark - place), place) for place in left if abs(mark - place) <= MARGIN]
        if near:
            left.remove(min(near)[1])
            matched += 1
    return matched


def means(scores: Mapping[str, Score]) -> tuple[float, float, float, int]:
    """Mean F1, precision and recall over series, and all false alarms."""
    number = len(scores)
    return (
        sum(s.f1 for s in scores.values()) / number,
        sum(s.precision for s in scores.values()) / number,
        sum(s.recall for s in scores.values()) / number,
        sum(s.false_alarms for s in scores.values()),
    )
