"""A real server goes back to moments of several timelines; the bases that this needs stay."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.pitr import YEAR_S, Archived, archived
from tests.postgres import folder


@pytest.fixture
def server() -> Iterator[Archived]:
    with archived(folder() / f"mgpitr-{uuid.uuid4().hex[:12]}") as made:
        yield made


@pytest.mark.long("seven restores of a real server")
def test_each_of_five_moments_on_two_timelines_comes_back_exactly(server: Archived) -> None:
    server.base()
    moments = {server.write("1"): ["1"], server.write("2"): ["1", "2"]}
    fork = list(moments)[-1]
    moments[server.write("3")] = ["1", "2", "3"]
    server.restore(fork)
    assert server.written() == ["1", "2"]
    moments[server.write("4")] = ["1", "2", "4"]
    server.base()
    moments[server.write("5")] = ["1", "2", "4", "5"]
    for at in (2, 4, 0, 3, 1):
        moment = list(moments)[at]
        server.restore(moment)
        assert server.written() == moments[moment], at
        # What another timeline holds is in no other.
        server.write(f"after {at}")


def test_a_clock_a_year_ahead_leaves_moments_before_and_after_where_they_are(
    server: Archived,
) -> None:
    server.base()
    before = server.write("before")
    server.stop()
    archived_before = set((server.archive / "log").iterdir())
    server.ahead = True
    server.start()
    server.write("ahead")
    server.stop()
    server.ahead = False
    # Only what programs ask the clock is ahead here; files' times follow it.
    for path in {*(server.archive / "log").iterdir()} - archived_before:
        was = path.stat().st_mtime
        os.utime(path, (was + YEAR_S, was + YEAR_S))
    server.start()
    after = server.write("after")
    server.write("last")
    server.restore(after)
    assert server.written() == ["before", "ahead", "after"]
    server.restore(before)
    assert server.written() == ["before"]
    end = server.sql("SELECT clock_timestamp()")
    said = server.restore(end)
    assert "nothing was written after it" in said
    assert server.written() == ["before"]


def test_a_moment_out_of_reach_is_refused_and_nothing_is_changed(server: Archived) -> None:
    early = server.write("1")
    server.write("2")
    server.base()
    assert "the database runs" in server.script("restore", early, fails=True)
    server.stop()
    kept = sorted(path.name for path in server.data.rglob("*"))
    for moment in (early, "2001-01-01"):
        said = server.script("restore", moment, fails=True)
        assert f"no base is older than {moment} on timeline 1; the oldest moment is 20" in said
    oldest = said.split("the oldest moment is ")[1].strip()
    for words in (("yesterday",), ("2026-13-01",), ("",), ()):
        assert "moment" in server.script("restore", *words, fails=True)
    assert "is no timeline" in server.script("restore", early, "two", fails=True)
    assert "no log of timeline 7" in server.script("restore", early, "7", fails=True)
    assert "restore '2026" in server.script("restore", "--help")
    assert "base once" in server.script("base", "--help")
    assert sorted(path.name for path in server.data.rglob("*")) == kept
    said = server.script("restore", oldest)
    server.start()
    assert server.written() == ["1", "2"]


@pytest.mark.deep
def test_what_a_killed_server_had_not_archived_is_there_for_two_restores(server: Archived) -> None:
    server.base()
    moments = [server.write("1"), server.write("2")]
    server.write("3")
    server.stop("immediate")
    pid = server.data / "postmaster.pid"
    # So is it left where the whole machine stops.
    pid.touch()
    assert f"remove {pid}" in server.script("restore", moments[0], fails=True)
    pid.unlink()
    server.script("restore", moments[0])
    server.start()
    assert server.written() == ["1"]
    # The database's disk dies: the archive is all there is.
    server.stop("immediate")
    for path in server.home.glob("data*"):
        shutil.rmtree(path)
    server.script("restore", moments[1])
    server.start()
    assert server.written() == ["1", "2"]


def test_no_timeline_is_begun_twice_where_the_archive_was_full(server: Archived) -> None:
    server.base()
    fork = server.write("1")
    server.write("2")
    server.stop()
    server.script("restore", fork)
    log = server.archive / "log"
    log.chmod(0o555)
    server.start()
    second = server.write("on 2")
    server.write("later on 2")
    server.stop()
    said = server.script("restore", fork, fails=True)
    assert "00000002.history of the log cannot be archived" in said
    log.chmod(0o755)
    server.script("restore", fork)
    server.start()
    assert (log / "00000003.history").exists() or server.switch().startswith("00000003")
    server.restore(second)
    assert server.written() == ["1", "on 2"]


@pytest.mark.deep
def test_a_part_that_filled_the_disk_is_archived_whole_later(server: Archived) -> None:
    path = server.archive / "log" / server.switch()
    part = server.home / "part"
    shutil.copy2(path, part)
    path.unlink()
    archive = f"bash {server.scripts}/archive {part} {path.name}"
    part.chmod(0o644)
    server.run("bash", "-c", f"ulimit -f 1024; {archive}", fails=True)
    assert not path.exists()
    for _ in range(2):
        server.run("bash", "-c", archive)
        assert path.read_bytes() == part.read_bytes()
    part.write_bytes(part.read_bytes()[::-1])
    assert "differs" in server.run("bash", "-c", archive, fails=True)


@pytest.mark.deep
def test_a_server_that_is_put_back_goes_on_in_its_old_timeline(server: Archived) -> None:
    server.base()
    fork = server.write("1")
    server.write("2")
    server.restore(fork)
    second = server.write("on 2")
    server.write("later on 2")
    server.stop()
    (aside,) = server.home.glob("data.before-*")
    shutil.rmtree(server.data)
    aside.rename(server.data)
    server.start()
    first = server.write("3")
    server.write("4")
    server.restore(first)
    assert server.written() == ["1", "2", "3"]
    assert "along timeline 2" in server.restore(second, "2")
    assert server.written() == ["1", "on 2"]


@pytest.mark.deep
def test_a_moment_at_which_no_server_ran_has_what_the_last_one_left(server: Archived) -> None:
    # A server takes one target, and somebody who restored by hand left another.
    with (server.data / "postgresql.auto.conf").open("a") as settings:
        settings.write("recovery_target_time = '2026-01-01 00:00:00+00'\n")
    server.base()
    fork = server.write("1")
    server.write("2")
    server.stop()
    nobody = datetime.now(UTC).isoformat(sep=" ")
    server.script("restore", fork)
    server.start()
    server.write("3")
    assert "the end of the timeline" in server.restore(nobody)
    assert server.written() == ["1", "2"]


@pytest.mark.deep
def test_a_commit_that_begins_in_one_part_and_ends_in_the_next_is_found(server: Archived) -> None:
    server.base()
    server.write("1")
    moment = server.sql("SELECT clock_timestamp()")
    # 16 bytes before the end of a part: a commit takes 34, a message 54 beside its text.
    server.sql("""
        BEGIN;
        INSERT INTO written VALUES ('over the edge');
        DO $$
        DECLARE leaves bigint;
        BEGIN
            FOR tries IN 1 .. 100 LOOP
                leaves := (16 << 20) - (pg_current_wal_insert_lsn() - '0/0')::bigint % (16 << 20);
                IF leaves = 16 THEN RETURN; END IF;
                PERFORM pg_logical_emit_message(false, '', repeat('x', (CASE
                    WHEN leaves > 20000 THEN leaves * 99 / 100 - 8000
                    WHEN leaves > 3000 THEN 2000
                    WHEN leaves > 600 THEN 200
                    ELSE greatest(leaves - 70, 0) END)::int));
            END LOOP;
            RAISE 'the end of a part is not met';
        END $$;
        COMMIT;
    """)
    edge = server.sql("SELECT clock_timestamp()")
    server.write("2")
    server.restore(moment)
    assert server.written() == ["1"]
    server.restore(edge)
    assert server.written() == ["1", "over the edge"]
