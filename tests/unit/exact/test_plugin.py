"""The emulator's plugin: what it counts of a program whose instructions are known."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab.exact.plugin import NoPluginError, ensure_plugin, interface_of
from mitigauge.profiles.exact._read import Block, blocks, data_lines, header_of
from mitigauge.profiles.exact.footprint import DataLine, data_footprint


@dataclass(frozen=True)
class Counted:
    """What a window's file holds."""

    header: dict[str, Any]
    lines: list[DataLine]
    blocks: list[Block]


def read(directory: Path, number: int) -> Counted:
    body = (directory / f"window-{number}").read_bytes()
    header, at = header_of(body, number)
    lines, at = data_lines(body, at)
    return Counted(dict(header), list(lines), list(blocks(body, at, header["blocks"])))


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


def test_code_that_is_changed_is_counted_as_what_ran(windows: Path) -> None:
    before, after = bytes.fromhex("41"), bytes.fromhex("42")
    runs = runs_of(read(windows, 7).blocks)
    assert (runs[before], runs[after]) == (1, 1)


def test_accesses_are_counted_by_the_line_that_they_lie_in(windows_with_data: Path) -> None:
    window = read(windows_with_data, 0)
    assert window.header["data"] is True
    accesses = [(line.reads, line.writes) for line in sorted(window.lines)]
    assert accesses == [(100, 0), (100, 200), (0, 200), (0, 100), (1, 0)]
    numbers = sorted(line.number for line in window.lines)
    assert numbers == list(range(numbers[0], numbers[0] + 5))
    assert data_footprint(window.lines, 100, 0) == {
        "lines": 4, "written": 3, "pages": 1, "seldom": 1, "left_out": 0,
    }  # fmt: skip


def test_counting_data_changes_nothing_else(windows: Path, windows_with_data: Path) -> None:
    for number in (0, 1, 5, 6, 7):
        plain, counted = read(windows, number), read(windows_with_data, number)
        assert (plain.header["data"], plain.lines) == (False, [])
        # Where the emulator cuts code into blocks is its own affair.
        assert runs_of(plain.blocks) == runs_of(counted.blocks)


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
