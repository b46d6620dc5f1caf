"""What is wrong with an experiment's spec, in words that name the file and line. Pure."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mitigauge.core.clock import Clock
from mitigauge.core.yaml_file import YamlDocument
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.spec_model import ArmSpec, Place
from mitigauge.measurement.modes.crossing import wanted_by


@dataclass(frozen=True)
class KnownHost:
    """What a spec must know of a host."""

    name: str
    capabilities: frozenset[str]
    clock: Clock = Clock.REAL
    guest_image: str = ""
    """The operator's, which its guests boot; empty where they boot ours."""


@dataclass(frozen=True)
class Faults:
    """Finds faults that need more than the shape of the document."""

    document: YamlDocument
    catalog: Catalog

    def at(self, place: Place, problem: str) -> str:
        return f"{self.document.where(place)}: {problem}"

    def guest_of(self, arm: ArmSpec) -> Mapping[str, str]:
        """What the arm sets of a guest; nothing where its mode is not known."""
        try:
            return wanted_by(arm.mode, self.catalog.families).settings.guest()
        except (KeyError, ValueError):
            return {}


def known_words(wanted: str, names: Iterable[str]) -> str:
    """``known: a, b`` with the likeliest meant first."""
    known = sorted(names)
    close = difflib.get_close_matches(wanted, known, n=1)
    guess = f"did you mean {close[0]!r}? " if close else ""
    return f"{guess}known: {', '.join(known) or 'none'}"


def repeated(names: Sequence[str]) -> Iterator[tuple[int, str]]:
    seen: Counter[str] = Counter()
    for index, name in enumerate(names):
        seen[name] += 1
        if seen[name] > 1:
            yield index, name
