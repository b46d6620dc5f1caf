"""The flame graph with exact totals over the API: sums are the ledger's, shape is the samples'."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.exact.graph import renamed_as
from mitigauge.analysis.profiles.exact.ledger import Ledger
from mitigauge.analysis.profiles.exact.service import CountedPass, store_counts
from mitigauge.analysis.profiles.store.tables import digest_of
from mitigauge.kernels import renames
from mitigauge.kernels import service as kernel_service
from mitigauge.kernels.service import Built
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Boot
from mitigauge.storage.database.engine import transaction
from tests.api.test_profiles import decoded, stored_in
from tests.postgres import filled
from tests.unit.exact.ledgers import function, ledger

PATH = "/api/profiles/exact/graph"
LARGE = 50_000_000
"""Instructions of the program: more than a float of 32 bits tells to the instruction."""


def counts(arm: str, block: int, entry: str = "do_syscall_64") -> Ledger:
    """A boot of an arm: in `on` a loop is new."""
    ran = [
        function(entry, {"push": 3, "ret": 1}),
        function("tick", {"inc": 0.1 * block}),
        function("main", {f"nop{number}": LARGE / 10 for number in range(10)}, module="bench"),
    ]
    if arm == "on":
        ran.append(function("clear_bhb_loop", {"jne": 125}))
    return ledger(*ran)


def boots(session: Session, experiment_id: int) -> list[Boot]:
    runs = [run.id for run in run_rows.runs_of(session, experiment_id)]
    return list(run_rows.boots_of(session, runs))


@pytest.fixture
def asked(engine: Engine, experiment_id: int) -> dict[str, Any]:
    """What names a case with profiles and counts in every boot of both arms."""
    case = filled(engine, store_both, experiment_id)
    return {"experiment": experiment_id, "case": case, "host": "alpha", "a": "off", "b": "on"}


def store_both(engine: Engine, experiment_id: int) -> int:
    with transaction(engine) as session:
        case = stored_in(session, experiment_id)
        for boot in boots(session, experiment_id):
            store_counts(session, boot.id, case, CountedPass(counts(boot.arm.name, boot.block)))
        return case


def graph(client: TestClient, asked: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    answer = client.get(PATH, params=asked)
    assert answer.status_code == 200, answer.text
    header, arrays = decoded(answer.content)
    names = [header["names"][each] for each in arrays["f_symbol"]]
    own = zip(names, arrays["f_self_a"], arrays["f_self_b"], strict=True)
    return header, {**arrays, "own": {name: (float(a), float(b)) for name, a, b in own}}


def test_every_functions_sum_is_the_ledgers(client: TestClient, asked: dict[str, Any]) -> None:
    header, arrays = graph(client, asked)
    table = client.get("/api/profiles/exact", params=asked).json()
    assert (header["exact"], header["unit"]) == (True, "instructions an operation")
    for row in table["functions"]:
        expected = (pytest.approx(row["a"], abs=1e-3), pytest.approx(row["b"], abs=1e-3))
        assert arrays["own"][row["function"]] == expected
    for side, root in (("a", arrays["a"][0]), ("b", arrays["b"][0])):
        assert root == pytest.approx(table[side]["instructions"], abs=1e-3)
        assert header[side]["total"] == root
    assert not [name for name in ("low", "high", "q") if not np.isnan(arrays[name]).all()]


def test_the_shape_is_that_of_the_samples(client: TestClient, asked: dict[str, Any]) -> None:
    header, arrays = graph(client, asked)
    names = [header["names"][each] for each in arrays["symbol"]]
    paths: list[str] = []
    for name, above in zip(names, arrays["parent"].tolist(), strict=True):
        paths.append(f"{paths[above]};{name}" if above >= 0 else "")
    assert ";bench;syscall;do_syscall_64;clear_bhb_loop" in paths
    assert ";[not sampled];tick" in paths
    assert arrays["flags"][paths.index(";bench;syscall;do_syscall_64;clear_bhb_loop")] == 1
    assert arrays["b"][paths.index(";bench;syscall")] == pytest.approx(4 + 125)
    # It is sampled, and in no window.
    assert not any("default_idle" in path for path in paths)


def test_a_function_of_another_name_is_one_function(
    client: TestClient, engine: Engine, experiment_id: int
) -> None:
    with transaction(engine) as session:
        arms = experiment_rows.experiment(session, experiment_id).comparisons[0].arms
        kernels = []
        for arm, release in zip(arms, ("7.2-v1", "7.2-v2", "7.2-v3"), strict=False):
            arm.kernel = release
            new = Built(release, "ab", "cd", digest_of(release).hex(), 1)
            kernels.append(kernel_service.brought_in(session, new, release).id)
        renames.store(session, kernels[0], kernels[1], {"do_syscall_64": "do_syscall"})
        case = stored_in(session, experiment_id)
        for boot in boots(session, experiment_id):
            entry = "do_syscall" if boot.arm.name == "on" else "do_syscall_64"
            made = counts(boot.arm.name, boot.block, entry)
            store_counts(session, boot.id, case, CountedPass(made))
    asked = {"experiment": experiment_id, "case": case, "host": "alpha", "a": "off", "b": "on"}
    header, arrays = graph(client, asked)
    assert "do_syscall_64" not in header["names"]
    assert arrays["own"]["do_syscall"] == (4, 4)
    assert header["renamed"] == {str(header["names"].index("do_syscall")): "do_syscall_64"}


def test_without_counts_or_samples_the_answer_says_why(
    client: TestClient, engine: Engine, experiment_id: int
) -> None:
    with transaction(engine) as session:
        case = experiment_rows.experiment(session, experiment_id).comparisons[0].cases[0].id
    asked = {"experiment": experiment_id, "case": case, "host": "alpha", "a": "off", "b": "on"}
    answer = client.get(PATH, params=asked)
    assert answer.status_code == 404
    assert answer.json()["message"].startswith("No exact counts of off and on: only the first")
    with transaction(engine) as session:
        for boot in boots(session, experiment_id):
            boot.state = BootState.EFFECTIVE
            store_counts(session, boot.id, case, CountedPass(counts(boot.arm.name, boot.block)))
    answer = client.get(PATH, params=asked)
    assert answer.status_code == 404
    assert answer.json()["message"].startswith("there is no profile of off")
    assert "profile: true" in answer.json()["hint"]


def test_a_mark_behind_a_name_does_not_hide_that_it_was_another() -> None:
    was = {"f": "g"}
    assert [renamed_as(name, was) for name in ("f", "f_[k]", "f_[i]", "_[k]", "h")] == [
        *("g", "g_[k]", "f_[i]", "_[k]", "h")
    ]
