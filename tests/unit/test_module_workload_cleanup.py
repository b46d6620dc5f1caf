"""The role workload's module that removes old jobs, on directories of our own."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from tests.loading import load

cleanup = load("ansible/roles/workload/library/workload_cleanup.py")

DAY = 86400


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of jobs none of which is running."""
    monkeypatch.setattr(cleanup, "unit_active", lambda _: False)
    (tmp_path / "jobs").mkdir()
    return tmp_path / "jobs"


def add_job(jobs: Path, name: str, days: float) -> Path:
    directory = jobs / name
    (directory / "case" / "profile").mkdir(parents=True)
    (directory / "case" / "profile" / "perf.script.zst").write_bytes(b"x" * 1000)
    (directory / "state.json").write_text("{}")
    moment = time.time() - days * DAY
    for path in (directory / "state.json", directory):
        os.utime(path, (moment, moment))
    return directory


def clean(jobs: Path, *, check_mode: bool = False, **given: Any) -> dict[str, int]:
    params = {"jobs": str(jobs), "keep_days": 14, "keep_newest": 2, "wait_s": 30, **given}
    counts: dict[str, int] = cleanup.clean_up(params, check_mode=check_mode)
    return counts


def left(jobs: Path) -> set[str]:
    return {path.name for path in jobs.iterdir()}


def test_old_jobs_go_and_the_newest_stay_whatever_their_age(jobs: Path) -> None:
    for days in (100, 50, 15, 13):
        add_job(jobs, f"boot-{days}", days)
    assert clean(jobs) == {"removed": 2, "kept": 0, "left": 0}
    assert left(jobs) == {"boot-15", "boot-13"}
    assert clean(jobs) == {"removed": 0, "kept": 0, "left": 0}
    assert clean(jobs, keep_newest=0) == {"removed": 1, "kept": 0, "left": 0}
    assert left(jobs) == {"boot-13"}


def test_a_job_that_still_writes_its_state_is_not_old(jobs: Path) -> None:
    directory = add_job(jobs, "boot-1", 100)
    os.utime(directory / "state.json")
    assert clean(jobs, keep_newest=0)["removed"] == 0


def test_a_job_whose_unit_is_active_stays(jobs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_job(jobs, "boot-1", 100)
    add_job(jobs, "boot-2", 100)
    monkeypatch.setattr(cleanup, "unit_active", lambda job: job == "boot-1")
    assert clean(jobs, keep_newest=0) == {"removed": 1, "kept": 1, "left": 0}
    assert left(jobs) == {"boot-1"}


def test_links_files_and_strange_names_are_left_alone(jobs: Path, tmp_path: Path) -> None:
    elsewhere = add_job(tmp_path, "elsewhere", 100)
    (jobs / "link").symlink_to(elsewhere)
    (jobs / "file").touch()
    os.utime(jobs / "file", (0, 0))
    add_job(jobs, "-strange name", 100)
    inside = add_job(jobs, "boot-1", 100)
    (inside / "out").symlink_to(elsewhere)
    os.utime(inside, (0, 0))
    assert clean(jobs, keep_newest=0)["removed"] == 1
    assert left(jobs) == {"link", "file", "-strange name"}
    assert (elsewhere / "state.json").is_file()


def test_time_that_is_up_leaves_the_rest_to_the_next_time(jobs: Path) -> None:
    for number in range(3):
        add_job(jobs, f"boot-{number}", 100)
    assert clean(jobs, keep_newest=0, wait_s=-1) == {"removed": 0, "kept": 0, "left": 3}
    assert len(left(jobs)) == 3


def test_what_resists_is_counted_and_the_next_one_goes(
    jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2):
        add_job(jobs, f"boot-{number}", 100 - number)
    really = shutil.rmtree

    def refusing(path: Path) -> None:
        if path.name == "boot-0":
            raise PermissionError(1, "Operation not permitted")
        really(path)

    monkeypatch.setattr(shutil, "rmtree", refusing)
    assert clean(jobs, keep_newest=0) == {"removed": 1, "kept": 1, "left": 0}


def test_check_mode_and_a_host_without_jobs_change_nothing(jobs: Path) -> None:
    add_job(jobs, "boot-1", 100)
    assert clean(jobs, keep_newest=0, check_mode=True)["removed"] == 1
    assert left(jobs) == {"boot-1"}
    assert clean(jobs / "none") == {"removed": 0, "kept": 0, "left": 0}
