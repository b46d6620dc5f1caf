"""Made series by kind and seed, each with its true changes.

All have level 100 and a standard deviation of 1, so that sizes are in deviations and a wild value
that is ten times too large is one of a percent of noise.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bench.truth.noise import Noise, alike, modes, normal, season, student, walk
from bench.truth.series import Known, Places, Truth, Values

SEED = 20261128
LEVEL = 100.0
STEPS = (1.0, 2.0, 3.0, 5.0)
_RAMP = (3.0, 10, 40)
_SWAP = (2.0, 6.0)
_SCATTER = 3.0
_GAPS = 3
_GAP = (3, 12)
_BESIDE = 3


@dataclass(frozen=True, slots=True)
class Frame:
    """How long a series is, and so many values at its ends with no change in them."""

    shortest: int = 100
    longest: int = 200
    before: int = 20
    after: int = 20

    def length(self, rng: np.random.Generator) -> int:
        """A length of it."""
        return int(rng.integers(self.shortest, self.longest + 1))

    def place(self, rng: np.random.Generator, length: int) -> int:
        """Where a series of that length changes."""
        return int(rng.integers(self.before, length - self.after + 1))


Maker = Callable[[np.random.Generator, Frame], list[Known]]


def made(kind: str, count: int, frame: Frame | None = None) -> list[Known]:
    """The first *count* series of a kind; fewer are always the first ones of more."""
    series: list[Known] = []
    seed = [SEED, zlib.crc32(kind.encode())]
    for number in range(count):
        if len(series) >= count:
            break
        rng = np.random.default_rng([*seed, number])
        series += KINDS[kind](rng, frame or Frame())
    return series[:count]


def outlier(rng: np.random.Generator) -> float:
    """A factor from 0.1 to 10, alike on the log scale."""
    return float(10.0 ** rng.uniform(-1.0, 1.0))


def _known(
    kind: str, values: Values, changes: Sequence[Truth] = (), weeks: Places | None = None
) -> Known:
    return Known(kind, values, tuple(changes), np.arange(len(values)) if weeks is None else weeks)


def _stepped(values: Values, place: int, size: float) -> Truth:
    values[place:] += size
    return Truth(place, place, size)


def _signed(rng: np.random.Generator, size: float) -> float:
    return float(size * rng.choice((-1.0, 1.0)))


def _unchanged(
    rng: np.random.Generator, frame: Frame, *, kind: str, noise: Noise = normal
) -> list[Known]:
    return [_known(kind, LEVEL + noise(rng, frame.length(rng)))]


def _step(
    rng: np.random.Generator, frame: Frame, *, kind: str, size: float, noise: Noise = normal
) -> list[Known]:
    length = frame.length(rng)
    values = LEVEL + noise(rng, length)
    return [_known(kind, values, [_stepped(values, frame.place(rng, length), _signed(rng, size))])]


def _passing(
    rng: np.random.Generator, frame: Frame, *, kind: str, size: float, lasts: tuple[int, int]
) -> list[Known]:
    """A level that comes and goes away again."""
    length = frame.length(rng)
    takes = int(rng.integers(lasts[0], lasts[1] + 1))
    first = int(rng.integers(frame.before, length - frame.after - takes + 1))
    values = LEVEL + normal(rng, length)
    step = _stepped(values, first, _signed(rng, size))
    return [_known(kind, values, [step, _stepped(values, first + takes, -step.size)])]


def _ramp(rng: np.random.Generator, frame: Frame, *, kind: str) -> list[Known]:
    """Three deviations within 10 to 40 values."""
    size, shortest, longest = _RAMP
    length = frame.length(rng)
    takes = int(rng.integers(shortest, longest + 1))
    first = int(rng.integers(frame.before, length - frame.after - takes + 1))
    size = _signed(rng, size)
    rises = np.clip((np.arange(length) - first + 1) / (takes + 1), 0.0, 1.0)
    values = LEVEL + normal(rng, length) + size * rises
    return [_known(kind, values, [Truth(first, first + takes, size)])]


def _spikes(rng: np.random.Generator, frame: Frame, *, kind: str) -> list[Known]:
    """One to three wild values, anywhere."""
    values = LEVEL + normal(rng, frame.length(rng))
    for place in rng.choice(len(values), size=int(rng.integers(1, 4)), replace=False):
        values[place] *= outlier(rng)
    return [_known(kind, values)]


def _scatter(rng: np.random.Generator, frame: Frame, *, kind: str) -> list[Known]:
    """Three times the scatter from a place on, or up to it; the level stays."""
    length = frame.length(rng)
    noise = normal(rng, length)
    place = frame.place(rng, length)
    part = slice(place, None) if rng.random() < 0.5 else slice(None, place)
    noise[part] *= _SCATTER
    return [_known(kind, LEVEL + noise)]


def _gaps(rng: np.random.Generator, frame: Frame, *, kind: str) -> list[Known]:
    """A step of three deviations in noise that is alike, and three stretches that are missing.

    One of them hides the step, so that nobody saw the weeks about it.
    """
    length = frame.length(rng)
    values = LEVEL + alike(0.2)(rng, length)
    step = _stepped(values, frame.place(rng, length), _signed(rng, 3.0))
    there = np.ones(length, dtype=np.bool_)
    for number in range(_GAPS):
        long = int(rng.integers(*_GAP))
        first = step.first - long // 2 if not number else int(rng.integers(0, length - long))
        there[first : first + long] = False
    # One that lies across the step's edge moves it to the first value that is there.
    place = int(there[: step.first].sum())
    return [_known(kind, values[there], [Truth(place, place, step.size)], np.flatnonzero(there))]


def _swap(rng: np.random.Generator, frame: Frame, *, kind: str) -> list[Known]:
    """Two series whose labels are exchanged from a place on: both step, against each other."""
    length = frame.length(rng)
    place = frame.place(rng, length)
    apart = float(rng.uniform(*_SWAP))
    lower, upper = LEVEL + normal(rng, length), LEVEL + apart + normal(rng, length)
    lower[place:], upper[place:] = upper[place:].copy(), lower[place:].copy()
    return [
        _known(kind, lower, [Truth(place, place, apart)]),
        _known(kind, upper, [Truth(place, place, -apart)]),
    ]


def _outlier_beside(rng: np.random.Generator, frame: Frame, *, kind: str) -> list[Known]:
    """A step of five deviations with one wild value, three places from it at most."""
    length = frame.length(rng)
    values = LEVEL + normal(rng, length)
    step = _stepped(values, frame.place(rng, length), _signed(rng, 5.0))
    values[step.first + int(rng.integers(-_BESIDE, _BESIDE))] *= outlier(rng)
    return [_known(kind, values, [step])]


_NOISES: dict[str, Noise] = {
    "normal": normal,
    "t, 3 degrees": student,
    "AR(1) 0.2": alike(0.2),
    "AR(1) 0.4": alike(0.4),
    "AR(1) 0.6": alike(0.6),
    "two modes": modes,
    "season": season,
    "random walk": walk,
}
_MAKERS: dict[str, Callable[..., list[Known]]] = {
    **{kind: partial(_unchanged, noise=noise) for kind, noise in _NOISES.items()},
    "spikes": _spikes,
    "scatter": _scatter,
    **{f"step {size:g}": partial(_step, size=size) for size in STEPS},
    **{f"step {size:g}, AR(1) 0.4": partial(_step, size=size, noise=alike(0.4)) for size in STEPS},
    "passing, 10 to 30 values": partial(_passing, size=3.0, lasts=(10, 30)),
    "passing, 5 to 10 values": partial(_passing, size=5.0, lasts=(5, 10)),
    "ramp": _ramp,
    "gaps": _gaps,
    "swap": _swap,
    "outlier beside a step": _outlier_beside,
}
KINDS: dict[str, Maker] = {kind: partial(make, kind=kind) for kind, make in _MAKERS.items()}
NULL = tuple(_NOISES)
"""Of which each alarm is a false one. Season and walk move, and yet nothing was changed."""
PASSING = tuple(kind for kind in KINDS if kind.startswith("passing"))
STEPPED = tuple(kind for kind in KINDS if kind.startswith("step "))
