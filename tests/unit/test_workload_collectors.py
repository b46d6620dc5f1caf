"""Collectors on a host: the real process beside a real case, reading this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.wire.collectors import CHEAP, NAMES
from mitigauge.measurement.collectors.figures import figures_of, mean
from mitigauge.measurement.collectors.samples import read_series
from mitigauge.measurement.collectors.service import read_collected
from tests.loading import load, stage_runner

kit = load("workloads/_kit/collectors.py")
sampling = load("workloads/_kit/sampling.py")
beside = load("ansible/roles/workload/files/_collecting.py")
SECONDS = 3


def run_case(tmp_path: Path, script: str, **case: Any) -> tuple[dict[str, Any], Path]:
    """(state, the case's directory) of a job of one case."""
    workloads, job = tmp_path / "workloads", tmp_path / "job"
    (workloads / "one").mkdir(parents=True)
    job.mkdir()
    stage_runner(workloads)
    (workloads / "one/run").write_text(f"#!/bin/sh\n{script}\n")
    (workloads / "one/run").chmod(0o755)
    listed = {"case_id": "1", "workload": "one", "parameters": {}, "iterations": 1, "warmup": 0,
              "timeout_s": 60, **case}  # fmt: skip
    (job / "job.json").write_text(json.dumps({"job": "j", "cases": [listed]}))
    subprocess.run([sys.executable, "-B", workloads / "_runner", job], check=True)
    return json.loads((job / "state.json").read_text()), job / "1"


def test_what_runs_beside_a_case_is_read_each_second_and_costs_less_than_a_percent(
    tmp_path: Path,
) -> None:
    state, directory = run_case(tmp_path, f"sleep {SECONDS}", collect=list(CHEAP))
    assert state["finished_cases"][0]["outcome"] == "ok"
    found = read_collected(directory / "collected", CHEAP, None)
    assert {"cpu", "memory", "network"} <= set(found.series)
    assert set(found.series) | set(found.absent) == set(CHEAP)
    for series in found.series.values():
        assert len(series.times_ns) >= SECONDS + 1
        lasted = (series.times_ns[-1] - series.times_ns[0]) / 1e9
        assert SECONDS - 0.1 < lasted < SECONDS + 20
    # Measured: 0.02 % of two processors. What the issue allows is 1 %.
    assert 0 < found.cost_percent < 1.0


def test_every_figure_of_what_is_here_has_its_columns(tmp_path: Path) -> None:
    _, directory = run_case(tmp_path, "sleep 1.2", collect=list(CHEAP))
    found = read_collected(directory / "collected", CHEAP, None)
    for name, series in found.series.items():
        for figure in figures_of(series):
            assert mean(series, figure, None) is not None, (name, figure.name)


def test_there_is_a_source_for_each_collector() -> None:
    assert tuple(kit.SOURCES) == NAMES


def test_a_case_without_collectors_has_none_beside_it(tmp_path: Path) -> None:
    state, directory = run_case(tmp_path, "pgrep -f _kit/sampling.py > $2/found; true")
    assert state["finished_cases"][0]["outcome"] == "ok"
    assert not (directory / "collected").exists()


def test_what_does_not_exist_is_absent_and_the_case_goes_on(tmp_path: Path) -> None:
    state, directory = run_case(tmp_path, "true", collect=["cpu", "nonsense"])
    assert state["finished_cases"][0]["outcome"] == "ok"
    found = read_collected(directory / "collected", ["cpu", "nonsense"], None)
    assert found.absent == {"nonsense": "no such collector"}
    assert "cpu" in found.series


def test_a_collector_that_dies_takes_no_case_with_it(tmp_path: Path) -> None:
    kill = 'pkill -KILL -f "$2/collected"; true'
    state, directory = run_case(tmp_path, kill, collect=["cpu"])
    assert state["finished_cases"][0]["outcome"] == "ok"
    found = read_collected(directory / "collected", ["cpu"], None)
    assert "missing" in found.absent["cpu"]


def test_a_case_that_is_killed_leaves_no_collector_behind(tmp_path: Path) -> None:
    state, directory = run_case(tmp_path, "sleep 60", collect=["cpu"], timeout_s=1)
    assert state["finished_cases"][0]["outcome"] == "timeout"
    left = subprocess.run(["pgrep", "-f", str(directory)], check=False, capture_output=True)
    assert left.stdout == b""
    assert (directory / "collected/cpu.txt").exists()


def test_a_long_case_keeps_a_bounded_number_of_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter(range(10**6))
    monkeypatch.setattr(sampling, "MOST_SAMPLES", 16)
    monkeypatch.setattr(sampling, "sample", lambda _: (next(taken), {}))
    monkeypatch.setattr(os, "write", lambda *_: 0)
    ends = iter([None] * 100)
    monkeypatch.setattr(sampling.signal, "sigtimedwait", lambda *_: next(ends, "told"))
    kept = sampling.samples_until_told({}, 0.0)
    assert len(kept) <= 16
    assert kept[0][0] == 0
    assert kept[-1][0] == 101


def test_the_largest_columns_are_kept_where_there_are_too_many(tmp_path: Path) -> None:
    columns = {f"userspace.{n}": n for n in range(100)}
    rows = [(t, {"exits": {name: n * t for name, n in columns.items()}}) for t in (1, 2, 3)]
    sampling.write(tmp_path, "exits", kit.Source(), rows)
    series = read_series(tmp_path / "exits.txt", "exits")
    assert len(series.columns) == sampling.MOST_COLUMNS
    assert "userspace.99" in series.columns
    assert "userspace.39" not in series.columns


def test_a_reason_that_comes_late_counts_from_nothing(tmp_path: Path) -> None:
    rows = [(1, {"exits": {"a": 1}}), (2, {"exits": {"a": 2, "userspace.6": 4}})]
    sampling.write(tmp_path, "exits", kit.Source(), rows)
    series = read_series(tmp_path / "exits.txt", "exits")
    assert series.column("userspace.6").tolist() == [0, 4]  # type: ignore[union-attr]


HIST = b"""# event histogram
#
# trigger info: hist:keys=reason:vals=hitcount:sort=hitcount:size=256 [active]
#

{ reason:         10 } hitcount:          3
{ reason:          2 } hitcount:      20000

Totals:
    Hits: 20003
    Entries: 2
    Dropped: 0
"""


def test_a_histogram_of_the_kernel_is_read_by_value() -> None:
    found = kit.Histogram.entry.findall(HIST)
    assert {int(value): int(hits) for value, hits in found} == {10: 3, 2: 20000}


def test_gates_are_what_the_kernel_counted_meanwhile(tmp_path: Path) -> None:
    state, _ = run_case(tmp_path, "true")
    nothing = {"throttled": 0, "machine_checks": 0, "tainted": 0, "kernel_log": []}
    assert state["finished_cases"][0]["gates"] == nothing
    counts = beside.gates()
    assert set(counts) == set(nothing)
    assert beside.passed({**counts, "throttled": -2}) == {
        **nothing,
        "throttled": counts["throttled"] + 2,
    }


def test_taint_that_comes_while_a_case_runs_is_told_with_the_kernels_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = {**beside.gates(), "tainted": 1 << 12}
    monkeypatch.setattr(beside, "tainted", lambda: 1 << 12 | 1 << 7)
    log = ["usb 1-1: new device", *(f"Oops: {number}" for number in range(9))]
    monkeypatch.setattr(beside, "kernel_log", lambda: iter(log))
    found = beside.passed(before)
    assert found["tainted"] == 1 << 7
    assert found["kernel_log"] == [f"Oops: {number}" for number in range(4, 9)]
