"""The emulator's plugin: what it counts of a program whose instructions are known."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab.exact.plugin import NoPluginError, ensure_plugin, interface_of
from mitigauge.analysis.profiles.capture._disassemble import Refused
from mitigauge.analysis.profiles.exact._read import (
    Block,
    Symbol,
    blocks,
    header_of,
    require_own_marks,
)
from mitigauge.analysis.profiles.exact.footprint import is_repeated


@dataclass(frozen=True)
class Counted:
    """What a window's file holds."""

    header: dict[str, Any]
    blocks: list[Block]


def read(directory: Path, number: int) -> Counted:
    body = (directory / f"window-{number}").read_bytes()
    header, at = header_of(body, number)
    return Counted(dict(header), list(blocks(body, at, header["blocks"])))


def instructions(directory: Path, number: int) -> int:
    return sum(sum(block.runs) for block in read(directory, number).blocks)


def test_a_loop_is_counted_to_the_instruction(windows: Path) -> None:
    window = read(windows, 1)
    found = window.blocks
    assert window.header["whole"] is True
    assert sum(sum(block.runs) for block in found) == 1 + 2 * 1000
    # The jump back is taken each time but the last.
    assert sum(block.taken for block in found) == 999


def test_a_window_that_another_one_begins_in_is_not_whole(windows: Path) -> None:
    assert read(windows, 2).header["whole"] is False
    assert read(windows, 3).header["nested"] == 1


def test_an_end_without_its_beginning_is_told(windows: Path) -> None:
    assert not (windows / "window-4").exists()
    assert read(windows, 5).header["unmatched"] == 2
    # The nop, the other window's mark, which is an instruction here, and the jump to the end.
    assert instructions(windows, 5) == 3


def test_a_block_that_a_fault_stops_counts_what_ran_of_it(windows: Path) -> None:
    window = read(windows, 6)
    found = window.blocks
    assert window.header["unresolved"] == 0
    assert sum(sum(block.runs) for block in found) == 100 * (7 + 2)
    divide = bytes.fromhex("f7f1")
    assert runs_of(found)[divide] == 100


def test_what_a_fault_stops_at_a_blocks_last_instruction_ran_once(
    windows_of_faults: Path,
) -> None:
    window = read(windows_of_faults, 1)
    runs = runs_of(window.blocks)
    assert window.header["unresolved"] == 0
    for by_memory in ("ff23", "ff5304"):
        assert runs[bytes.fromhex(by_memory)] == 100
    # Two moves, a jump, a call, a return, two for the loop, and three of the handler twice.
    assert sum(runs.values()) == 100 * (2 + 2 + 1 + 2 + 2 * 3)


def test_an_opcode_of_0_is_no_prefix(windows_of_faults: Path) -> None:
    """`add %al, %bl` is 00 c3, and c3 alone a return, which reads memory."""
    window = read(windows_of_faults, 4)
    assert window.header["unresolved"] == 0
    assert runs_of(window.blocks)[bytes.fromhex("00c3")] == 1
    assert instructions(windows_of_faults, 4) == 2


def test_an_instruction_that_is_repeated_says_how_often(windows_of_faults: Path) -> None:
    """As the emulator's clock counts it: each repetition, and one more for the end."""
    found = [
        (runs, block.taken)
        for block in read(windows_of_faults, 2).blocks
        for code, runs in list(zip(block.code, block.runs, strict=True))[-1:]
        if code == bytes.fromhex("f3aa")
    ]
    runs, repeats = (sum(each) for each in zip(*found, strict=True))
    assert (runs, repeats) == (4096 + 1 + 1, 4096)
    assert is_repeated(bytes.fromhex("f3aa"))


def test_marks_of_code_elsewhere_hide_nothing_and_are_told(windows_of_faults: Path) -> None:
    window = read(windows_of_faults, 3)
    assert (window.header["whole"], window.header["nested"]) == (True, 0)
    # A call, the mark and a jump, three between the marks, the other mark, a return and a jump.
    assert instructions(windows_of_faults, 3) == 1 + 2 + 3 + 1 + 2
    assert window.header["foreign"] == 2
    assert window.header["foreign_at"] % 4096 == 0
    symbols = [Symbol(window.header["foreign_at"], window.header["foreign_at"] + 40, "sly", "x")]
    with pytest.raises(Refused, match="window 3: marks of others ran in it, 2 times, first in sly"):
        require_own_marks(window.header, symbols)
    require_own_marks(read(windows_of_faults, 1).header, symbols)


@pytest.mark.parametrize(
    "code", ["f3aa", "f3a4", "f348ab", "66f3ab", "f2ae", "f3a6", "f36e"]
)  # fmt: skip
def test_what_is_repeated_is_known_by_its_bytes(code: str) -> None:
    assert is_repeated(bytes.fromhex(code))
    assert not is_repeated(bytes.fromhex(code.replace("f3", "").replace("f2", "")))


@pytest.mark.parametrize("code", ["f3c3", "f30f1efa", "f2ff25", "f390", "f3", ""])
def test_other_instructions_have_such_a_prefix(code: str) -> None:
    assert not is_repeated(bytes.fromhex(code))


def test_code_that_is_changed_is_counted_as_what_ran(windows: Path) -> None:
    before, after = bytes.fromhex("41"), bytes.fromhex("42")
    runs = runs_of(read(windows, 7).blocks)
    assert (runs[before], runs[after]) == (1, 1)


def runs_of(found: list[Block]) -> Counter[bytes]:
    """How often each instruction ran, by its bytes."""
    runs: Counter[bytes] = Counter()
    for block in found:
        for code, times in zip(block.code, block.runs, strict=True):
            runs[code] += times
    return runs


@pytest.mark.parametrize(
    ("said", "interface"),
    [
        ("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)", 1),
        ("QEMU emulator version 8.2.2", 1),
        ("QEMU emulator version 9.2.0", 4),
        ("QEMU emulator version 10.0.8 (Debian)", 4),
    ],
)
def test_the_interface_follows_from_the_version(said: str, interface: int) -> None:
    assert interface_of(said) == interface


@pytest.mark.parametrize("said", ["QEMU emulator version 9.0.1", "nothing"])
def test_an_unknown_version_has_no_plugin(said: str) -> None:
    with pytest.raises(NoPluginError):
        interface_of(said)


def test_a_plugin_that_the_emulator_refuses_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Compiled for an interface that this emulator has not: its symbols are not there.
    monkeypatch.setattr("lab.exact.plugin.interface_of", _other_interface)
    with pytest.raises(NoPluginError, match="ended with 1"):
        ensure_plugin(tmp_path)
    assert not list(tmp_path.glob("*.so"))


def _other_interface(said: str) -> int:
    return 4 if interface_of(said) == 1 else 1


def test_without_a_compiler_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.exact.plugin.COMPILER", "no-such-compiler")
    with pytest.raises(NoPluginError, match="install gcc"):
        ensure_plugin(tmp_path)
