"""A machine whose access key is not the service's is noticed before it refuses anybody."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.commands import Command

CREATE = ("token", "create", "--role", "viewer")

pytestmark = pytest.mark.usefixtures("engine")


def test_another_key_is_refused_by_name_until_it_is_the_same(
    tmp_path: Path, database_url: str
) -> None:
    first, second = (Command(tmp_path / name, database_url) for name in ("first", "second"))
    first.run(*CREATE, "alice")
    said = told(second.run(*CREATE, "bob", code=1))
    assert "is not the one of this service" in said
    assert "(alice)" in said
    said = told(second.run("serve", "--port", "0", code=1))
    assert "Copy access-key from the machine" in said
    (second.home / "access-key").unlink()
    (second.home / "access-key").write_bytes((first.home / "access-key").read_bytes())
    second.run(*CREATE, "bob")


def test_where_the_key_is_lost_ending_its_tokens_is_the_way_out(
    tmp_path: Path, database_url: str
) -> None:
    command = Command(tmp_path, database_url)
    command.run(*CREATE, "alice")
    (tmp_path / "access-key").unlink()
    command.run(*CREATE, "bob", code=1)
    command.run("token", "revoke", "alice")
    command.run(*CREATE, "bob")


def told(done: subprocess.CompletedProcess[str]) -> str:
    """All that a command said, in one line."""
    return " ".join((done.stdout + done.stderr).split())
