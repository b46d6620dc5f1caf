"""Which cases run code that a patch changes, by what they ran before. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

import orjson

from mitigauge.analysis.profiles.exact.names import (
    LEFT_OUT,
    NAMES_SHOWN,
    changes_in_words,
    names_in_words,
    open_in_words,
)
from mitigauge.kernels.functions import Changed

C = TypeVar("C")

NOT_NOTED = "the builds of the kernels did not note their functions"
NOT_COUNTED = "its instructions were not counted in this mode on this host"
COUNTED_ELSEWHERE = "the kernel on which it was counted noted no functions"


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

    functions: frozenset[str]
    kernel: str
    at: datetime
    notes: str = ""
    is_whole: bool = True
    """Whether these are all functions of the kernel that it ran."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What a case runs of a change. *functions*: which of it; None: it cannot be told, and
    *why_open* says why.
    """

    functions: tuple[str, ...] | None
    coverage: Coverage | None = None
    why_open: str = ""

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
        return f"{LEFT_OUT}{known}"


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

    def lines(self, title: Callable[[C], str] = str) -> Iterator[str]:
        """What was changed, which cases run it, and which do not; a line each."""
        if self.changed is not None:
            yield from changes_in_words(self.functions, self.objects)
        for case, reach in self.reach.items():
            if reach.functions:
                yield f"{title(case)} runs {', '.join(reach.functions[:NAMES_SHOWN])}"
            elif reach.functions is None:
                yield f"{title(case)} {open_in_words(reach.why_open)}"
        for case in self.left_out:
            yield f"{title(case)} {self.reach[case].left_out_by}, and is left out"


def plan_of(
    changed: Changed | None,
    cases: Mapping[C, Collection[CountedCase]],
    known: Mapping[CountedCase, Sequence[Coverage]],
    unlike: Mapping[str, Changed],
) -> ReachPlan[C]:
    """The plan for kernels.

    *changed*: what differs between them; None: nobody knows. *cases*: each with what it is on each
    of its hosts. *known*: the counts of each, the newest first, of which the first one decides by
    which it can be told. *unlike*: what differs between those compared and a kernel that cases
    were counted on, by the notes of that.
    """

    def reach(counted: CountedCase) -> Reach:
        found = [reach_of(changed, each, unlike.get(each.notes)) for each in known.get(counted, ())]
        told = (each for each in found if each.functions is not None)
        return next(told, found[0] if found else reach_of(changed, None, None))

    return ReachPlan(
        changed, {case: together([reach(each) for each in on]) for case, on in cases.items()}
    )


def reach_of(changed: Changed | None, known: Coverage | None, unlike: Changed | None) -> Reach:
    """What of the *changed* functions a case runs, by what it ran of a kernel that was counted.

    A count tells of other kernels as far as what it ran is the same in them: where nothing that ran
    differs from any of them, they run the same. Who reads data is not counted, nor what ran while
    the kernel started.
    """
    if changed is not None and not changed.functions and not changed.objects:
        return Reach((), known)
    if changed is None:
        return Reach(None, known, why_open=NOT_NOTED)
    if known is None:
        return Reach(None, why_open=NOT_COUNTED)
    if unlike is None:
        return Reach(None, known, why_open=COUNTED_ELSEWHERE)
    ran = sorted(known.functions & unlike.functions)
    runs = tuple(name for name in ran if name in changed.functions)
    why = "" if runs else _why_open(changed, known, unlike, ran)
    return Reach(None if why else runs, known, why)


def _why_open(changed: Changed, known: Coverage, unlike: Changed, differing: Sequence[str]) -> str:
    """Why a case that ran nothing of what differs may run some of it; empty: it does not."""
    if differing:
        return f"{names_in_words(differing)} differ from {known.kernel}, on which it was counted"
    if not known.is_whole:
        return f"a part of what it ran on {known.kernel} has no name"
    if changed.boot:
        return f"{names_in_words(sorted(changed.boot))} run while the kernel starts"
    if changed.objects or unlike.objects:
        objects = sorted(changed.objects or unlike.objects)
        return f"who reads {names_in_words(objects)} is not counted"
    return ""


def together(reaches: Sequence[Reach]) -> Reach:
    """What a case runs on several hosts together; where one is open, all of it is.

    It stands by the oldest of what is known.
    """
    whys = [reach.why_open for reach in reaches if reach.functions is None]
    if whys or not reaches:
        return Reach(None, why_open="; ".join(dict.fromkeys(whys)) or NOT_COUNTED)
    functions = {name for reach in reaches for name in reach.functions or ()}
    known = [reach.coverage for reach in reaches if reach.coverage]
    oldest = min(known, key=lambda each: each.at, default=None)
    return Reach(tuple(sorted(functions)), oldest)


def case_key(parameters: Mapping[str, object]) -> str:
    """Parameters as a text that is the same for the same ones."""
    return orjson.dumps(dict(parameters), option=orjson.OPT_SORT_KEYS).decode()
