"""The tiers of tests: when each was green last, what took long, and what is over its budget."""

from __future__ import annotations

import ast
import json
import subprocess
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY
from tests.loading import load

tiers = load("scripts/tiers.py")
LAB = tiers.Tier("lab", "test-lab", 100, ("ansible", "lab"))
# Their own tiers take as long as hosts, faults and browsers do.
FREE = ("tests/lab/", "tests/crash/", "web/")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of one commit."""
    monkeypatch.chdir(tmp_path)
    for name in ("lab/one.py", "docs/page.md"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("1\n")
    git("init", "-q")
    commit()
    return tmp_path


def git(*words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    return subprocess.run(["git", *who, *words], check=True, capture_output=True, text=True).stdout


def commit() -> str:
    git("add", "--all")
    git("commit", "-q", "-m", "x")
    return git("rev-parse", "HEAD").strip()


def green(commit: str) -> object:
    return tiers.Green("2026-11-27", commit, 80)


def test_a_tier_is_stale_from_the_first_change_of_what_it_covers(tree: Path) -> None:
    last = green(git("rev-parse", "HEAD").strip())
    assert tiers.staleness(LAB, None) == "has never been green"
    assert tiers.staleness(LAB, last) is None
    (tree / "docs/page.md").write_text("2\n")
    commit()
    assert tiers.staleness(LAB, last) is None
    (tree / "lab/one.py").write_text("2\n")
    assert "since then lab/one.py changed" in tiers.staleness(LAB, last)
    commit()
    assert "since then lab/one.py changed" in tiers.staleness(LAB, last)
    assert tiers.staleness(LAB, green(git("rev-parse", "HEAD").strip())) is None


def test_a_commit_that_a_clone_does_not_have_is_no_proof(tree: Path) -> None:
    assert "a commit that is not here" in tiers.staleness(LAB, green("1" * 40))


def test_what_was_green_is_kept_by_tier(tree: Path) -> None:
    ledger = tree / "tiers.json"
    assert tiers.read_ledger(ledger) == {}
    tiers.note_green("lab", green("a"), ledger)
    tiers.note_green("crash", green("b"), ledger)
    tiers.note_green("lab", green("c"), ledger)
    assert {name: each.commit for name, each in tiers.read_ledger(ledger).items()} == {
        "crash": "b", "lab": "c",
    }  # fmt: skip


def run(tree: Path, *recipes: str) -> tuple[int, str]:
    """Number of failed tiers of a Makefile with these recipes, and the names of green ones."""
    (tree / "Makefile").write_text("".join(f"t{n}:\n\t{what}\n" for n, what in enumerate(recipes)))
    (tree / "tests").mkdir()
    (tree / ".gitignore").write_text(".mitigauge\n")
    commit()
    made = [tiers.Tier(f"n{n}", f"t{n}", 100, ("lab",)) for n in range(len(recipes))]
    return tiers.run(made), " ".join(tiers.read_ledger())


def test_all_tiers_run_and_those_that_pass_are_green(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tree, "false", "true") == (1, "n1")
    said = capsys.readouterr().out
    assert "make t0             FAILED" in said
    assert "make t1             OK" in said


def test_a_tree_with_changes_is_not_kept_as_green(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tree, "touch lab/new.py", "true") == (0, "n0")
    assert "changes that are not committed" in capsys.readouterr().out


def test_a_tier_over_its_budget_is_said_with_the_files_that_grew() -> None:
    took = {"tests/a.py::one": 40.0, "tests/a.py::two": 2.0, "tests/b.py::one": 3.0}
    fine = tiers.report("test", 1200, took, {})
    assert "make test: 1,200 s, budget 1,200 s." in fine
    assert "OVER" not in fine
    assert fine.index("42.0 s  tests/a.py") < fine.index("3.0 s  tests/b.py")
    over = tiers.report("test", 1201, took, {"tests/a.py": 20.0, "tests/b.py": 3.0})
    assert "OVER BUDGET  make test: 1,201 s" in over
    assert "grew from 20.0 to 42.0 s: tests/a.py" in over
    assert "to 3.0 s" not in over
    assert "is the machine busy?" in tiers.report("test", 1201, took, tiers.by_file(took))


def test_what_a_run_took_is_recorded_and_read_again(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.write_text('{"tests/a.py::one": 12.0, "tests/a.py::two": 0.5}\n{"tests/b.py::x": 0.2}\n')
    shown = {"suites": [{"specs": [{"file": "c.spec.ts", "title": "opens", "tests": [
        {"results": [{"duration": 1500}, {"duration": 500}]}]}]}]}  # fmt: skip
    browser = tmp_path / "browser"
    browser.write_text(json.dumps(shown))
    took = tiers.read_run(run, browser)
    assert took["web/tests/c.spec.ts::opens"] == 2.0
    kept = tmp_path / "kept"
    kept.write_text(tiers.as_recorded(took))
    assert tiers.read_durations(kept) == {
        "tests/a.py": 12.5, "tests/a.py::one": 12.0, "web/tests/c.spec.ts": 2.0,
    }  # fmt: skip


def test_each_tier_is_a_target_with_a_budget_of_what_there_is() -> None:
    makefile = (REPOSITORY / "Makefile").read_text()
    for tier in tiers.TIERS:
        assert f"\n{tier.make}: " in makefile
        assert [name for name in tier.covers if not (REPOSITORY / name).exists()] == []


def reasons(file: str) -> dict[str, str]:
    """By test of a file, the reason in its mark `long`."""
    found = {}
    for node in ast.walk(ast.parse((REPOSITORY / file).read_text())):
        if isinstance(node, ast.FunctionDef):
            for mark in node.decorator_list:
                if ast.unparse(mark).startswith("pytest.mark.long("):
                    found[node.name] = ast.unparse(mark)
    return found


def test_a_test_that_takes_over_ten_seconds_says_why() -> None:
    long = [name for name in tiers.read_durations() if "::" in name and not name.startswith(FREE)]
    bare = [
        name
        for name in long
        if name.partition("::")[2].partition("[")[0] not in reasons(name.partition("::")[0])
    ]
    assert bare == []
