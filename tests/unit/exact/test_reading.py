"""A counted pass as a host leaves it: a real one, and whatever a hostile one may write."""

from __future__ import annotations

import json
import shutil
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mitigauge.analysis.profiles.capture._disassemble import Refused
from mitigauge.analysis.profiles.exact._read import (
    BLOCK,
    KERNEL,
    STOP,
    Symbol,
    executions,
    with_lines,
)
from mitigauge.analysis.profiles.exact.footprint import Counts, Key
from mitigauge.analysis.profiles.exact.ledger import Ledger
from mitigauge.analysis.profiles.exact.operation import operation_of
from mitigauge.analysis.profiles.exact.reading import read_ledger
from mitigauge.core.errors import InvalidInput

# `perf bench syscall basic --loop 300000` on lab-intel, Debian's 7.2 kernel.
REAL = Path(__file__).with_name("fixtures") / "syscall"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return Path(shutil.copytree(REAL, tmp_path / "exact"))


def rewritten(directory: Path, change: Callable[[bytearray, int], None], number: int = 1) -> None:
    """Change a window's file; the change gets its bytes, and where its blocks begin."""
    path = directory / f"window-{number}.z"
    body = bytearray(zlib.decompress(path.read_bytes()))
    [size] = struct.unpack_from("<I", body, 8)
    change(body, 12 + size)
    path.write_bytes(zlib.compress(bytes(body)))


def retold(directory: Path, **changes: Any) -> None:
    """Change fields of exact.json."""
    path = directory / "exact.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def header(directory: Path, **changes: Any) -> None:
    """Change fields of a window's header."""

    def change(body: bytearray, at: int) -> None:
        text = json.dumps(json.loads(body[12:at]) | changes).encode()
        body[8:at] = struct.pack("<I", len(text)) + text

    rewritten(directory, change)


def with_data(directory: Path, lines: list[tuple[int, int, int]], claimed: int = -1) -> None:
    """Give both windows the form that has lines of data, with these."""
    for number in (1, 2):
        path = directory / f"window-{number}.z"
        body = zlib.decompress(path.read_bytes())
        [size] = struct.unpack_from("<I", body, 8)
        told = json.loads(body[12 : 12 + size]) | {"data": True, "data_left_out": 7}
        text = json.dumps(told).encode()
        count = len(lines) if claimed < 0 else claimed
        head = b"MGXB" + struct.pack("<III", 2, len(text), count) + text
        listed = b"".join(struct.pack("<QQQ", *each) for each in lines)
        path.write_bytes(zlib.compress(head + listed + body[12 + size :]))


def test_lines_of_data_before_the_blocks_are_passed_over(directory: Path) -> None:
    plain = read_ledger(directory)
    with_data(directory, [(1, 9, 0), (2, 0, 9)])
    read = read_ledger(directory)
    assert (read.functions, read.footprint) == (plain.functions, plain.footprint)


@pytest.mark.parametrize("claimed", [5, 1 << 20, (1 << 32) - 1])
def test_more_lines_of_data_than_there_are_are_refused(directory: Path, claimed: int) -> None:
    with_data(directory, [(1, 2, 3)], claimed)
    assert refusal(directory)


def test_the_instructions_of_a_real_pass_are_its_measured_time() -> None:
    operation = operation_of([read_ledger(REAL)])
    assert operation.counted_ns == pytest.approx(operation.seconds * 1e9, rel=1e-4)
    # getppid() by itself: the entry, the call, the exit, the C library and perf's loop.
    names = {each.name for each in operation.functions.values() if each.is_whole}
    assert {"entry_SYSCALL_64", "do_syscall_64", "__do_sys_getppid", "getppid"} <= names
    assert operation.functions["libc.so.6", "getppid"].steady == 3


def test_a_ledger_comes_back_from_its_bytes() -> None:
    ledger = read_ledger(REAL)
    packed = ledger.to_bytes()
    assert Ledger.from_bytes(packed) == ledger
    assert len(packed) < 20_000


def test_addresses_that_are_alike_in_two_programs_are_told_apart_by_what_ran_there() -> None:
    ledger = read_ledger(REAL)
    places = [
        (function.module, function.name, line.place, line.code)
        for function in ledger.functions
        for line in function.lines
    ]
    assert len(places) == len(set(places))


@pytest.mark.parametrize(
    ("stopped", "runs"),
    [([], [5, 5, 5]), ([(1, 2)], [5, 3, 3]), ([(0, 1), (2, 1)], [4, 4, 3])],
)
def test_a_stopped_block_ran_what_stands_before(
    stopped: list[tuple[int, int]], runs: list[int]
) -> None:
    assert executions(5, 3, stopped) == runs


@pytest.mark.parametrize("stopped", [[(3, 1)], [(0, 6)]])
def test_a_block_cannot_stop_behind_itself_or_more_often_than_it_ran(
    stopped: list[tuple[int, int]],
) -> None:
    with pytest.raises(Refused):
        executions(5, 3, stopped)


def in_steps(directory: Path, started: int) -> None:
    """Make of window 1 windows of once, twice and three times its work, *started* blocks before."""
    body = zlib.decompress((directory / "window-1.z").read_bytes())
    [size] = struct.unpack_from("<I", body, 8)
    told = json.loads(body[12 : 12 + size])
    for number in (1, 2, 3):
        text = json.dumps(told | {"number": number, "left_out": 100 + 7 * number}).encode()
        blocks = scaled(body[12 + size :], number, started)
        head = b"MGXB" + struct.pack("<II", 1, len(text)) + text
        (directory / f"window-{number}.z").write_bytes(zlib.compress(head + blocks))
    said = json.loads((directory / "exact.json").read_text())["windows"][0]
    each, seconds = said["operations"], said["seconds"]
    windows = [
        {"number": number, "operations": each * number, "seconds": 0.5 + seconds * number}
        for number in (1, 2, 3)
    ]
    retold(directory, windows=windows)


def scaled(blocks: bytes, times: int, more: int) -> bytes:
    """The same blocks, each run so many times as often, and *more* times."""
    found, at = bytearray(blocks), 0
    while at < len(found):
        runs, *numbers, _, count, size, of_host, of_guest = BLOCK.unpack_from(found, at)[1:]
        struct.pack_into(
            "<QQQQ", found, at + 8, runs * times + more, *(each * times for each in numbers)
        )
        at += BLOCK.size + count + size
        for _ in range(of_host + of_guest):
            place, stops = STOP.unpack_from(found, at)
            STOP.pack_into(found, at, place, stops * times)
            at += STOP.size
    return bytes(found)


def test_what_windows_of_more_operations_have_more_is_the_operation(directory: Path) -> None:
    plain = read_ledger(directory)
    in_steps(directory, 1000)
    read = read_ledger(directory)
    assert read.operations == plain.operations
    assert [window.left_out for window in read.windows] == [7, 7]
    assert [window.seconds for window in read.windows] == [
        pytest.approx(plain.windows[0].seconds)
    ] * 2
    # The work of window 1 in both, and nothing of the blocks that ran before it.
    once = {each.name: each.runs[0] for each in plain.functions if each.runs[0]}
    assert {each.name: each.runs for each in read.functions} == {
        name: [runs, runs] for name, runs in once.items()
    }
    sums = [sum(each.runs[place] for each in read.functions) + 7 for place in (0, 1)]
    assert [window.instructions for window in read.windows] == sums


@pytest.mark.parametrize("operations", [[1, 2, 4], [1, 1, 1], [0, 0, 0], [2, 4, 5]])
def test_steps_of_other_numbers_of_operations_are_refused(
    directory: Path, operations: list[int]
) -> None:
    in_steps(directory, 0)
    windows = json.loads((directory / "exact.json").read_text())["windows"]
    for window, each in zip(windows, operations, strict=True):
        window["operations"] = each
    retold(directory, windows=windows)
    assert "numbers of operations" in refusal(directory)


def test_a_step_that_has_less_than_the_one_before_counts_as_nothing() -> None:
    counts = Counts([5, 3, 9], [1, 1, 1])
    counts.take_steps()
    assert counts == Counts([0, 6], [0, 0])


def refusal(directory: Path) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_ledger(directory)
    return caught.value.message


def test_windows_whose_marks_were_wrong_are_refused(directory: Path) -> None:
    header(directory, whole=False)
    assert "not ended before another" in refusal(directory)
    header(directory, whole=True, nested=1)
    assert "without their counterpart" in refusal(directory)
    header(directory, nested=0, unmatched=1)
    assert "without their counterpart" in refusal(directory)


def test_another_windows_file_is_refused(directory: Path) -> None:
    shutil.copy(directory / "window-2.z", directory / "window-1.z")
    assert "says that it is 2" in refusal(directory)


def test_a_missing_window_is_said(directory: Path) -> None:
    (directory / "window-2.z").unlink()
    assert "window-2.z is missing" in refusal(directory)


def test_a_torn_window_is_refused(directory: Path) -> None:
    path = directory / "window-1.z"
    path.write_bytes(path.read_bytes()[:-100])
    assert "torn" in refusal(directory)


def test_a_window_that_unpacks_without_end_is_refused(directory: Path) -> None:
    (directory / "window-1.z").write_bytes(zlib.compress(bytes(200 << 20), 1))
    assert "torn" in refusal(directory)


def test_counts_that_overflow_are_refused(directory: Path) -> None:
    def overflow(body: bytearray, at: int) -> None:
        struct.pack_into("<Q", body, at + 8, (1 << 64) - 1)

    rewritten(directory, overflow)
    assert "overflowed" in refusal(directory)


def test_a_block_that_lies_about_its_bytes_is_refused(directory: Path) -> None:
    def lie(body: bytearray, at: int) -> None:
        struct.pack_into("<H", body, at + 46, 1)

    rewritten(directory, lie)
    assert refusal(directory)


def test_more_blocks_than_were_told_are_refused(directory: Path) -> None:
    header(directory, blocks=10)
    assert "more than 10 blocks" in refusal(directory)
    header(directory, blocks=10_000_000)
    assert "blocks are there" in refusal(directory)


@pytest.mark.parametrize(
    "changes",
    [
        {"windows": []},
        {"windows": [{"number": 1, "operations": 0, "seconds": 1}] * 2},
        {"symbols": "all"},
        {"symbols": [[5, 5, "empty", "kernel"]]},
        {"symbols": [[KERNEL, KERNEL + 1, 7, "kernel"]]},
        {"symbols": [[1, 2]]},
        {"symbols": [[-5, 5, "below", "kernel"]]},
    ],
)
def test_what_no_runner_writes_is_refused(directory: Path, changes: dict[str, Any]) -> None:
    retold(directory, **changes)
    assert refusal(directory)


def test_names_that_a_terminal_obeys_are_spelled(directory: Path) -> None:
    symbols = json.loads((directory / "exact.json").read_text())["symbols"]
    retold(directory, symbols=[[start, end, "\x1b[31mred", of] for start, end, _, of in symbols])
    names = {function.name for function in read_ledger(directory).functions}
    assert not any("\x1b" in name for name in names)


def test_a_pass_that_failed_says_why(directory: Path) -> None:
    retold(directory, state="failed", detail="10.0.2.100:8: marks: no answer")
    assert refusal(directory) == "10.0.2.100:8: marks: no answer"


def test_no_pass_is_said(tmp_path: Path) -> None:
    assert refusal(tmp_path) == "the host left none"


def test_lines_that_find_no_room_leave_their_functions_sums(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def symbol(start: int, name: str) -> Symbol:
        return Symbol(start, start + 100, name, "program" if start < KERNEL else "kernel")

    def lines(start: int, count: int, runs: int) -> list[tuple[Key, Counts]]:
        return [((start + each, b"\x90", False), Counts([runs, runs])) for each in range(count)]

    seldom, often = symbol(KERNEL, "seldom"), symbol(KERNEL + 1000, "often")
    of = {
        seldom: lines(KERNEL, 2, 5),
        often: lines(KERNEL + 1000, 3, 50),
        (user := symbol(5000, "user")): lines(5000, 1, 900),
        symbol(9000, "too seldom"): lines(9000, 1, 1),
    }
    assert with_lines(of, 10) == {seldom, often, user}
    monkeypatch.setattr("mitigauge.analysis.profiles.exact._read.MOST_LINES", 5)
    assert with_lines(of, 10) == {seldom, often}
    monkeypatch.setattr("mitigauge.analysis.profiles.exact._read.MOST_LINES", 4)
    assert with_lines(of, 10) == {often}
