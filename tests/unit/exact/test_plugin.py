"""The emulator's plugin: what it counts of a program whose instructions are known."""

from __future__ import annotations

import json
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lab.exact.plugin import NoPluginError, ensure_plugin, interface_of
from mitigauge.profiles.exact._read import Block, blocks


def read(directory: Path, number: int) -> tuple[dict[str, Any], list[Block]]:
    """Header and blocks of a window."""
    body = (directory / f"window-{number}").read_bytes()
    [size] = struct.unpack_from("<I", body, 8)
    header = json.loads(body[12 : 12 + size])
    return header, list(blocks(body, 12 + size, header["blocks"]))


def instructions(directory: Path, number: int) -> int:
    return sum(sum(block.runs) for block in read(directory, number)[1])


def test_a_loop_is_counted_to_the_instruction(windows: Path) -> None:
    header, found = read(windows, 1)
    assert header["whole"] is True
    assert sum(sum(block.runs) for block in found) == 1 + 2 * 1000
    # The jump back is taken each time but the last.
    assert sum(block.taken for block in found) == 999


def test_a_window_that_another_one_begins_in_is_not_whole(windows: Path) -> None:
    assert read(windows, 2)[0]["whole"] is False
    assert read(windows, 3)[0]["nested"] == 1


def test_an_end_without_its_beginning_is_told(windows: Path) -> None:
    assert not (windows / "window-4").exists()
    assert read(windows, 5)[0]["unmatched"] == 2
    # The nop, the other window's mark, which is an instruction here, and the jump to the end.
    assert instructions(windows, 5) == 3


def test_a_block_that_a_fault_stops_counts_what_ran_of_it(windows: Path) -> None:
    header, found = read(windows, 6)
    assert header["unresolved"] == 0
    assert sum(sum(block.runs) for block in found) == 100 * (7 + 2)
    runs: Counter[bytes] = Counter()
    for block in found:
        runs.update(dict(zip(block.code, block.runs, strict=True)))
    divide = bytes.fromhex("f7f1")
    assert runs[divide] == 100


def test_code_that_is_changed_is_counted_as_what_ran(windows: Path) -> None:
    before, after = bytes.fromhex("41"), bytes.fromhex("42")
    runs: Counter[bytes] = Counter()
    for block in read(windows, 7)[1]:
        runs.update(dict(zip(block.code, block.runs, strict=True)))
    assert (runs[before], runs[after]) == (1, 1)


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
