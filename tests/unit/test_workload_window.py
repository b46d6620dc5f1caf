"""window: a real load, what becomes of its counts, and what is refused."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.results.schema import check_against_case, read_result
from tests.loading import load
from tests.workload_cases import edit, reseal

WORKLOAD = REPOSITORY / "workloads/window"
window = load("workloads/window/run")
parsing = load("workloads/window/parse.py")


def run(directory: Path, environment: dict[str, str] | None = None, **changes: Any) -> Any:
    case = {
        "case_id": "1", "workload": "window", "iterations": 2, "warmup": 1, "timeout_s": 60,
        "parameters": {"load": "handlers", "threads": "handler", "seconds": 1}, **changes,
    }  # fmt: skip
    (directory / "in.json").write_text(json.dumps(case))
    return subprocess.run(
        [sys.executable, str(WORKLOAD / "run"), str(directory / "in.json"), str(directory / "out")],
        capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, **(environment or {})},
    )  # fmt: skip


def test_our_own_load_is_counted_for_real_and_ended(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    metrics = parsing.parse(tmp_path / "out")["metrics"]
    declared = Catalog().workloads["window"].metrics
    # Four threads, 200 messages a second; Python's own lock wakes them again, and a busy machine
    # sends fewer messages.
    assert all(20 <= value <= 8000 for value in metrics["wakeups"]["values"])
    # KVM tells of exits in debugfs, where it is there: else they are absent, and never zero.
    assert ("exits_per_second" in metrics) == (window.read_exits() is not None)
    for name, metric in metrics.items():
        assert (metric["unit"], metric["direction"]) == (
            declared[name].unit,
            declared[name].direction,
        )
    own = [path for path in Path("/proc").glob("[0-9]*/cmdline") if b"handlers.py" in read(path)]
    assert own == []


def test_a_run_of_our_own_load_is_taken_whole_and_what_kvm_does_not_tell_is_absent(
    tmp_path: Path,
) -> None:
    asked = {"load": "handlers", "threads": "handler", "seconds": 1}
    assert run(tmp_path, parameters=asked).returncode == 0
    for path in (tmp_path / "out").glob("*-[0-9]*.json"):
        # As on a host without KVM, or without debugfs.
        edit(path, lambda told: told.pop("exits", None))
    reseal(tmp_path / "out")
    given = parsing.parse(tmp_path / "out")
    assert "exits_per_second" not in given["metrics"]
    body = read_result(json.dumps(given).encode()).body
    declared = Catalog().workloads["window"].metrics
    check_against_case(
        body, workload="window", case_id=1, iterations=2, parameters=asked, warmup=1, guest={},
        metrics={
            name: CaseMetric(
                metric.unit, metric.direction, metric.title, metric.primary,
                counter=metric.counter, threads=metric.threads,
            )
            for name, metric in declared.items()
        },
    )  # fmt: skip
    assert body.threads is not None
    own = [row for row in body.threads.rows if row.own]
    assert [(row.name, row.threads) for row in own] == [("handler*", 4)]
    # The metric is of the same wake-ups, by the same windows.
    values = body.metrics["wakeups"].values
    assert own[0].wakeups / body.threads.seconds == pytest.approx(sum(values) / 2, rel=0.05)
    assert own[0].run_ns
    # Kernel threads are seen where processes have not their own numbers, as in a container.
    named = {row.name for row in body.threads.rows}
    is_contained = (
        not Path("/proc/2/comm").exists() or Path("/proc/2/comm").read_text() != "kthreadd\n"
    )
    assert is_contained or "rcu_preempt" in named or body.threads.others


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def script(directory: Path, text: str) -> dict[str, str]:
    path = directory / "load"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return {"MITIGAUGE_LOAD": str(path)}


OPERATOR = {"parameters": {"load": "operator", "threads": "handler", "seconds": 1}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("echo broken >&2; exit 3", "the load ended before it ran: broken"),
        ("echo ready; sleep 60", "no thread has a name that begins with handler"),
    ],
)
def test_a_load_that_does_not_do_its_part_fails_the_case(
    tmp_path: Path, text: str, said: str
) -> None:
    done = run(tmp_path, script(tmp_path, text), **OPERATOR)
    assert done.returncode == 1
    assert said in done.stderr


def test_a_host_without_the_operators_program_says_what_to_put_there(tmp_path: Path) -> None:
    done = run(tmp_path, {"MITIGAUGE_LOAD": str(tmp_path / "none")}, **OPERATOR)
    assert done.returncode == 1
    assert "put a program there that starts the load" in done.stderr


def test_a_guest_that_nobody_can_ask_proves_nothing(tmp_path: Path) -> None:
    environment = script(tmp_path, 'echo "$MITIGAUGE_GUEST_CPU" >&2; echo ready; sleep 60')
    done = run(tmp_path, environment, **OPERATOR, guest={"cpu": "hv-evmcs=on"})
    assert done.returncode == 1
    assert "first line must name its monitor" in done.stderr
    assert (tmp_path / "out" / "load.log").read_text() == "hv-evmcs=on\n"


def named(name: str, wakeups: int) -> dict[str, Any]:
    return {"name": name, "threads": 4, "wakeups": wakeups, "run_ns": 10, "wait_ns": None}


def written(directory: Path, told: dict[str, Any]) -> None:
    """A case of one warm-up and one iteration, sealed as `run` seals it."""
    digests = {}
    for name in ("warmup-01.json", "iteration-01.json"):
        (directory / name).write_text(json.dumps(told))
        digests[name] = hashlib.sha256((directory / name).read_bytes()).hexdigest()
    case = {"case_id": "1", "iterations": 1, "warmup": 1, **OPERATOR}
    (directory / "case.json").write_text(json.dumps(case))
    record = {"started_at": "a", "finished_at": "b", "lab_faults": [], "tools": {}}
    (directory / "run.json").write_text(json.dumps(record | {"sha256": digests}))


TOLD = {
    "seconds": 1.01, "threads": 4, "wakeups": 800, "exits": 10,
    "names": [named("handler*", 800), named("bash", 3)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seconds": 0.5}, "0.5, but the case asked 1"),
        ({"seconds": 1e9}, "not a finite number"),
        ({"threads": 0}, "threads: not from 1"),
        ({"wakeups": -1}, "wakeups: not from 0"),
        ({"wakeups": 801}, "not those of the names that begin with handler"),
        ({"threads": 3}, "not those of the names that begin with handler"),
        ({"names": []}, "not those of the names"),
        ({"names": [named("handler*", 1 << 50)], "wakeups": 1 << 50}, "is not possible"),
        ({"names": [named("handler*", 400), named("handler*", 400)]}, "found twice"),
        ({"names": [named("handler*", 800) | {"run_ns": -1}]}, "run_ns: not from 0"),
        ({"names": [named("handler*", 800) | {"threads": 4.0}]}, "threads: 4.0 is not int"),
        ({"names": [3]}, "holds no JSON object"),
        ({"exits": 1.5}, "exits: 1.5 is not int"),
    ],
)
def test_what_run_does_not_write_is_refused(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    written(tmp_path, TOLD)
    metrics = parsing.parse(tmp_path)["metrics"]
    assert metrics["wakeups"]["values"] == [pytest.approx(800 / 1.01)]
    assert metrics["exits_per_second"]["values"] == [pytest.approx(10 / 1.01)]
    written(tmp_path, TOLD | change)
    with pytest.raises(parsing.ParseError, match=said.replace(".", r"\.")):
        parsing.parse(tmp_path)


def test_a_file_that_was_changed_since_is_refused(tmp_path: Path) -> None:
    written(tmp_path, TOLD)
    edit(tmp_path / "iteration-01.json", lambda told: told.update(exits=11))
    with pytest.raises(parsing.ParseError, match="it is not as it was written"):
        parsing.parse(tmp_path)


def test_the_table_of_threads_has_those_of_the_load_first_and_all_others_by_name(
    tmp_path: Path,
) -> None:
    case = shutil.copytree(WORKLOAD / "fixtures/handlers", tmp_path / "case")
    result = parsing.parse(case)
    told = result["threads"]
    files = [json.loads(path.read_text()) for path in sorted(case.glob("iteration-*.json"))]
    assert told["seconds"] == pytest.approx(sum(one["seconds"] for one in files))
    own, *others = told["rows"]
    assert (own["name"], own["own"], own["threads"]) == ("handler*", True, 4)
    assert own["wakeups"] == sum(one["wakeups"] for one in files)
    assert own["run_ns"] > 0
    assert not any(row["own"] for row in others)
    assert "rcu_preempt" in {row["name"] for row in others}


def test_times_that_the_kernel_keeps_not_are_not_told() -> None:
    after = {7: window.Seen("handler1", 5, 0, 0), 8: window.Seen("handler2", 1, 0, 0)}
    before = {7: window.Seen("handler1", 2, 0, 0)}
    assert window.by_name(before, after) == [
        {"name": "handler*", "threads": 2, "wakeups": 4, "run_ns": None, "wait_ns": None}
    ]


def test_exits_that_kvm_does_not_tell_are_absent(tmp_path: Path) -> None:
    assert window.read_exits(tmp_path / "none") is None
    (tmp_path / "odd").write_text("many\n")
    assert window.read_exits(tmp_path / "odd") is None
    (tmp_path / "some").write_text("12345\n")
    assert window.read_exits(tmp_path / "some") == 12345
