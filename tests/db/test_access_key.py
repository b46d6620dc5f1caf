"""A machine whose access key is not the service's is noticed before it refuses anybody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mitigauge.settings import CODE

pytestmark = pytest.mark.usefixtures("engine")


def call(home: Path, url: str, *words: str, timeout_s: float = 60) -> tuple[int, str]:
    """A command on the machine with that state directory: its exit code, and what it said."""
    kept = {name: value for name, value in os.environ.items() if "MITIGAUGE" not in name}
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", *words], cwd=CODE, timeout=timeout_s, check=False,
        env={**kept, "MITIGAUGE_HOME": str(home), "MITIGAUGE_DATABASE_URL": url},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    return done.returncode, " ".join(done.stdout.split())


def test_another_key_is_refused_by_name_until_it_is_the_same(
    tmp_path: Path, database_url: str
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    code, said = call(first, database_url, "token", "create", "alice", "--role", "viewer")
    assert code == 0, said
    code, said = call(second, database_url, "token", "create", "bob", "--role", "viewer")
    assert code == 1
    assert "is not the one of this service" in said
    assert "(alice)" in said
    code, said = call(second, database_url, "serve", "--port", "0")
    assert code == 1
    assert "Copy access-key from the machine" in said
    (second / "access-key").unlink()
    (second / "access-key").write_bytes((first / "access-key").read_bytes())
    code, said = call(second, database_url, "token", "create", "bob", "--role", "viewer")
    assert code == 0, said


def test_where_the_key_is_lost_ending_its_tokens_is_the_way_out(
    tmp_path: Path, database_url: str
) -> None:
    call(tmp_path, database_url, "token", "create", "alice", "--role", "viewer")
    (tmp_path / "access-key").unlink()
    assert call(tmp_path, database_url, "token", "create", "bob", "--role", "viewer")[0] == 1
    assert call(tmp_path, database_url, "token", "revoke", "alice")[0] == 0
    code, said = call(tmp_path, database_url, "token", "create", "bob", "--role", "viewer")
    assert code == 0, said
