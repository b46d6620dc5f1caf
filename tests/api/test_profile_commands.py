"""`mitigauge profile diff` and `export` over a real database."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from cli.profile import app
from mitigauge.core.errors import MitigaugeError
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.storage.database.engine import transaction
from tests.api.test_profiles import store_profiles
from tests.postgres import filled


@pytest.fixture
def place(engine: Engine, experiment_id: int) -> list[str]:
    """Options that name the profiled case."""
    filled(engine, store_profiles, experiment_id)
    with transaction(engine) as session:
        case = experiment_rows.experiment(session, experiment_id).comparisons[0].cases[0]
        return ["--experiment", str(experiment_id), "--case", case.title]


@pytest.fixture(autouse=True)
def _the_tests_database(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mitigauge.storage.database.engine.get_engine", lambda: engine)
    monkeypatch.setattr(
        "mitigauge.storage.database.engine.transaction", lambda: transaction(engine)
    )


def said(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_diff_lists_the_functions_that_differ_most_first(place: list[str]) -> None:
    table = said("diff", "off", "on", *place)
    assert "spin 1 on alpha, EMULATED: cpu-clock; off (2 boots) and on (2 boots)" in table
    first = next(line for line in table.splitlines() if "clear_bhb_loop" in line)
    assert first.split()[:3] == ["0", "40.45", "+40.45"]
    assert "new" in first.split()
    assert table.index("clear_bhb_loop") < table.index("do_syscall_64")


def test_a_diff_as_json_has_unit_and_sides(place: list[str]) -> None:
    table: dict[str, Any] = json.loads(said("diff", "off", "on", *place, "--limit", "1", "--json"))
    assert (table["a"], table["b"], table["unit"]) == ("off", "on", "ns/op")
    [row] = table["functions"]
    assert (row["function"], row["mark"]) == ("clear_bhb_loop", "new")
    assert row["low"] < row["difference"] < row["high"]


def test_an_exported_group_is_its_boots_added_up_and_can_be_imported_again(
    place: list[str], tmp_path: Path
) -> None:
    folded = said("export", "on", *place)
    counts = dict(line.rsplit(" ", 1) for line in folded.splitlines())
    # 400 and 3 more a block, of two boots in blocks 1 and 2; idle time is no cost.
    assert int(counts["bench;syscall;do_syscall_64;clear_bhb_loop"]) == 2 * 400 + 3 * (1 + 2)
    assert not any("default_idle" in stack for stack in counts)
    (tmp_path / "on.folded").write_text(folded)
    said("import", str(tmp_path / "on.folded"), "--tree", "again", "--group", "g")
    assert said("export", "g", "--tree", "again") == folded


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["diff", "off", "on"], "the profiles to read are not named"),
        (["diff", "off", "gone", "PLACE"], "no arm 'gone'"),
        (["diff", "off", "on", "PLACE", "--host", "beta"], "was not planned on host 'beta'"),
        (["diff", "off", "on", "PLACE", "--basis", "cost"], "unknown basis 'cost'"),
        (["diff", "off", "on", "PLACE", "--guest"], "no profile of off"),
        (["export", "x", "--tree", "none"], "no profile of x"),
    ],
)
def test_what_cannot_be_shown_is_said(
    place: list[str], arguments: list[str], complaint: str
) -> None:
    given = [word for one in arguments for word in (place if one == "PLACE" else [one])]
    with pytest.raises(MitigaugeError, match=complaint):
        CliRunner().invoke(app, given, catch_exceptions=False)


def test_an_unknown_case_names_those_that_there_are(place: list[str]) -> None:
    with pytest.raises(MitigaugeError, match="no case 'nope'") as refused:
        said("diff", "off", "on", *place[:2], "--case", "nope")
    assert re.match(r"Its cases: \d+ \(spin 1\), \d+ \(spin 2\)\.$", refused.value.hint)


def test_functions_are_listed_over_all_arms(place: list[str]) -> None:
    arguments = ["functions", place[3], "--experiment", place[1]]
    text = said(*arguments)
    assert "EMULATED" in text
    shown = json.loads(said(*arguments, "--json", "--limit", "3"))
    assert len(shown["functions"]) == 3
    assert [arm["is_baseline"] for arm in shown["arms"]] == [True, False]
    found = json.loads(said(*arguments, "--json", "--search", "clear_bhb"))
    assert [row["function"] for row in found["functions"]] == ["clear_bhb_loop"]
