"""Limits in force: over HTTP, as commands, on a series' revision and in the letters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from mitigauge.analysis.verdicts.limit_text import LARGEST_BYTES
from tests.clients import bearer, token_of
from tests.commands import Command
from tests.db.test_limits_in_force import ended

FILE = "limits: ours\n# of the desktops\nlines:\n- {workload: syscall, metric: time_per_call, %s}\n"


def headers(engine: Engine, role: str = "submitter") -> dict[str, str]:
    return {**bearer(token_of(engine, role)), "Content-Type": "application/yaml"}


def test_a_file_is_set_listed_shown_changed_and_removed(client: TestClient, engine: Engine) -> None:
    asked = headers(engine)
    for limit in ("at_most: 100", "at_most: 101"):
        answer = client.put("/api/limits/ours", headers=asked, content=FILE % limit)
        assert answer.status_code == 200, answer.text
    [head] = client.get("/api/limits", headers=asked).json()
    assert (head["name"], head["lines"], head["set_by"][:9]) == ("ours", 1, "submitter")
    shown = client.get("/api/limits/ours", headers=asked).json()
    assert shown["text"] == FILE % "at_most: 101"
    assert client.delete("/api/limits/ours", headers=asked).json() == shown
    assert client.get("/api/limits", headers=asked).json() == []
    assert client.delete("/api/limits/ours", headers=asked).status_code == 404


@pytest.mark.parametrize(
    ("path", "text", "status", "said"),
    [
        ("ours", FILE % "at_mots: 1", 422, "ours.yml:4: lines.0.at_mots"),
        ("ours", (FILE % "at_most: 1").replace("time_per_call", "time"), 422, "has no metric time"),
        ("ours", "limits: [", 422, "not valid YAML"),
        ("others", FILE % "at_most: 1", 422, "the file says `limits: ours`"),
        ("ours", "#" * (LARGEST_BYTES + 1), 413, "over 65536 bytes"),
        ("ours", "", 422, "must be a mapping"),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(
    client: TestClient, engine: Engine, path: str, text: str, status: int, said: str
) -> None:
    asked = headers(engine)
    answer = client.put(f"/api/limits/{path}", headers=asked, content=text)
    assert (answer.status_code, said in answer.text) == (status, True), answer.text
    assert client.get("/api/limits", headers=asked).json() == []


def test_commands_say_what_was_stored_and_end_as_ci_wants_it(
    engine: Engine, database_url: str, tmp_path: Path
) -> None:
    command = Command(tmp_path, database_url)
    file = tmp_path / "limits.yml"

    def set_limit(limit: str) -> None:
        file.write_text(FILE % limit)
        command.run("limits", "set", str(file))

    said = command.run("limits", "list").stdout
    assert "`mitigauge limits set limits.yml` puts a file in force" in " ".join(said.split())
    set_limit("at_most: 101")
    number = str(ended(engine))
    broken = command.run("experiment", "limits", number, code=3).stdout
    assert "limits: 1 broken of 2: syscall/time_per_call at most 101 ns: syscall basic" in broken
    found = json.loads(command.run("experiment", "limits", number, "--json", code=3).stdout)
    assert [row["kept"] for row in found["rows"]] == ["fail", "pass"]
    waited = command.run("experiment", "wait", number, "--by-limits", code=3).stdout
    assert "limits: 1 broken of 2" in waited
    set_limit("at_most: 200")
    command.run("experiment", "limits", number, code=3)
    assert "limits: all 2 kept" in command.run("limits", "judge", number).stdout
    command.run("experiment", "limits", number)
    set_limit("worse_by_percent: 3")
    command.run("limits", "judge", number, code=4)
    assert command.run("limits", "show", "ours").stdout == FILE % "worse_by_percent: 3"
    assert json.loads(command.run("limits", "list", "--json").stdout)[0]["name"] == "ours"
    command.run("limits", "remove", "ours")
    gone = command.run("limits", "judge", number, code=4).stdout
    assert "no limits are in force" in gone


def test_a_file_with_a_fault_is_refused_by_its_line(
    database_url: str, engine: Engine, tmp_path: Path
) -> None:
    command = Command(tmp_path, database_url)
    file = tmp_path / "limits.yml"
    file.write_text(FILE.replace("time_per_call", "nothing") % "at_most: 1")
    done = command.run("limits", "set", str(file), code=1)
    assert "limits.yml:4: lines.0.metric: syscall has no metric nothing" in done.stderr
    file.write_bytes(b"\xff\xfe")
    assert "cannot be read" in command.run("limits", "set", str(file), code=1).stderr
    file.write_text("#" * (LARGEST_BYTES + 1))
    assert "over 64 KiB" in command.run("limits", "set", str(file), code=1).stderr
