"""How the command starts: what it imports before it does anything, and what shells are told."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from alembic.script import ScriptDirectory

from cli.experiment import read_spec_file
from cli.lazy import loaded
from cli.main import ENTRIES
from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import REPOSITORY, Settings, settings_from
from mitigauge.core.yaml_file import MAX_BYTES, parse_yaml
from mitigauge.storage.database.schema_revision import MIGRATIONS, wanted_revision

# Typer itself takes pydantic; a capture is unpacked by zstandard, which is small.
HEAVY = {
    "alembic", "ansible_runner", "fastapi", "httpx2", "numpy", "obstore",
    "procrastinate", "psycopg", "rich", "ruamel", "scipy", "sqlalchemy", "structlog", "yaml",
}  # fmt: skip
# Runs the command, and writes what is imported at its end.
PROGRAM = """
import atexit, sys
from pathlib import Path
path = Path(sys.argv[1])
atexit.register(lambda: path.write_text("\\n".join(sys.modules)))
sys.argv[:2] = ["mitigauge"]
from cli.main import main
main()
"""


class Done(NamedTuple):
    """How a command ended."""

    code: int
    output: str
    modules: set[str]

    @property
    def heavy(self) -> list[str]:
        return sorted(HEAVY & self.modules)


def run(*words: str, **environment: str) -> Done:
    with tempfile.NamedTemporaryFile("r") as modules:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, modules.name, *words],
            cwd=REPOSITORY,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        names = set(modules.read().splitlines())
    assert {"typer", "cli.main"} <= names
    return Done(done.returncode, done.stdout, names)


@pytest.mark.parametrize("words", [["--version"], ["--help"], []])
def test_the_command_itself_imports_none_of_its_groups(words: list[str]) -> None:
    done = run(*words)
    assert done.heavy == []
    assert not {entry.module for entry in ENTRIES.values()} & done.modules
    assert done.output


@pytest.mark.parametrize("name", ENTRIES)
def test_help_of_a_command_waits_for_no_database_and_no_statistics(name: str) -> None:
    done = run(name, "--help")
    assert done.code == 0
    assert done.heavy == []
    assert ENTRIES[name].module in done.modules


@pytest.mark.parametrize("name", ENTRIES)
def test_the_line_in_the_list_is_the_beginning_of_the_command_s_own_help(name: str) -> None:
    command = loaded(name, ENTRIES[name])
    assert command.name == name
    assert command.help.startswith(ENTRIES[name].help.rstrip("."))


def completed(words: str) -> list[str]:
    """What bash is told for the last of these words."""
    done = run(
        _MITIGAUGE_COMPLETE="complete_bash",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split(" ")) - 1),
    )
    assert done.heavy == []
    return done.output.split()


def test_groups_commands_and_options_are_completed() -> None:
    assert completed("mitigauge ") == list(ENTRIES)
    assert completed("mitigauge ex") == ["experiment"]
    assert completed("mitigauge experiment lis") == ["list"]
    assert "--json" in completed("mitigauge experiment list --")


def test_a_mistyped_group_is_answered_with_the_one_that_was_meant() -> None:
    done = run("experimant")
    assert done.code == 2
    assert "Did you mean 'experiment'?" in done.output


def test_the_revision_wanted_is_the_one_alembic_finds() -> None:
    assert wanted_revision() == ScriptDirectory(str(MIGRATIONS)).get_current_head()


def test_settings_come_from_the_environment_and_a_wrong_one_is_named() -> None:
    assert settings_from({"MITIGAUGE_PORT": "1234", "PORT": "5"}).port == 1234
    assert settings_from({"MITIGAUGE_ANONYMOUS_READ": "true"}).anonymous_read is True
    assert settings_from({}) == Settings()
    with pytest.raises(InvalidInput, match="MITIGAUGE_PORT is 'many'"):
        settings_from({"MITIGAUGE_PORT": "many"})


def test_a_wrong_setting_is_an_error_for_people() -> None:
    done = run("experiment", "list", MITIGAUGE_LEASE_SECONDS="soon")
    assert done.code == 1
    assert "Traceback" not in done.output
    assert "MITIGAUGE_LEASE_SECONDS" in done.output


def test_no_more_of_a_spec_is_read_than_may_be_taken(tmp_path: Path) -> None:
    spec = tmp_path / "spec.yml"
    with spec.open("wb") as file:
        file.truncate(1 << 40)
    text = read_spec_file(spec)
    assert len(text) == MAX_BYTES + 1
    with pytest.raises(InvalidInput, match="256 KiB"):
        parse_yaml(text, "spec.yml")


def test_a_mistyped_setting_stops_the_command_and_names_the_nearest() -> None:
    done = run("experiment", "list", MITIGAUGE_DATABASE_UR="x")
    assert done.code == 1
    assert "Traceback" not in done.output
    assert "Is MITIGAUGE_DATABASE_URL meant?" in " ".join(done.output.split())
