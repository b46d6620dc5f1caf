"""The hook that checks a commit, in a repository of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY

HOOK = "scripts/hooks/pre-commit"
# What needs the whole project.
SKIP = "mypy imports"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with the hook turned on as CONTRIBUTING.md says."""
    for name in ("scripts/lib.sh", "scripts/yamllint.yml", HOOK, "pyproject.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "core.hooksPath", "scripts/hooks")
    return tmp_path


def git(checkout: Path, *arguments: str, skip: str = SKIP) -> subprocess.CompletedProcess[str]:
    """Git in the checkout, as somebody whose own configuration does not count."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    somebody = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    for role in ("AUTHOR", "COMMITTER"):
        somebody |= {f"GIT_{role}_NAME": "n", f"GIT_{role}_EMAIL": "e@example.org"}
    return subprocess.run(
        ["git", *arguments],
        cwd=checkout,
        env=inherited | somebody | {"SKIP": skip},
        capture_output=True,
        text=True,
        check=False,
    )


def commit(checkout: Path, *files: str, skip: str = SKIP) -> str:
    """What the hook complains of; empty where the commit was made."""
    git(checkout, "add", *files)
    done = git(checkout, "commit", "--quiet", "-m", "x", skip=skip)
    made = git(checkout, "log", "--oneline").stdout
    assert bool(made) == (done.returncode == 0)
    return done.stderr


@pytest.mark.parametrize(
    ("file", "text", "check"),
    [
        ("a.py", '"""A."""\n\nimport os\n', "ruff"),
        ("a.py", '"""A."""\n\nx  =  1\n', "format"),
        ("modes/a.yml", "a: 1\na: 2\n", "yamllint"),
        ("scripts/a.sh", "if true; then\n", "shell"),
        ("scripts/a", "#!/usr/bin/env bash\nif true; then\n", "shell"),
    ],
)
def test_a_faulty_file_is_not_committed(checkout: Path, file: str, text: str, check: str) -> None:
    (checkout / file).parent.mkdir(exist_ok=True)
    (checkout / file).write_text(text)
    said = commit(checkout, file)
    assert f"error: not committed: {check}\n" in said
    assert commit(checkout, file, skip=f"{SKIP} {check}") == ""


def test_sound_files_are_committed_and_others_are_not_looked_at(checkout: Path) -> None:
    (checkout / "a.py").write_text('"""A."""\n')
    (checkout / "ä b.yml").write_text("a: 1\n")
    (checkout / "faulty.py").write_text("import os\n")
    assert commit(checkout, "a.py", "ä b.yml") == ""


def test_without_the_tools_the_way_out_is_said(checkout: Path) -> None:
    (checkout / ".venv").unlink()
    (checkout / "a.py").write_text('"""A."""\n')
    said = commit(checkout, "a.py")
    assert "the tools of this checkout are missing" in said
    assert "make setup" in said
