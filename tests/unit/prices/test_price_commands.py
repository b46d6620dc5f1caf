"""Commands of prices as processes: what they write, and what they refuse."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from mitigauge.core.settings import REPOSITORY

PROCESSORS = REPOSITORY / "prices" / "processors"
OWN = "amd-26-2-1"


def price(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli.main", "price", *words],
        cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def git(directory: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words],
        cwd=directory, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def renamed(directory: Path) -> Path:
    """The file of a processor that the project has none of."""
    file = directory / "amd-26-2-9.yml"
    text = (PROCESSORS / f"{OWN}.yml").read_text()
    file.write_text(text.replace(f"processor: {OWN}", "processor: amd-26-2-9"))
    return file


def test_a_new_file_is_a_patch_that_git_applies(tmp_path: Path) -> None:
    file, mail = renamed(tmp_path), tmp_path / "mail.patch"
    done = price("send", str(file), "-o", str(mail), "--from", "Ada <ada@example.org>")
    assert done.returncode == 0, done.stderr
    tree = tmp_path / "tree"
    tree.mkdir()
    git(tree, "init", "-q")
    git(tree, "commit", "-q", "--allow-empty", "-m", "first")
    git(tree, "am", "-q", str(mail))
    assert (tree / "prices/processors/amd-26-2-9.yml").read_text() == file.read_text()
    assert git(tree, "log", "-1", "--format=%an %s") == "Ada prices: amd-26-2-9\n"


def test_a_machine_that_was_added_is_a_patch_of_the_file(tmp_path: Path) -> None:
    file, mail = tmp_path / f"{OWN}.yml", tmp_path / "mail.patch"
    committed = git(REPOSITORY, "show", f"HEAD:prices/processors/{OWN}.yml")
    file.write_text(committed.replace("title: ", "title: Our ", 1))
    assert price("send", str(file), "-o", str(mail)).returncode == 0
    tree = tmp_path / "tree"
    (tree / "prices/processors").mkdir(parents=True)
    (tree / f"prices/processors/{OWN}.yml").write_text(committed)
    git(tree, "init", "-q")
    git(tree, "add", ".")
    git(tree, "commit", "-q", "-m", "first")
    git(tree, "am", "-q", str(mail))
    assert (tree / f"prices/processors/{OWN}.yml").read_text() == file.read_text()


def test_what_is_no_processor_s_file_is_not_sent(tmp_path: Path) -> None:
    file = renamed(tmp_path)
    document = yaml.safe_load(file.read_text())
    document["machines"][0]["prices"][0]["ns"] *= 1.0005
    file.write_text(yaml.safe_dump(document))
    forged = price("send", str(file))
    assert forged.returncode != 0
    assert "digest" in forged.stderr
    assert price("send", str(tmp_path / "none.yml")).returncode != 0


@pytest.mark.parametrize("table", ["vmscape-v8-iperf", "ibrs-ibpb-loss", "vmscape-fio"])
def test_a_published_table_is_predicted(table: str) -> None:
    """Each figure of the table stands in the answer as it was published."""
    done = price("predict", table)
    assert done.returncode == 0, done.stderr
    assert "PREDICTED" in done.stdout
    claims = yaml.safe_load((REPOSITORY / "experiments/claims" / f"{table}.yml").read_text())
    rates = yaml.safe_load((REPOSITORY / "prices/rates" / f"{table}.yml").read_text())
    for claim in claims["claims"]:
        if claim.get("mode", claim.get("without")) in rates["modes"]:
            assert f" {claim['change']:+.1f} " in done.stdout


def test_a_table_or_a_processor_that_is_none_is_refused() -> None:
    assert "Known: " in price("predict", "nothing").stderr
    assert "no prices of 'nobody'" in price("predict", "--processor", "nobody").stderr


def test_a_processor_s_name_is_searched_for() -> None:
    names = {
        file.stem for file in PROCESSORS.glob("*.yml") if "skylake" in file.read_text().lower()
    }
    shown = price("list", "--model", "skylake").stdout
    assert all(name in shown for name in names)
    assert OWN not in shown
