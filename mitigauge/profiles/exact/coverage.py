"""Which cases run code that a patch changes, by what they ran before. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

import orjson

from mitigauge.kernels.functions import Changed
from mitigauge.profiles.exact.ledger import Ledger
from mitigauge.profiles.exact.names import NAMES_SHOWN, changes_in_words

C = TypeVar("C")

# Instructions an operation from which a change in a function can show in a figure; below it are
# interrupts and other programs, which every case meets.
LEAST = 0.05
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
    """The functions of the kernel that a case ran when its instructions were counted last."""

    functions: frozenset[str]
    kernel: str
    at: datetime

    def is_of(self, release: str) -> bool:
        """Whether it was counted on a kernel of the same version, the stable number aside.

        Functions of other versions have other names, and are inlined elsewhere.
        """
        ours, other = (_LINE.match(each) for each in (self.kernel, release))
        return bool(ours and other and ours[0] == other[0])


@dataclass(frozen=True, slots=True)
class Reach:
    """What a case runs of a change. *functions*: which of it; None: nobody knows."""

    functions: tuple[str, ...] | None
    coverage: Coverage | None = None

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
            known = self.reach[case].known_by
            yield f"{title(case)} runs none of it{known and f' ({known})'}, and is left out"


def plan_of(
    changed: Changed | None,
    cases: Mapping[C, Collection[CountedCase]],
    known: Mapping[CountedCase, Coverage],
    release: str,
) -> ReachPlan[C]:
    """The plan for kernels of which *release* is one.

    *changed*: what differs between them; None: nobody knows. *cases*: each with what it is on each
    of its hosts.
    """
    fitting = {key: each for key, each in known.items() if each.is_of(release)}
    return ReachPlan(
        changed,
        {
            case: together([reach_of(changed, fitting.get(counted)) for counted in on])
            for case, on in cases.items()
        },
    )


def functions_run(ledger: Ledger) -> frozenset[str]:
    """Names of the kernel's functions that an operation runs, modules' included."""
    per = ledger.operations * len(ledger.windows)
    return frozenset(
        function.name
        for function in ledger.functions
        if function.is_kernel and function.name and sum(function.runs) / per >= LEAST
    )


def reach_of(changed: Changed | None, known: Coverage | None) -> Reach:
    """What of the *changed* functions a case runs.

    Who reads data is not counted: where data were changed, a case that runs none of the functions
    may depend on it, and nobody knows.
    """
    if changed is not None and not changed.functions and not changed.objects:
        return Reach((), known)
    if known is None or changed is None:
        return Reach(None, known)
    runs = tuple(sorted(known.functions & changed.functions))
    return Reach(None if changed.objects and not runs else runs, known)


def together(reaches: Sequence[Reach]) -> Reach:
    """What a case runs on several hosts together; where one is unknown, nobody knows.

    It stands by the oldest of what is known.
    """
    if not reaches or any(reach.functions is None for reach in reaches):
        return Reach(None)
    functions = {name for reach in reaches for name in reach.functions or ()}
    known = [reach.coverage for reach in reaches if reach.coverage]
    return Reach(tuple(sorted(functions)), min(known, key=lambda each: each.at, default=None))


def case_key(parameters: Mapping[str, object]) -> str:
    """Parameters as a text that is the same for the same ones."""
    return orjson.dumps(dict(parameters), option=orjson.OPT_SORT_KEYS).decode()
