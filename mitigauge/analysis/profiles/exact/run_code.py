"""What an operation runs of the kernel's functions, as it is kept beside a ledger. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import orjson
import zstandard

from mitigauge.analysis.profiles.exact.ledger import Ledger, LedgerFunction
from mitigauge.analysis.profiles.store.pack import inflated

# Of what `packed` writes; another one is worked out of the ledger anew.
_FORM = 3


class Executed(NamedTuple):
    """Instructions of a function that ran equally often, one behind the other.

    *begin*, *end*: where the first one lies and where the last one ends, in bytes from the
    function's start. *instructions*: all of them together, an operation.
    """

    begin: int
    end: int
    instructions: float


RunCode = Mapping[str, Sequence[Executed]]
"""By function of the kernel what ran of it, in order; empty where only the function is known."""


class CodeRun(NamedTuple):
    """What a ledger tells of the kernel's code.

    *is_whole*: whether that is all of it that ran; else what has no name, or found no room, may be
    anything.
    """

    functions: RunCode
    is_whole: bool


def code_run(ledger: Ledger) -> CodeRun:
    """The functions of the kernel that ran in the windows, modules' included, however seldom.

    Interrupts and other programs are among them: what they run may differ as well.
    """
    per = ledger.operations * len(ledger.windows)
    found: dict[str, list[LedgerFunction]] = {}
    for function in ledger.functions:
        if function.is_kernel and any(function.runs):
            found.setdefault(function.name, []).append(function)
    nameless = found.pop("", None)
    placed = sum(sum(function.runs) for function in ledger.functions)
    is_whole = placed == sum(window.instructions for window in ledger.windows)
    functions = {name: _executed(functions, per) for name, functions in found.items()}
    return CodeRun(functions, is_whole and not nameless)


def _executed(functions: Sequence[LedgerFunction], per: int) -> list[Executed]:
    """Nothing where several have the name, or where instructions are missing in what is kept."""
    [function, *others] = functions
    if others or sum(sum(line.runs) for line in function.lines) != sum(function.runs):
        return []
    return list(_joined(function, per))


def _joined(function: LedgerFunction, per: int) -> Iterator[Executed]:
    begin, end, runs, count = 0, 0, -1, 0
    for line in sorted(function.lines, key=lambda each: each.place):
        size = len(line.code) // 2
        if line.place == end and sum(line.runs) == runs:
            end, count = end + size, count + 1
            continue
        if count:
            yield Executed(begin, end, round(runs * count / per, 6))
        begin, end, runs, count = line.place, line.place + size, sum(line.runs), 1
    if count:
        yield Executed(begin, end, round(runs * count / per, 6))


def packed(code: CodeRun) -> bytes:
    """As it is stored."""
    # By columns: a list for each part of 100,000 takes longer to read than all else.
    columns = {name: list(zip(*each, strict=True)) for name, each in code.functions.items()}
    told = orjson.dumps([_FORM, code.is_whole, columns])
    return zstandard.ZstdCompressor(level=12).compress(told)


def unpacked(stored: bytes | None, wanted: Collection[str] | None = None) -> CodeRun | None:
    """What :func:`packed` made; None for what is missing or in another form.

    Of functions that are not *wanted* their names alone, for there may be 100,000 parts of all.
    """
    if stored is None:
        return None
    form, *told = orjson.loads(inflated(stored))
    if form != _FORM:
        return None
    is_whole, code = told
    functions = {
        name: list(map(Executed, *columns)) if columns and _is_in(name, wanted) else []
        for name, columns in code.items()
    }
    return CodeRun(functions, is_whole)


def _is_in(name: str, wanted: Collection[str] | None) -> bool:
    return wanted is None or name in wanted
