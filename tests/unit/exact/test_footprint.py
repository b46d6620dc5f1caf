"""Code that an operation runs through, and branches that it does."""

from __future__ import annotations

import capstone
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mitigauge.analysis.profiles.exact.footprint import Branch, Counts, branch_of, footprint
from mitigauge.analysis.profiles.exact.footprint_table import footprint_rows
from mitigauge.analysis.profiles.exact.ledger import Branches, Line
from mitigauge.analysis.profiles.exact.operation import OperationFootprint, operation_of
from mitigauge.analysis.profiles.exact.reading import read_ledger
from mitigauge.analysis.profiles.exact.steady import WindowOf
from tests.unit.exact.ledgers import OPERATIONS, function, ledger
from tests.unit.exact.test_reading import REAL


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("7441", "direct"),  # je
        ("2e7441", "direct"),  # je, with a hint
        ("0f8452030000", "direct"),  # je, far away
        ("e8c1089dff", "direct"),  # callq
        ("2ee8c1089dff", "direct"),  # cs callq: padded by the kernel
        ("eb2f", "direct"),
        ("e2fe", "direct"),  # loop
        ("e3fe", "direct"),  # jrcxz
        ("ff250a99a800", "indirect"),  # jmpq *0xa8990a(%rip)
        ("ffd0", "indirect"),  # callq *%rax
        ("41ffd3", "indirect"),  # callq *%r11
        ("3effe0", "indirect"),  # notrack jmpq *%rax
        ("f2ff2510000000", "indirect"),  # bnd jmpq *
        ("ff1425c0fc0382", "indirect"),  # callq *, from a fixed address
        ("c3", "return"),
        ("f3c3", "return"),  # repz retq
        ("c20800", "return"),  # retq $8
        ("48cb", "return"),  # lretq
        ("ff7508", None),  # pushq
        ("ffc0", None),  # incl
        ("0f05", None),  # syscall
        ("480f07", None),  # sysretq
        ("48cf", None),  # iretq
        ("0faee8", None),  # lfence
        ("90", None),
        ("2e", None),
        ("48", None),
        ("", None),
    ],
)
def test_a_branch_is_known_by_its_bytes(code: str, kind: Branch | None) -> None:
    assert branch_of(bytes.fromhex(code)) == kind


LIKELY = st.sampled_from([b"\x2e", b"\x41", b"\x48", b"\x66", b"\xf2", b"\xff", b"\x0f", b""])


@given(LIKELY, LIKELY, st.binary(max_size=13))
def test_a_disassembler_agrees(first: bytes, second: bytes, rest: bytes) -> None:
    engine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    engine.syntax = capstone.CS_OPT_SYNTAX_ATT
    one = next(engine.disasm(first + second + rest, 1 << 40), None)
    if one is None:
        return
    word = one.mnemonic.rpartition(" ")[2]
    if word.startswith(("ret", "lret")):
        said: Branch | None = "return"
    elif word.startswith(("j", "ljmp", "call", "lcall", "loop")):
        said = "indirect" if one.op_str.startswith("*") else "direct"
    else:
        said = None
    assert branch_of(bytes(one.bytes)) == said


def test_what_interrupts_is_no_part_of_a_footprint() -> None:
    counts = {
        (0x1000, b"\xc3", False): Counts([3104, 3301], [3104, 3301]),
        # Jumps to it: once in each operation, twice, and where an interrupt does.
        (0x1010, b"\xe9\xeb\xff\xff\xff", False): Counts([1000, 1000], [0, 0]),
        (0x1015, b"\xeb\xe9", False): Counts([2000, 1999], [0, 0]),
        (0x1017, b"\xeb\xe7", False): Counts([10, 4], [0, 0]),
        (0x1040, b"\xff\xd0", False): Counts([1000, 1000], [1000, 1000]),
        (0x2000, b"\x74\x00", False): Counts([1000, 1000], [0, 1]),
        (0x9000, b"\xc3", False): Counts([20, 30], [20, 30]),
        (0x2002, b"\x90", False): Counts([1000, 1000], [5, 0]),
    }
    branches = {"taken": 4, "indirect": 1, "returns": 3}
    windows = [WindowOf(1000, 10), WindowOf(1000, 10)]
    assert footprint(counts, windows) == {"lines": 3, "pages": 2, "branches": branches}


def test_a_real_system_call_returns_ten_times() -> None:
    read = read_ledger(REAL)
    assert read.footprint.branches == Branches(taken=44, indirect=1, returns=10)


def test_the_lines_of_a_ledger_tell_the_same() -> None:
    read = read_ledger(REAL)
    by_lines = read.footprint.model_copy(update={"branches": None})
    without = read.model_copy(update={"footprint": by_lines})
    assert operation_of([without]).footprint == operation_of([read]).footprint


def test_boots_without_branches_are_told_by_their_lines_alone() -> None:
    each = [OPERATIONS, OPERATIONS]
    returns = function("f", {"retq": 1}).model_copy(
        update={"lines": [Line(0, "c3", "retq", "retq", each, 2 * OPERATIONS)]}
    )
    told = Branches(taken=9, indirect=9, returns=9)
    found = operation_of([ledger(returns), ledger(returns, branches=told)]).footprint
    assert (found.taken, found.indirect, found.returns) == (1, 0, 1)


def test_a_difference_is_whole_where_all_boots_of_a_side_agree() -> None:
    a = OperationFootprint(lines=10, pages=3, taken=5, indirect=0, returns=2)
    b = OperationFootprint(lines=12, pages=3.5, taken=4, indirect=0, returns=2)
    rows = {row.figure: (row.difference, row.exact) for row in footprint_rows(a, b)}
    assert rows["lines"] == (2, 2)
    assert rows["pages"] == (0.5, None)
    assert rows["taken"] == (-1, -1)


def test_boots_that_differ_have_no_whole_difference_though_their_mean_is_one() -> None:
    a = operation_of([ledger(lines=10), ledger(lines=12)]).footprint
    b = operation_of([ledger(lines=12)]).footprint
    rows = {row.figure: (row.difference, row.exact) for row in footprint_rows(a, b)}
    assert rows["lines"] == (1, None)
    assert rows["pages"] == (0, 0)
