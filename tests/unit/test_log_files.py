"""Logs are shortened while somebody goes on appending to them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mitigauge.storage.files.log_files import cut_log, hollow_log

LINE = b"%07d what the server said\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """100,000 lines of 28 bytes."""
    path = tmp_path / "some.log"
    path.write_bytes(b"".join(LINE % number for number in range(100_000)))
    return path


def test_a_log_is_cut_to_its_last_whole_lines_and_its_writer_goes_on(log: Path) -> None:
    with log.open("ab", buffering=0) as writer:
        size = log.stat().st_size
        went = cut_log(log, 1_000_000)
        writer.write(b"afterwards\n")
    lines = log.read_bytes().splitlines(keepends=True)
    assert went == size - sum(map(len, lines[:-1]))
    assert 490_000 < sum(map(len, lines)) <= 500_011
    first = int(lines[0][:7])
    assert lines == [LINE % number for number in range(first, 100_000)] + [b"afterwards\n"]


def test_a_hollowed_log_frees_the_disk_and_every_byte_left_keeps_its_place(log: Path) -> None:
    before = log.stat()
    whole = log.read_bytes()
    with log.open("ab", buffering=0) as writer:
        freed = hollow_log(log, 1_000_000)
        writer.write(b"afterwards\n")
    after = log.read_bytes()
    assert freed > 2_000_000
    assert log.stat().st_blocks * 512 < 600_000 < before.st_blocks * 512
    assert len(after) == len(whole) + len(b"afterwards\n")
    assert after[-500_011:] == (whole + b"afterwards\n")[-500_011:]
    assert hollow_log(log, 1_000_000) == 0


@pytest.mark.parametrize("shorten", [cut_log, hollow_log])
def test_a_log_within_its_limit_and_a_dry_run_change_nothing(log: Path, shorten: object) -> None:
    assert callable(shorten)
    before = log.read_bytes()
    blocks = log.stat().st_blocks
    assert shorten(log, len(before) * 2) == 0
    assert shorten(log, 1_000_000, dry_run=True) > 1_000_000
    assert log.read_bytes() == before
    assert log.stat().st_blocks == blocks


@pytest.mark.parametrize("shorten", [cut_log, hollow_log])
@pytest.mark.parametrize("kind", ["link", "second name", "directory", "pipe"])
def test_what_is_no_plain_log_is_left_alone(
    log: Path, tmp_path: Path, shorten: object, kind: str
) -> None:
    assert callable(shorten)
    path, before = tmp_path / "other.log", log.read_bytes()
    if kind == "link":
        path.symlink_to(log)
    elif kind == "second name":
        path.hardlink_to(log)
    elif kind == "directory":
        path.mkdir()
    else:
        os.mkfifo(path)
    assert shorten(path, 10) == 0
    assert log.read_bytes() == before
