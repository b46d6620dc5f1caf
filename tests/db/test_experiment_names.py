"""Experiments that commands are given by name."""

from __future__ import annotations

import os
from pathlib import Path

from sqlalchemy import Engine, text

from tests import zygote
from tests.recording import load


def said(words: list[str], database_url: str, home: Path) -> tuple[int, str]:
    """Exit code and all output of a command, in one line."""
    done = zygote.run(
        "mitigauge",
        ["experiment", *words],
        env=os.environ | {"MITIGAUGE_DATABASE_URL": database_url, "MITIGAUGE_HOME": str(home)},
        timeout=120,
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def test_a_name_that_one_experiment_has_is_that_experiment(
    engine: Engine, database_url: str, tmp_path: Path
) -> None:
    load(engine)
    with engine.begin() as connection:
        connection.execute(text("update experiment set name = 'one name' where id = 1"))
    by_number, by_name = (said(["show", of], database_url, tmp_path) for of in ("1", "one name"))
    assert by_name == by_number
    assert by_name[0] == 0
    assert said(["show", "0"], database_url, tmp_path)[0] == 2
    code, words = said(["cancel", "one nam"], database_url, tmp_path)
    assert code == 1
    assert "no experiment is called 'one nam'" in words
    assert "Is 'one name' meant?" in words


def test_of_several_with_a_name_none_is_taken(
    engine: Engine, database_url: str, tmp_path: Path
) -> None:
    with engine.begin() as connection:
        connection.execute(
            text(
                "insert into experiment (name, question, environment, seed, spec_text, state,"
                " created_at) select 'twice', '', 'lab', 1, '', 'queued',"
                " timestamptz '2026-11-01' + i * interval '1 day' from generate_series(1, 2) i"
            )
        )
    code, words = said(["show", "twice"], database_url, tmp_path)
    assert code == 1
    assert "2 experiments are called 'twice': 2 of 2026-11-03, 1 of 2026-11-02" in words
    assert "Give a number." in words
