"""`price measure --host` on a host that really boots: through Ansible, and nothing stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.conftest import Lab

pytestmark = pytest.mark.lab


def measured(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli.main", "price", "measure", "--host", "lab-amd", *words],
        capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip


def test_a_host_of_the_inventory_is_timed_and_left_as_it_was(lab: Lab) -> None:
    before = lab.run("lab-amd", "ls /tmp")
    done = measured("--seconds", "5", "--processes", "5")
    assert done.returncode == 0, done.stderr
    assert "EMULATED" in done.stdout
    assert "AMD EPYC-Rome" in done.stdout
    assert lab.run("lab-amd", "ls /tmp") == before


def test_an_emulated_host_is_no_row_of_the_table(tmp_path: Path) -> None:
    done = measured("-o", str(tmp_path))
    assert done.returncode != 0
    assert "emulated" in done.stderr
    assert list(tmp_path.iterdir()) == []
