"""Secrets and inventories of real hosts get into no image and no commit."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY

SECRET = (
    ".env",
    ".env.production",
    "deploy/team.env",
    "web/.env.local",
    ".mitigauge/access-key",
    ".mitigauge/lab/id_ed25519",
    "sub/.mitigauge/blobs/ab/abcd",
    "ansible/envs/fleet/hosts.yml",
    "ansible/envs/fleet/group_vars/all.yml",
    "ansible/envs/hosts.yml",
    "access-key",
    "state/access-key",
    ".ssh/config",
    "id_rsa",
    "keys/id_ed25519",
    "keys/id_ed25519.pub",
    "keys/id_ecdsa",
    "tls/server.key",
    "tls/server.pem",
    "signing.p12",
    "signing.pfx",
    ".netrc",
    ".pgpass",
    "docker-compose.override.yml",
)
WANTED = (
    "ansible/envs/lab/hosts.yml",
    "ansible/envs/example/hosts.yml",
    "ansible/envs/example/group_vars/all.yml",
    "mitigauge/core/settings.py",
    "pipelines/adapters/power/password.py",
    "mitigauge/access/secret.py",
    "docker-compose.yml",
    "requirements/base.txt",
)


def pattern_of(line: str) -> re.Pattern[str]:
    """A line of .dockerignore as docker reads it: `filepath.Match` of Go, and `**` for any depth.

    It matches whole paths from the root, and whatever lies below what it matches.
    """
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", line.strip("/"))
    return re.compile("".join(words.get(part, re.escape(part)) for part in parts) + "(?:/.*)?")


def in_context(ignored: str, paths: Iterable[str]) -> set[str]:
    """Those of *paths* that docker sends: of the lines that match one, the last decides."""
    lines = [line for line in ignored.splitlines() if line and not line.startswith("#")]
    rules = [(line.startswith("!"), pattern_of(line.removeprefix("!"))) for line in lines]

    def sent(path: str) -> bool:
        return next((keeps for keeps, rule in reversed(rules) if rule.fullmatch(path)), True)

    return {path for path in paths if sent(path)}


@pytest.mark.parametrize(
    ("ignored", "kept"),
    [
        ("a", {"b/a", "b/c.key", "d/e"}),
        ("**/a", {"b/c.key", "d/e"}),
        ("*.key", {"a", "b/a", "b/c.key", "d/e"}),
        ("**/*.key", {"a", "b/a", "d/e"}),
        ("b", {"a", "d/e"}),
        ("*\n!b", {"b/a", "b/c.key"}),
        ("!b\n*", set()),
        ("# a\n\nd/?", {"a", "b/a", "b/c.key"}),
    ],
)
def test_the_matcher_reads_lines_as_docker_describes_them(ignored: str, kept: set[str]) -> None:
    assert in_context(ignored, ["a", "b/a", "b/c.key", "d/e"]) == kept


def test_no_secret_gets_into_the_image() -> None:
    ignored = (REPOSITORY / ".dockerignore").read_text()
    assert in_context(ignored, [*SECRET, *WANTED]) == set(WANTED)


def test_the_whole_of_the_project_gets_into_the_image() -> None:
    """No pattern against secrets takes a file away that the image needs."""
    if not (REPOSITORY / ".git").exists():
        pytest.skip("needs a checkout")
    listed = subprocess.run(
        ["git", "-C", REPOSITORY, "ls-files", "-z"], capture_output=True, text=True, check=True
    )
    files = [path for path in listed.stdout.split("\0") if path]
    ignored = (REPOSITORY / ".dockerignore").read_text()
    assert set(files) - in_context(ignored, files) == set()


def test_no_secret_gets_into_a_commit(tmp_path: Path) -> None:
    """As git says it, in a repository that has nothing but these files."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    shutil.copy(REPOSITORY / ".gitignore", tmp_path)
    for path in (*SECRET, *WANTED):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    said = subprocess.run(
        ["git", "-C", tmp_path, "-c", "core.excludesFile=", "check-ignore", "--stdin"],
        input="\n".join((*SECRET, *WANTED)), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert set(said.stdout.split()) == set(SECRET)
    subprocess.run(["git", "-C", tmp_path, "add", "--all"], check=True)
    taken = subprocess.run(
        ["git", "-C", tmp_path, "ls-files"], capture_output=True, text=True, check=True
    )
    assert set(taken.stdout.split()) == {*WANTED, ".gitignore"}
