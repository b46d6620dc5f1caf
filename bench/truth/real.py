"""Real series that `bench.truth.fetch` put into a folder, with what people marked in them."""

from __future__ import annotations

import ast
import csv
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.truth.fetch import fetch, sources
from bench.truth.series import Known, Truth, Values

# Longer ones are cut: no trend here has as many values, and slow detectors would take hours.
LONGEST = 400
# What Otava's own test says of the series of TigerBeetle.
_TIGERBEETLE = (15, 71, 97)
_ROBUST = 1.4826


@dataclass(frozen=True, slots=True)
class Marked:
    """One series with the places that each of its readers marked."""

    name: str
    kind: str
    values: Values
    marks: Sequence[Sequence[int]]

    @property
    def readers(self) -> list[list[Truth]]:
        """What each reader marked; nobody says how large it is."""
        return [[Truth(at, at, math.nan) for at in marks] for marks in self.marks]

    @property
    def known(self) -> Known:
        """With what any reader marked as its changes."""
        places = sorted({place for marks in self.marks for place in marks})
        changes = tuple(Truth(at, at, math.nan) for at in places)
        return Known(self.kind, self.values, changes, np.arange(len(self.values)))


def read(folder: Path) -> dict[str, list[Marked]]:
    """The series of each source that is there and is what it should be, by the source's name."""
    found = {}
    for name, source in sources().items():
        if (folder / name).exists():
            found[name] = list(_READERS[name](fetch(name, source, folder)))
    return found


def put_in(series: Iterable[Marked], size: float) -> list[Known]:
    """Steps of so many robust deviations in what nobody marked: real noise with known changes."""
    found = []
    for each in series:
        if any(each.marks):
            continue
        off = np.abs(each.values - np.median(each.values))
        step = size * (_ROBUST * float(np.median(off)) or float(each.values.std()))
        for place in (len(each.values) * quarter // 4 for quarter in (1, 2, 3)):
            values = each.values.copy()
            values[place:] += step
            truth = Truth(place, place, step)
            found.append(Known(each.kind, values, (truth,), np.arange(len(values))))
    return found


def sap_hana(folder: Path) -> Iterator[Marked]:
    """A place is the first measurement that shows the regression; four in five series have none."""
    base = folder / "hana/small_2021"
    with (base / "metadata/dataset_details.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter=";"):
            kind, last = row["Type"].strip().lower(), int(row["Change Point"])
            yield _of_sap(base / "data" / row["Dataset"], kind, last)


def _of_sap(path: Path, kind: str, last: int) -> Marked:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:LONGEST]
    values = np.array([float(row["Measurement"]) for row in rows])
    indices = [int(row["Index"]) for row in rows]
    return Marked(path.stem, kind, values, [[indices.index(last) + 1]] if last else [[]])


def tcpd(folder: Path) -> Iterator[Marked]:
    """Series of one dimension; missing values are as the last one before, for everybody."""
    annotations = json.loads((folder / "annotations.json").read_text(encoding="utf-8"))
    for path in sorted((folder / "datasets").glob("*/*.json")):
        series = json.loads(path.read_text(encoding="utf-8"))
        if series["n_dim"] == 1:
            values = np.array(filled(series["series"][0]["raw"]))
            yield Marked(path.stem, "TCPD", values, list(annotations[path.stem].values()))


def filled(raw: Iterable[float | None]) -> list[float]:
    """Missing values as the last one before them; those at the start as the first there is."""
    every = list(raw)
    last = next(float(value) for value in every if value is not None)
    return [last := last if value is None else float(value) for value in every]


def otava(folder: Path) -> Iterator[Marked]:
    """The one list of numbers that its test has."""
    tree = ast.parse((folder / "tests/tigerbeetle_test.py").read_text(encoding="utf-8"))
    lists = [node for node in ast.walk(tree) if isinstance(node, ast.List)]
    longest = max(lists, key=lambda node: len(node.elts))
    values = np.array(ast.literal_eval(longest), dtype=np.float64)
    yield Marked("tigerbeetle", "TigerBeetle", values, [_TIGERBEETLE])


_READERS = {"sap-hana": sap_hana, "tcpd": tcpd, "otava": otava}
