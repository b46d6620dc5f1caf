"""Ledgers that tests make: of functions whose instructions are given by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mitigauge.analysis.profiles.exact.ledger import (
    Branches,
    Footprint,
    Ledger,
    LedgerFunction,
    Line,
    Window,
)

OPERATIONS = 1000
Lines = Mapping[str, float | Sequence[float]]
"""Instruction → runs an operation, the same in both windows or one each."""


def function(name: str, lines: Lines, *, module: str = "kernel") -> LedgerFunction:
    """A function with these instructions, one after the other, of four bytes each."""
    made = []
    for number, (text, each) in enumerate(lines.items()):
        both = [each, each] if isinstance(each, int | float) else list(each)
        runs = [round(value * OPERATIONS) for value in both]
        made.append(Line(4 * number, "90909090", text, text, runs, 0))
    sums = [sum(line.runs[window] for line in made) for window in range(2)]
    return LedgerFunction(
        name=name, module=module, is_kernel=module == "kernel", runs=sums, lines=made
    )


def ledger(
    *functions: LedgerFunction,
    lines: int = 10,
    pages: int = 3,
    branches: Branches | None = None,
) -> Ledger:
    """A boot that ran these functions."""
    totals = [sum(each.runs[window] for each in functions) for window in range(2)]
    return Ledger(
        operations=OPERATIONS,
        windows=[
            Window(instructions=total, left_out=0, unresolved=0, seconds=total * 2e-9)
            for total in totals
        ],
        functions=list(functions),
        footprint=Footprint(lines=lines, pages=pages, branches=branches),
    )
