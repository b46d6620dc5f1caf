"""Which functions of the kernel an operation runs, as it is kept beside a ledger. Pure."""

from __future__ import annotations

from typing import NamedTuple

import orjson
import zstandard

from mitigauge.analysis.profiles.exact.ledger import Ledger
from mitigauge.analysis.profiles.store.pack import inflated

# Of what `packed` writes; another one is worked out of the ledger anew.
_FORM = 4


class CodeRun(NamedTuple):
    """What a ledger tells of the kernel's code: the names of functions.

    *is_whole*: whether that is all of it that ran; else what has no name, or found no room, may be
    anything.
    """

    functions: frozenset[str]
    is_whole: bool


def code_run(ledger: Ledger) -> CodeRun:
    """The functions of the kernel that ran in the windows, modules' included, however seldom.

    Interrupts and other programs are among them: what they run may differ as well.
    """
    names = {each.name for each in ledger.functions if each.is_kernel and any(each.runs)}
    placed = sum(sum(function.runs) for function in ledger.functions)
    is_whole = placed == sum(window.instructions for window in ledger.windows)
    return CodeRun(frozenset(names - {""}), is_whole and "" not in names)


def packed(code: CodeRun) -> bytes:
    """As it is stored."""
    told = orjson.dumps([_FORM, code.is_whole, sorted(code.functions)])
    return zstandard.ZstdCompressor(level=12).compress(told)


def unpacked(stored: bytes | None) -> CodeRun | None:
    """What :func:`packed` made; None for what is missing or in another form."""
    if stored is None:
        return None
    form, *told = orjson.loads(inflated(stored))
    if form != _FORM:
        return None
    is_whole, functions = told
    return CodeRun(frozenset(functions), is_whole)
