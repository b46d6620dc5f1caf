"""`kernel build` takes what `series add` takes: also the message-id of a thread, as a process."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY
from tests.unit.test_archive import said, serving

CASE = REPOSITORY / "tests/fixtures/cases/10-stable-subject"


def build(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli.main", "kernel", "build", "--check", *words],
        capture_output=True, text=True, check=False, timeout=120, cwd=REPOSITORY,
        env={**os.environ, "MITIGAUGE_HOME": str(home)},
    )  # fmt: skip


@pytest.fixture
def thread() -> bytes:
    mails = (path.read_bytes() for path in sorted(CASE.glob("*.eml")))
    first_line = b"From mboxrd@z Mon Sep 17 00:00:00 2001\n"
    return gzip.compress(b"".join(first_line + mail + b"\n" for mail in mails))


def test_the_patches_of_a_thread_are_those_of_its_mails(tmp_path: Path, thread: bytes) -> None:
    with serving(said(200, thread)) as archive:
        by_id = build(tmp_path, "20260101-x@example.org", "--archive", archive)
    by_files = build(tmp_path, str(CASE))
    assert by_id.returncode == 0, by_id.stderr
    assert by_id.stdout == by_files.stdout
    assert by_id.stdout.strip()


def test_a_thread_that_is_not_there_is_said(tmp_path: Path) -> None:
    with serving(said(404)) as archive:
        done = build(tmp_path, "20260101-x@example.org", "--archive", archive)
    assert done.returncode == 1
    assert "the thread of 20260101-x@example.org" in " ".join(done.stderr.split())


def test_of_several_revisions_the_latest_is_built(tmp_path: Path, thread: bytes) -> None:
    older = gzip.decompress(thread)
    newer = older.replace(b"[PATCH v5.10 ", b"[PATCH v5.10 v2 ").replace(b": second", b": again")
    newer = newer.replace(b"Message-ID: <", b"Message-ID: <v2-")
    assert b": again" in newer
    with serving(said(200, gzip.compress(older + newer))) as archive:
        done = build(tmp_path, "20260101-x@example.org", "--archive", archive)
    assert done.returncode == 0, done.stderr
    assert "x86/irq: again" in done.stdout
    assert "second" not in done.stdout
