"""The set-up's own small parts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY

SCRIPTS = REPOSITORY / "scripts"


def uv_settings(pip_configuration: str, home: Path, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, SCRIPTS / "pip_to_uv.py"],
        input=pip_configuration,
        env={"HOME": str(home), "PATH": os.defpath, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_uv_is_given_the_index_that_pip_uses(tmp_path: Path) -> None:
    settings = uv_settings(
        "global.index-url='https://mirror.example/simple'\n"
        "global.timeout='60'\n"
        "global.find-links='/a\\n/b'\n"
        ":env:.extra-index-url='https://one.example https://two.example'\n",
        tmp_path,
    )
    assert settings == [
        "export UV_DEFAULT_INDEX=https://mirror.example/simple",
        "export UV_FIND_LINKS=/a,/b",
        "export UV_INDEX='https://one.example https://two.example'",
    ]


def test_what_is_set_for_uv_itself_wins(tmp_path: Path) -> None:
    pip = "global.index-url='https://mirror.example/simple'\n"
    assert uv_settings(pip, tmp_path, UV_INDEX_URL="https://own.example") == []
    (tmp_path / ".config" / "uv").mkdir(parents=True)
    (tmp_path / ".config" / "uv" / "uv.toml").write_text("")
    assert uv_settings(pip, tmp_path) == []


def test_a_hostile_value_stays_one_word(tmp_path: Path) -> None:
    assert uv_settings("global.cert='/x; touch pwned'\n", tmp_path) == [
        "export SSL_CERT_FILE='/x; touch pwned'"
    ]


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of what the requirements script reads."""
    for name in ("scripts", "requirements"):
        shutil.copytree(REPOSITORY / name, tmp_path / name)
    return tmp_path


def check_requirements(house: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [house / "scripts" / "requirements", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )


def test_compiled_requirements_belong_to_their_sources(house: Path) -> None:
    done = check_requirements(house)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_requirement_added_and_not_compiled_is_noticed(house: Path) -> None:
    with (house / "requirements" / "base.in").open("a") as file:
        file.write("flask\n")
    done = check_requirements(house)
    assert done.returncode != 0
    assert "requirements/base.txt requirements/dev.txt" in done.stderr
    assert "make requirements" in done.stderr


def test_every_pinned_package_has_hashes_and_none_an_address() -> None:
    for file in (REPOSITORY / "requirements").glob("*.txt"):
        text = file.read_text()
        assert text.count("==") <= text.count("--hash=sha256:"), file
        assert "://" not in text, file


def test_no_lock_file_names_a_registry() -> None:
    assert '"resolved"' not in (REPOSITORY / "web" / "package-lock.json").read_text()


def test_help_names_every_target() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    named = {line.split()[1] for line in lines if line.startswith("  make ")}
    declared = next(
        line for line in (REPOSITORY / "Makefile").read_text().splitlines() if ".PHONY" in line
    )
    assert named == set(declared.split()[1:])
