"""Which tests `make quick` takes for a change."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY
from tests.loading import load

quick = load("scripts/quick.py")
IMPORTERS = {
    "mitigauge.core.stats.bounds": {"mitigauge.core.stats.verdict", "tests.unit.test_bounds"},
    "mitigauge.core.stats.verdict": {"mitigauge.reports.text", "tests.unit.test_verdict"},
    "mitigauge.reports.text": {"mitigauge.core.stats.bounds", "tests.unit.test_text"},
}
TEXTS = {
    "tests/unit/test_bounds.py": "",
    "tests/unit/test_verdict.py": "",
    "tests/unit/test_text.py": "",
    "tests/unit/test_spin.py": 'load("workloads/spin/parse.py")',
    "tests/unit/test_spins.py": 'REPOSITORY / "workloads/spin"',
    "tests/unit/test_setup.py": '"Makefile"',
}


def found(*changed: str, depth: int = 4) -> list[tuple[str, int, str]]:
    each = quick.tests_of(changed, IMPORTERS, TEXTS, depth)
    return [(f.path.removeprefix("tests/unit/"), f.distance, f.why) for f in each]


def test_nearest_importers_come_first_and_tell_through_what() -> None:
    assert found("mitigauge/core/stats/bounds.py") == [
        ("test_bounds.py", 1, "imports mitigauge.core.stats.bounds"),
        (
            "test_verdict.py",
            2,
            "imports mitigauge.core.stats.bounds through mitigauge.core.stats.verdict",
        ),
        (
            "test_text.py",
            3,
            "imports mitigauge.core.stats.bounds through mitigauge.reports.text, "
            "mitigauge.core.stats.verdict",
        ),
    ]


def test_what_is_further_away_than_asked_is_not_there() -> None:
    near = found("mitigauge/core/stats/bounds.py", depth=1)
    assert [name for name, *_ in near] == ["test_bounds.py"]


def test_a_changed_test_is_its_own_and_a_folder_is_its_package() -> None:
    assert found("tests/unit/test_text.py") == [("test_text.py", 0, "changed")]
    assert quick.module_of("mitigauge/core/stats/__init__.py") == "mitigauge.core.stats"
    assert quick.module_of("workloads/spin/parse.py") is None
    assert quick.module_of("mitigauge/README.md") is None


def test_what_is_no_module_is_found_by_its_name_or_its_folders() -> None:
    assert found("workloads/spin/parse.py") == [
        ("test_spin.py", 1, "names workloads/spin/parse.py"),
        ("test_spins.py", 2, "names workloads/spin"),
    ]
    assert found("Makefile") == [("test_setup.py", 1, "names Makefile")]
    assert found("workloads/other/run") == []


def chosen(budget_s: float, **seconds: float) -> tuple[list[str], list[str]]:
    files = [quick.Found(name, distance, "") for distance, name in enumerate(seconds)]
    choice = quick.chosen(files, seconds, budget_s)
    return [f.path for f in choice.run], [f.path for f in choice.left]


def test_the_budget_is_for_the_nearest_and_none_is_lost() -> None:
    assert chosen(10, a=4, b=5, c=2) == (["a", "b"], ["c"])
    assert chosen(10, a=4, b=50, c=2) == (["a", "c"], ["b"])


def test_seconds_of_a_file_are_those_of_all_its_tests() -> None:
    told = {"a.py::one": 1.0, "a.py::two[x::y]": 2.0, "b.py::one": 9.0}
    seconds = quick.seconds_of(told, ["a.py", "c.py"])
    assert seconds == {
        "a.py": pytest.approx(3.0 + quick.FILE_S),
        "c.py": pytest.approx(quick.UNKNOWN_S + quick.FILE_S),
    }


def test_what_is_left_out_is_told() -> None:
    files = [quick.Found(f"tests/test_{n}.py", 1, "imports x") for n in range(20)]
    seconds = {f.path: 4.0 for f in files}
    said = quick.shown(quick.chosen(files, seconds, 9.0), seconds, 9.0)
    assert "2 test files, some 8 s of work" in said
    assert "left out for want of time (BUDGET=9): 18 files, some 72 s" in said
    assert "and 10 that are further away or longer" in said


def test_the_house_is_found_whole() -> None:
    importers = quick.importers_of_all()
    assert "tests.unit.test_quick" not in importers["mitigauge.core.stats.bounds"]
    assert "tests.unit.test_quick" in importers["tests.loading"]
    # Whoever imports a part of a package runs the package's own file.
    assert importers["mitigauge.core.stats.bounds"] <= importers["mitigauge.core.stats"]


@pytest.fixture
def branch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository on a branch one commit from main, with more in its work tree."""

    def git(*arguments: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def write(**texts: str) -> None:
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        git("add", ".")

    git("init", "-b", "main")
    write(kept="1", gone="1", edited="1")
    git("commit", "-m", "one")
    git("checkout", "-b", "branch")
    write(committed="1")
    git("commit", "-m", "two")
    (tmp_path / "gone").unlink()
    (tmp_path / "edited").write_text("2")
    (tmp_path / "new ü").write_text("1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_changes_are_those_since_main_with_the_work_tree(branch: Path) -> None:
    _, changed = quick.changed_files(None)
    assert changed == ["committed", "edited", "gone", "new ü"]
    _, changed = quick.changed_files("HEAD")
    assert changed == ["edited", "gone", "new ü"]


def test_shell_is_told_by_its_first_line(tmp_path: Path) -> None:
    for first, is_shell in (("#!/usr/bin/env bash", True), ("#!/bin/sh", True), ("x sh", False)):
        (tmp_path / "x").write_text(f"{first}\n")
        assert quick.is_shell(str(tmp_path / "x")) is is_shell


def test_a_check_that_fails_shows_why(capsys: pytest.CaptureFixture[Any]) -> None:
    assert quick.ran("this", ["sh", "-c", "echo because; exit 3"]) is False
    assert quick.ran("that", ["true"]) is True
    said = capsys.readouterr().out
    assert "FAILED" in said
    assert "    because" in said


def test_the_project_lies_where_the_script_says() -> None:
    assert quick.REPOSITORY == REPOSITORY
