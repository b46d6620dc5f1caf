"""Bases of a real server stay as long as they are needed, whatever clocks and disks do."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator

import pytest

from tests.pitr import YEAR_S, Archived, archived
from tests.postgres import folder


@pytest.fixture
def server() -> Iterator[Archived]:
    with archived(folder() / f"mgpitr-{uuid.uuid4().hex[:12]}") as made:
        yield made


def test_a_base_that_fails_or_is_cut_off_takes_the_place_of_none(server: Archived) -> None:
    server.keep = 2
    server.base()
    server.base()
    kept = server.bases()
    assert len(kept) == 2
    # The disk is full: no file grows beyond 1 MiB.
    for _ in range(3):
        server.run("bash", "-c", f"ulimit -f 1024; bash {server.scripts}/base once", fails=True)
        assert server.bases() == kept
    moment = server.write("kept")
    server.write("later")
    server.restore(moment)
    assert server.written() == ["kept"]


def test_a_clock_that_jumps_a_year_ahead_and_back_drops_no_newer_base(server: Archived) -> None:
    server.keep = 2
    server.base()
    server.ahead = True
    for _ in range(2):
        server.base()
    server.ahead = False
    newest: list[str] = []
    for _ in range(2):
        before = server.bases()
        server.base()
        newest += server.bases() - before
        assert set(newest) <= server.bases()
    assert server.bases() == set(newest)


def test_a_damaged_base_counts_for_none_and_an_older_one_serves(server: Archived) -> None:
    server.keep = 1
    server.base()
    (old,) = server.bases()
    server.keep = 2
    server.base()
    (damaged,) = server.bases() - {old}
    file = server.archive / "base" / damaged / "base.tar.gz"
    os.truncate(file, file.stat().st_size // 2)
    # What a killed one leaves.
    server.run("cp", "-r", str(file.parent), str(server.archive / "base" / ".part"))
    moment = server.write("1")
    server.write("2")
    assert f"base {damaged} is damaged" in server.base()
    assert {old, damaged} < server.bases()
    assert f"base {damaged} is damaged" in server.restore(moment)
    assert server.written() == ["1"]
    shutil.rmtree(file.parent)
    server.base()
    server.base()
    assert old not in server.bases()


@pytest.mark.deep
def test_bases_and_log_of_another_timeline_stay_as_long_as_the_present_needs_as_old_ones(
    server: Archived,
) -> None:
    server.keep = 2
    server.base()
    fork = server.write("1")
    server.write("2")
    server.base()
    both = server.bases()
    other = server.write("3")
    server.write("4")
    server.restore(fork)
    server.base()
    assert both < server.bases()
    server.restore(other)
    assert server.written() == ["1", "2", "3"]
    # With bases of its own the present needs no older ones.
    for _ in range(2):
        server.base()
    assert len(server.bases()) == 2
    names = {path.name[8:] for path in (server.archive / "log").glob("[0-9A-F]*[0-9A-F]")}
    assert min(names) >= "0000000000000003"


@pytest.mark.deep
def test_a_base_is_taken_at_once_on_a_new_timeline_and_where_the_newest_is_from_the_future(
    server: Archived,
) -> None:
    moment = server.write("1")
    with server.taking():
        server.wait_for(lambda: len(server.bases()) == 1)
    (path,) = (server.archive / "base").glob("*/backup_manifest")
    ahead = path.stat().st_mtime + YEAR_S
    os.utime(path, (ahead, ahead))
    with server.taking():
        server.wait_for(lambda: len(server.bases()) == 2)
    moment = server.write("2")
    server.restore(moment)
    with server.taking():
        server.wait_for(lambda: len(server.bases()) == 3)
    assert max(server.bases()).startswith("00000002-")
