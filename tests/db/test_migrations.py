"""The migrations build exactly the tables that the code declares, and can be undone."""

from __future__ import annotations

import hashlib
import os
import random
import struct
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import zstandard
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, inspect, text
from sqlalchemy.exc import IntegrityError

from mitigauge.analysis.profiles.store.tree import Layout
from mitigauge.analysis.verdicts.conclusions import conclude_closed
from mitigauge.core.errors import NotReady
from mitigauge.core.settings import REPOSITORY
from mitigauge.core.stats.boot_means import mean_of
from mitigauge.storage.database.engine import alembic_config, require_head, schema_revisions
from mitigauge.storage.database.metadata import whole_metadata
from tests import recording
from tests.made import make

RECORDED_AT_0011 = recording.RECORDED.with_name("lab-demo-0011.json.gz")


def test_the_schema_is_what_the_tables_say(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "include_name": lambda name, kind, _: (
                    not (kind == "table" and name.startswith("procrastinate"))
                )
            },
        )
        assert compare_metadata(context, whole_metadata()) == []


def test_downgrade_leaves_nothing_and_upgrade_brings_it_back(
    engine: Engine, database_url: str
) -> None:
    config = alembic_config(database_url)
    command.downgrade(config, "base")
    assert set(inspect(engine).get_table_names()) == {"alembic_version"}
    command.upgrade(config, "head")
    require_head(engine)


def test_an_old_schema_is_not_ready_and_says_what_to_run(engine: Engine, database_url: str) -> None:
    command.downgrade(alembic_config(database_url), "-1")
    with pytest.raises(NotReady, match="mitigauge db upgrade"):
        require_head(engine)


def test_two_migrators_at_once_do_the_work_once(engine: Engine, database_url: str) -> None:
    command.downgrade(alembic_config(database_url), "base")
    upgrade = [sys.executable, "-m", "cli.main", "db", "upgrade"]
    environment = {**os.environ, "MITIGAUGE_DATABASE_URL": database_url}
    both = [
        subprocess.Popen(
            upgrade, env=environment, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    for process in both:
        _, complaint = process.communicate(timeout=120)
        assert process.returncode == 0, complaint.decode()
    current, head = schema_revisions(engine)
    assert current == head


def test_trees_are_packed_anew_and_back(engine: Engine, database_url: str) -> None:
    rows = np.array(
        [[0, 1, 3, 2], [0, 1, 3, 3], [-1, 0, 0, 2], [-1, 7, 70_000, 9], [4, 2, 4, 4]], np.int32
    )
    changes = np.diff(rows, axis=1, prepend=np.int32(0)).tobytes()
    packed = zstandard.ZstdCompressor(level=3).compress(changes)
    old = struct.pack("<4sIII", b"MGT1", 4, len(changes), 0) + packed
    config = alembic_config(database_url)
    command.downgrade(config, "0006")
    with engine.begin() as connection:
        connection.execute(
            text("insert into frame_tree (name, nodes, rules_version, layout) values ('t',4,1,:l)"),
            {"l": old},
        )
    command.upgrade(config, "0007")
    with engine.connect() as connection:
        new = connection.scalars(text("select layout from frame_tree")).one()
    layout = Layout.from_bytes(new)
    read = (layout.place, layout.merged_place, layout.parent, layout.symbol, layout.end)
    assert np.stack(read).tolist() == rows.tolist()
    assert layout.to_bytes() == new
    command.downgrade(config, "0006")
    with engine.connect() as connection:
        assert connection.scalars(text("select layout from frame_tree")).one() == old


def test_names_of_frames_are_found_by_digest_and_long_ones_cut_on_the_way_back(
    engine: Engine, database_url: str
) -> None:
    config = alembic_config(database_url)
    # Random, since what repeats is packed before it is indexed.
    long = "".join(random.Random(1).choices("abcdefgh<>:ü", k=9000))
    with engine.begin() as session:
        session.execute(
            text(
                "insert into frame_symbol (name, digest)"
                " select n, sha256(convert_to(n, 'UTF8')) from unnest(cast(:n as text[])) n"
            ),
            {"n": ["f", long, long + "x"]},
        )
    command.downgrade(config, "0009")
    with engine.connect() as connection:
        names = connection.scalars(text("select name from frame_symbol order by id")).all()
    assert names[0] == "f"
    assert len({*names}) == 3
    assert all(name.startswith(long[:400] + "#") for name in names[1:])
    command.upgrade(config, "0012")
    with engine.connect() as connection:
        rows = connection.execute(text("select name, digest from frame_symbol order by id")).all()
    assert [bytes(row.digest) for row in rows] == [
        hashlib.sha256(name.encode()).digest() for name in names
    ]


def test_functions_of_profiles_are_rows_again_on_the_way_back(
    engine: Engine, database_url: str
) -> None:
    config = alembic_config(database_url)
    command.downgrade(config, "0011")
    recording.load(engine, RECORDED_AT_0011)
    command.upgrade(config, "head")
    assert "profile_symbol" not in inspect(engine).get_table_names()
    command.downgrade(config, "0017-1")
    with engine.connect() as connection:
        rows = connection.execute(text("select * from profile_symbol")).mappings().all()
    recorded = recording.rows_of("profile_symbol", RECORDED_AT_0011)
    assert len(recorded) == 5805
    assert sorted(map(_in_order, rows)) == sorted(map(_in_order, recorded))
    command.upgrade(config, "head")
    require_head(engine)


def _in_order(row: Mapping[str, int]) -> list[int]:
    return [row[name] for name in ("profile_id", "symbol_id", "self_weight", "total_weight")]


def test_iterations_keep_their_place_among_warmups_and_disturbed_ones(
    engine: Engine, database_url: str
) -> None:
    config = alembic_config(database_url)
    command.downgrade(config, "0011")
    recording.load(engine, RECORDED_AT_0011)
    rows = text(
        "select result_id, metric, phase, position, value from iteration order by 1, 2, 3, 4"
    )
    with engine.connect() as connection:
        every = connection.execute(rows).all()
    before = [row for row in every if row.phase != "disturbed"]
    assert len(before) < len(every)
    command.downgrade(config, "0007")
    with engine.connect() as connection:
        warm = "select count(*) filter (where warmup), count(*) from iteration"
        counts = connection.execute(text(warm)).one()
    assert counts == (sum(row.phase == "warmup" for row in before), len(before))
    command.upgrade(config, "0011")
    with engine.connect() as connection:
        assert connection.execute(rows).all() == before


ITERATIONS = """
    select r.boot_id, r.case_id, i.metric, i.phase, i.position, i.value, i.slowdown,
        r.slowdown_limit
    from iteration i join result r on r.id = i.result_id order by 1, 2, 3, 4, 5
"""


def test_values_become_arrays_with_their_mean_and_rows_again(
    engine: Engine, database_url: str
) -> None:
    config = alembic_config(database_url)
    command.downgrade(config, "0011")
    recording.load(engine, RECORDED_AT_0011)
    command.upgrade(config, "0014")
    before = everything(engine, ITERATIONS)
    results = everything(engine, RESULTS)
    assert {row.phase for row in before} == {"warmup", "counted", "disturbed"}
    command.upgrade(config, "0015")
    for row in everything(engine, "select * from measurement"):
        own = [b for b in before if (b.boot_id, b.case_id, b.metric) == row[:3]]
        of_phase = {
            phase: [b.value for b in own if b.phase == phase]
            for phase in ("counted", "warmup", "disturbed")
        }
        assert row.counted == of_phase["counted"]
        assert (row.warmup or []) == of_phase["warmup"]
        assert (row.disturbed or []) == of_phase["disturbed"]
        assert row.mean == pytest.approx(mean_of(row.counted), rel=1e-15)
    command.downgrade(config, "0014")
    assert everything(engine, ITERATIONS) == before
    assert everything(engine, RESULTS) == results


RESULTS = "select boot_id, case_id, state, body_sha256, raw_sha256 from result order by 1, 2"


def everything(engine: Engine, statement: str) -> list[Any]:
    with engine.connect() as connection:
        return list(connection.execute(text(statement)))


def test_what_was_over_before_verdicts_were_stored_is_judged_after_the_upgrade(
    engine: Engine, database_url: str
) -> None:
    config = alembic_config(database_url)
    command.downgrade(config, "0011")
    recording.load(engine, RECORDED_AT_0011)
    command.upgrade(config, "head")
    assert everything(engine, "select * from verdict") == []
    conclude_closed(engine)
    found = everything(engine, "select verdict from verdict where state = 'measured'")
    assert {row.verdict for row in found} == {"worse", "same", "undecided"}


def test_runs_learn_which_verdicts_they_have(engine: Engine, database_url: str) -> None:
    make(engine)
    conclude_closed(engine)
    before = everything(engine, "select id, verdicts from run")
    assert all(row.verdicts for row in before)
    config = alembic_config(database_url)
    command.downgrade(config, "0051")
    command.upgrade(config, "0052")
    assert everything(engine, "select id, verdicts from run") == before


def test_experiments_learn_their_worst_effect(engine: Engine, database_url: str) -> None:
    make(engine)
    conclude_closed(engine)
    asked = "select id, worst_effect_percent from experiment"
    before = everything(engine, asked)
    assert all(row.worst_effect_percent for row in before)
    config = alembic_config(database_url)
    command.downgrade(config, "0052")
    command.upgrade(config, "0053")
    assert everything(engine, asked) == before


@pytest.mark.parametrize("slowdown", ["0.99", "'NaN'", "'Infinity'"])
def test_a_slowdown_is_a_finite_number_from_1_up(engine: Engine, slowdown: str) -> None:
    recording.load(engine)
    with (
        engine.begin() as connection,
        pytest.raises(IntegrityError, match="ck_measurement_slowdowns"),
    ):
        connection.execute(
            text(f"update measurement set slowdowns = array[1, {slowdown}]::float8[]")
        )


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("column", ["counted", "warmup", "disturbed"])
def test_a_value_that_is_no_number_cannot_be_stored(engine: Engine, column: str, word: str) -> None:
    recording.load(engine)
    with engine.begin() as connection, pytest.raises(IntegrityError, match=f"ck_.*{column}"):
        connection.execute(text(f"update measurement set {column} = array[1, '{word}']::float8[]"))
