"""Which cases run code that a patch changes, by what they ran before. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

import orjson

from mitigauge.kernels.basic_blocks import Range
from mitigauge.kernels.functions import Changed, Parts
from mitigauge.profiles.exact.names import NAMES_SHOWN, changes_in_words, left_out_in_words
from mitigauge.profiles.exact.run_code import LEAST, RunCode

C = TypeVar("C")

NO_RANGES: Parts = {}
NO_PARTS: Mapping[str, Parts] = {}
_LINE = re.compile(r"\d+\.\d+")


@dataclass(frozen=True, slots=True)
class CountedCase:
    """What decides which code a case runs, beside the kernel's source.

    *parameters*: as :func:`case_key` has them. *mode*: ``family/mode``, for a mitigation that is
    off runs none of its code. *host*: processors have alternatives of their own.
    """

    workload: str
    parameters: str
    mode: str
    environment: str
    host: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a case ran of the kernel when its instructions were counted last.

    *notes*: of which kernel's build the functions are, by the digest of its notes; empty: of none
    that was noted.
    """

    code: RunCode
    kernel: str
    at: datetime
    notes: str = ""

    def is_within(self, name: str, ranges: Sequence[Range]) -> bool:
        """Whether it runs anything in those *ranges* of a function that it runs."""
        executed = self.code[name]
        within = (
            each.instructions
            for each in executed
            if any(each.begin < end and begin < each.end for begin, end in ranges)
        )
        return not executed or sum(within) >= LEAST

    def is_of(self, release: str) -> bool:
        """Whether it was counted on a kernel of the same version, the stable number aside.

        Functions of other versions have other names, and are inlined elsewhere.
        """
        ours, other = (_LINE.match(each) for each in (self.kernel, release))
        return bool(ours and other and ours[0] == other[0])


@dataclass(frozen=True, slots=True)
class Reach:
    """What a case runs of a change. *functions*: which of it; None: nobody knows.

    *beside*: functions that differ and that it runs, but nothing in them that differs.
    """

    functions: tuple[str, ...] | None
    coverage: Coverage | None = None
    beside: tuple[str, ...] = ()

    @property
    def is_worth_measuring(self) -> bool:
        """Whether it may differ: a case of which nothing is known may."""
        return self.functions is None or bool(self.functions)

    @property
    def known_by(self) -> str:
        """``counted on 7.2.12 on 2026-11-26``; empty: by nothing."""
        if self.coverage is None:
            return ""
        return f"counted on {self.coverage.kernel} on {self.coverage.at:%Y-%m-%d}"

    @property
    def left_out_by(self) -> str:
        """Why a case is not measured that is known to run nothing of it."""
        known = self.known_by and f" ({self.known_by})"
        return f"{left_out_in_words(self.beside)}{known}"


@dataclass(frozen=True, slots=True)
class ReachPlan(Generic[C]):
    """Which cases are measured, and what is known of each."""

    changed: Changed | None
    """What differs between the kernels; None: nobody knows."""
    reach: Mapping[C, Reach]

    @property
    def functions(self) -> list[str]:
        """Functions of the kernel whose code differs, sorted."""
        return sorted(self.changed.functions) if self.changed else []

    @property
    def objects(self) -> list[str]:
        """Data of the kernel that differ, sorted."""
        return sorted(self.changed.objects) if self.changed else []

    @property
    def measured(self) -> list[C]:
        """Those that run what was changed, or of which nobody knows."""
        return [case for case, reach in self.reach.items() if reach.is_worth_measuring]

    @property
    def left_out(self) -> list[C]:
        """Those that are known to run none of it."""
        return [case for case, reach in self.reach.items() if not reach.is_worth_measuring]

    def told(self, title: Callable[[C], str] = str) -> Iterator[str]:
        """What was changed, which cases run it, and which do not; a line each."""
        if self.changed is not None:
            yield from changes_in_words(self.functions, self.objects)
        for case, reach in self.reach.items():
            if reach.functions:
                yield f"{title(case)} runs {', '.join(reach.functions[:NAMES_SHOWN])}"
        for case in self.left_out:
            yield f"{title(case)} {self.reach[case].left_out_by}, and is left out"


def plan_of(
    changed: Changed | None,
    cases: Mapping[C, Collection[CountedCase]],
    known: Mapping[CountedCase, Coverage],
    release: str,
    parts: Mapping[str, Parts] = NO_PARTS,
) -> ReachPlan[C]:
    """The plan for kernels of which *release* is one.

    *changed*: what differs between them; None: nobody knows. *cases*: each with what it is on each
    of its hosts. *parts*: by the notes of kernels that cases were counted on, which bytes of their
    functions differ from any of the kernels.
    """

    def reach(counted: CountedCase) -> Reach:
        coverage = known.get(counted)
        if coverage is None or not coverage.is_of(release):
            return reach_of(changed, None)
        return reach_of(changed, coverage, parts.get(coverage.notes, {}))

    return ReachPlan(
        changed, {case: together([reach(each) for each in on]) for case, on in cases.items()}
    )


def reach_of(changed: Changed | None, known: Coverage | None, parts: Parts = NO_RANGES) -> Reach:
    """What of the *changed* functions a case runs; *parts*: of those, which bytes differ.

    Who reads data is not counted: where data were changed, a case that runs none of the functions
    may depend on it, and nobody knows.
    """
    if changed is not None and not changed.functions and not changed.objects:
        return Reach((), known)
    if known is None or changed is None:
        return Reach(None, known)
    names = sorted(known.code.keys() & changed.functions)
    runs = tuple(name for name in names if name not in parts or known.is_within(name, parts[name]))
    beside = tuple(name for name in names if name not in runs)
    return Reach(None if changed.objects and not runs else runs, known, beside)


def together(reaches: Sequence[Reach]) -> Reach:
    """What a case runs on several hosts together; where one is unknown, nobody knows.

    It stands by the oldest of what is known.
    """
    if not reaches or any(reach.functions is None for reach in reaches):
        return Reach(None)
    functions = {name for reach in reaches for name in reach.functions or ()}
    beside = {name for reach in reaches for name in reach.beside} - functions
    known = [reach.coverage for reach in reaches if reach.coverage]
    oldest = min(known, key=lambda each: each.at, default=None)
    return Reach(tuple(sorted(functions)), oldest, tuple(sorted(beside)))


def case_key(parameters: Mapping[str, object]) -> str:
    """Parameters as a text that is the same for the same ones."""
    return orjson.dumps(dict(parameters), option=orjson.OPT_SORT_KEYS).decode()
