"""`mitigauge profile show`, as a process: shares as a reader of perf's text counts them."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY

RECORDED = REPOSITORY / "tests/fixtures/profiles/syscall-basic.perf.script.gz"


def show(*arguments: str, home: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "profile", "show", *arguments],
        capture_output=True, text=True, check=False, timeout=120, cwd=REPOSITORY,
        env={**os.environ, "MITIGAUGE_HOME": str(home)},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done


def leaves_of(text: str) -> Counter[str]:
    """Period by the function at the top of each sample's stack, read by line."""
    leaves: Counter[str] = Counter()
    for sample in text.split("\n\n"):
        head, *frames = sample.strip().splitlines() or [""]
        period = re.search(r": +(\d+) \S+: *$", head)
        leaf = re.match(r"\s*[0-9a-f]+ (.+?)(?:\+0x[0-9a-f]+)? \(", frames[0]) if frames else None
        if period and leaf:
            leaves[leaf[1]] += int(period[1])
    return leaves


def test_own_costs_are_those_of_the_tops_of_stacks(tmp_path: Path) -> None:
    leaves = leaves_of(gzip.decompress(RECORDED.read_bytes()).decode())
    told: dict[str, Any] = json.loads(
        show(str(RECORDED), "--json", "--above", "0", home=tmp_path).stdout
    )
    own = {row["function"]: row["self_percent"] for row in told["functions"]}
    for name in ("do_syscall_64", "__x64_sys_getppid", "__GI___getppid"):
        expected = 100 * leaves[name] / leaves.total()
        assert expected > 10
        assert own[name] == pytest.approx(expected, abs=0.01)
    assert sum(own.values()) == pytest.approx(100)
    assert told["event"] == "cpu-clock"
    # No database was started for it.
    assert not (tmp_path / "postgres").exists()


def test_with_all_that_it_calls_the_caller_comes_first(tmp_path: Path) -> None:
    lines = show(str(RECORDED), "--total", home=tmp_path).stdout.splitlines()
    names = [line.split()[-1] for line in lines if re.match(r"\d", line) and "samples" not in line]
    assert names.index("__GI___getppid") < names.index("do_syscall_64")


@pytest.mark.parametrize("text", ["", "# captured on: Mon\n", "\n\n"])
def test_a_file_without_samples_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "empty.txt").write_text(text)
    assert "error: " in show(str(tmp_path / "empty.txt"), home=tmp_path, code=1).stderr


def test_an_event_that_was_not_recorded_is_told_from_an_empty_recording(tmp_path: Path) -> None:
    done = show(str(RECORDED), "--event", "nosuch", home=tmp_path, code=1)
    said = " ".join(done.stderr.split())
    assert "has no sample of nosuch, and 206 of other events" in said


def test_folded_stacks_are_counted_and_have_no_samples(tmp_path: Path) -> None:
    (tmp_path / "a.folded").write_text("app;main;f 1000000\napp;main;g 500001\n")
    told = " ".join(show(str(tmp_path / "a.folded"), home=tmp_path).stdout.split())
    assert "1,500,001 in all, as the stacks count" in told
    assert "samples" not in told
