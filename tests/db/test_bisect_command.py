"""`mitigauge bisect`, run as a person would."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.jobs.states import Ability
from mitigauge.storage.files.blobs import blob_store
from tests import zygote
from tests.bisections import begun, patches
from tests.commands import Command
from tests.workers import announce

PATCHES = REPOSITORY / "tests" / "series" / "bisect"


@pytest.fixture
def command(database_url: str, home: Path):  # type: ignore[no-untyped-def]
    """Runs it against the test's database."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "MITIGAUGE_DATABASE_URL": database_url, "COLUMNS": "200",
                       "MITIGAUGE_HOME": str(home)}  # fmt: skip
        return zygote.run("mitigauge", ["bisect", *words], env=environment, timeout=120)

    return run


@pytest.fixture
def served(engine: Engine) -> None:
    """A worker that builds kernels is said to run, so that none is started."""
    announce(engine, jobs=[Ability.KERNELS])


def test_without_any_it_says_what_to_do(command) -> None:  # type: ignore[no-untyped-def]
    assert "mitigauge bisect start PATCHES" in command("list").stdout
    assert json.loads(command("list", "--json").stdout) == []


def test_it_is_begun_shown_and_cancelled(  # type: ignore[no-untyped-def]
    command, served: None
) -> None:
    begun_by = command("start", str(PATCHES), "--no-wait", "--json")
    view = json.loads(begun_by.stdout)
    assert (view["candidates"], view["state"]) == (8, "running")
    shown = command("show", str(view["id"]))
    assert "x86/entry: Count system calls" in shown.stdout
    assert "0 of 300 boots" in shown.stdout
    assert command("cancel", str(view["id"])).returncode == 0
    again = command("cancel", str(view["id"]))
    assert (again.returncode, "is cancelled" in again.stderr) == (1, True)
    assert command("wait", str(view["id"])).returncode == 1


def test_to_wait_starts_no_worker_and_says_that_there_is_none(  # type: ignore[no-untyped-def]
    command, served: None, engine: Engine, database_url: str, home: Path
) -> None:
    number = json.loads(command("start", str(PATCHES), "--no-wait", "--json").stdout)["id"]
    with engine.begin() as connection:
        connection.execute(text("update worker set seen_at = now() - interval '1 day'"))
    waiting = Command(home, database_url).begun("bisect", "wait", str(number))
    try:
        assert waiting.stdout is not None
        assert "`mitigauge worker` starts one" in waiting.stdout.readline()
        assert command("cancel", str(number)).returncode == 0
        assert waiting.wait(60) == 1
    finally:
        waiting.kill()
        waiting.communicate()
    assert not (home / "log").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say what is bisected"),
        (("--series", "a", "--tree", "b"), "say what is bisected"),
        (("--tree", "."), "a git tree needs both ends"),
        (("--series", "nothing"), "no series 'nothing'"),
        (("/nowhere",), "/nowhere is not there"),
        ((str(PATCHES), "--host", "nowhere"), "unknown host 'nowhere'"),
        ((str(PATCHES), "--mode", "x/y"), "unknown mode 'x/y'"),
        ((str(PATCHES), "--profile", "none"), "no config profile 'none'"),
    ],
)
def test_what_cannot_be_bisected_is_refused_in_words(  # type: ignore[no-untyped-def]
    words: tuple[str, ...], said: str, command
) -> None:
    done = command("start", *words, "--no-wait")
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_report_of_one_that_has_no_answer_is_refused(  # type: ignore[no-untyped-def]
    engine: Engine, command
) -> None:
    number = begun(engine, blob_store(get_settings()), patches("one", "two"))
    done = command("report", str(number))
    assert (done.returncode, f"bisection {number} is running" in done.stderr) == (1, True)
