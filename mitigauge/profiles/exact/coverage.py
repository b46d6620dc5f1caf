"""Which cases run code that a patch changes, by what they ran before. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from mitigauge.profiles.exact.ledger import Ledger

# Instructions an operation from which a change in a function can show in a figure; below it are
# interrupts and other programs, which every case meets.
LEAST = 0.05


@dataclass(frozen=True, slots=True)
class Coverage:
    """The functions of the kernel that a case ran when its instructions were counted last."""

    functions: frozenset[str]
    kernel: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Reach:
    """What a case runs of a change. *functions*: which of it; None: nobody knows."""

    functions: tuple[str, ...] | None
    coverage: Coverage | None = None

    @property
    def is_worth_measuring(self) -> bool:
        """Whether it may differ: a case of which nothing is known may."""
        return self.functions is None or bool(self.functions)


def functions_run(ledger: Ledger) -> frozenset[str]:
    """Names of the kernel's functions that an operation runs, modules' included."""
    per = ledger.operations * len(ledger.windows)
    return frozenset(
        function.name
        for function in ledger.functions
        if function.is_kernel and function.name and sum(function.runs) / per >= LEAST
    )


def reach_of(changed: Collection[str], known: Coverage | None) -> Reach:
    """What of the *changed* functions a case runs.

    Where nothing that a symbol names was changed (data, or code without a name), nobody knows.
    """
    if known is None or not changed:
        return Reach(None, known)
    return Reach(tuple(sorted(known.functions & set(changed))), known)
