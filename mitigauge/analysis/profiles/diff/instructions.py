"""A function's instructions on two sides: which are the same, and what each costs. Pure.

Each boot gives one value an instruction, as it does a function (:mod:`significance`). Two
instructions are the same where their normal forms are, in order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mitigauge.analysis.profiles.capture.instructions import Line
from mitigauge.analysis.profiles.diff.align import aligned
from mitigauge.analysis.profiles.diff.compare import compare_functions
from mitigauge.analysis.profiles.diff.significance import Comparison, Floats
from mitigauge.analysis.profiles.store.instructions import StoredCode

# What compilers number: `f.isra.0` in one build is `f.isra.1` in another.
_NUMBERED = re.compile(r"\.[0-9]+")


@dataclass(frozen=True, slots=True)
class BootCode:
    """One boot's parts of a function, none where nothing of it ran; and what a weight is worth."""

    parts: Sequence[StoredCode]
    scale: float


@dataclass(frozen=True, slots=True)
class Aligned:
    """One part of a function on both sides; a side that lacks it has no lines."""

    name_a: str
    name_b: str
    lines_a: Sequence[Line]
    lines_b: Sequence[Line]
    pairs: Sequence[tuple[int | None, int | None]]
    """Index into the lines of either side; None where a side lacks the instruction."""
    values: Floats
    """``[pair, boot]``: what it cost in each boot, of side a, then of b."""
    samples: NDArray[np.int64]
    """``[pair, side]``: samples of all boots together."""


@dataclass(frozen=True, slots=True)
class InstructionDiff:
    """Parts of a function with what was compared, over all of their pairs one after the other."""

    parts: Sequence[Aligned]
    compared: Comparison
    kinds: Mapping[str, Comparison]
    """The same of all instructions together: on both sides, *new* in b, *gone* from a. Empty, as
    are the *counts*, where one side has no boot: then nobody knows what it ran."""
    counts: Mapping[str, int]
    other_code: tuple[int, int]
    """Boots of either side that ran another code than most of theirs, and are left out."""
    boots: tuple[int, int]


def diff_instructions(
    a: Sequence[BootCode], b: Sequence[BootCode], renamed: Mapping[str, str]
) -> InstructionDiff:
    """Compare a function instruction by instruction.

    *renamed*: names in a's kernel → names in b's. Boots whose code is not that of most boots of
    their side are left out.
    """
    kept_a, kept_b = _of_one_code(a), _of_one_code(b)
    of_a = [_by_part(boot, renamed) for boot in kept_a]
    of_b = [_by_part(boot, {}) for boot in kept_b]
    keys = sorted({key for parts in (*of_a, *of_b) for key in parts})
    scales = np.array([boot.scale for boot in (*kept_a, *kept_b)])
    parts = [_aligned(key, of_a, of_b, scales) for key in keys]
    boots = len(kept_a), len(kept_b)
    values = np.concatenate([part.values for part in parts]) if parts else np.zeros((0, sum(boots)))
    known = all(boots)
    kinds = np.array([_kind(pair) for part in parts for pair in part.pairs if known], dtype=object)
    return InstructionDiff(
        parts=parts,
        compared=_compared(values, boots[0]),
        kinds={
            kind: _compared(values[kinds == kind].sum(axis=0)[None], boots[0])
            for kind in ("both", "new", "gone")
            if known
        },
        counts=Counter(kinds.tolist()),
        other_code=(len(a) - boots[0], len(b) - boots[1]),
        boots=boots,
    )


def _compared(values: Floats, boots_a: int) -> Comparison:
    a, b = values[:, :boots_a], values[:, boots_a:]
    if a.size and b.size:
        return compare_functions(values, values, boots_a)
    # One side has no boot: what the other costs is known, and no difference.
    unknown = np.full(len(values), np.nan)
    means = [side.mean(axis=1) if side.shape[1] else unknown for side in (a, b)]
    return Comparison(means[0], means[1], unknown, unknown, unknown, unknown)


def _kind(pair: tuple[int | None, int | None]) -> str:
    if pair[0] is None:
        return "new"
    return "gone" if pair[1] is None else "both"


def _of_one_code(boots: Sequence[BootCode]) -> list[BootCode]:
    """Boots that do not contradict what most boots ran, part by part."""
    codes: dict[tuple[str, int], Counter[tuple[str, ...]]] = {}
    by_boot = [_by_part(boot, {}) for boot in boots]
    for parts in by_boot:
        for key, part in parts.items():
            codes.setdefault(key, Counter())[_normal(part)] += 1
    usual = {key: counter.most_common(1)[0][0] for key, counter in codes.items()}
    return [
        boot
        for boot, parts in zip(boots, by_boot, strict=True)
        if all(_normal(part) == usual[key] for key, part in parts.items())
    ]


def _by_part(boot: BootCode, renamed: Mapping[str, str]) -> dict[tuple[str, int], StoredCode]:
    """A boot's parts by their name without numbers, and which of that name it is."""
    found: dict[tuple[str, int], StoredCode] = {}
    times: Counter[str] = Counter()
    for part in boot.parts:
        name = _NUMBERED.sub(".*", renamed.get(part.name, part.name))
        found[name, times[name]] = part
        times[name] += 1
    return found


def _normal(part: StoredCode) -> tuple[str, ...]:
    return tuple(line.normal for line in part.lines)


def _aligned(
    key: tuple[str, int],
    of_a: Sequence[Mapping[tuple[str, int], StoredCode]],
    of_b: Sequence[Mapping[tuple[str, int], StoredCode]],
    scales: Floats,
) -> Aligned:
    first_a = next((parts[key] for parts in of_a if key in parts), None)
    first_b = next((parts[key] for parts in of_b if key in parts), None)
    normal_a = _normal(first_a) if first_a else ()
    normal_b = _normal(first_b) if first_b else ()
    pairs = aligned(normal_a, normal_b)
    values = np.zeros((len(pairs), len(scales)))
    samples = np.zeros((len(pairs), 2), np.int64)
    for side, (boots, first) in enumerate(((of_a, 0), (of_b, len(of_a)))):
        rows = np.array([row for row, pair in enumerate(pairs) if pair[side] is not None], np.int64)
        lines = np.array([pair[side] for pair in pairs if pair[side] is not None], np.int64)
        for boot, parts in enumerate(boots, start=first):
            if key in parts:
                values[rows, boot] = parts[key].weights[lines] * scales[boot]
                samples[rows, side] += parts[key].samples[lines]
    return Aligned(
        name_a=first_a.name if first_a else "",
        name_b=first_b.name if first_b else "",
        lines_a=first_a.lines if first_a else (),
        lines_b=first_b.lines if first_b else (),
        pairs=pairs,
        values=values,
        samples=samples,
    )
