"""Counters beside a measured loop: what perf wrote, one operation's share, and what is absent."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from tests.loading import load
from tests.workload_cases import edit, reseal

FIXTURES = REPOSITORY / "tests" / "fixtures"
REAL = FIXTURES / "syscall-counters"
parsing = load("workloads/syscall/parse.py")
run = load("workloads/syscall/run")
counts = parsing.counts
per_operation = parsing.per_operation
LINE = "100,,cycles,5000,100.00,,\n"


@pytest.fixture
def case_dir(tmp_path: Path) -> Path:
    return shutil.copytree(REAL, tmp_path / "case")


def test_a_hybrid_processor_s_lines_are_one_event_and_what_is_not_counted_is_absent() -> None:
    found = counts(FIXTURES / "perf-stat" / "hybrid.csv")
    assert found == {
        "cycles": 776775020.0, "instructions": 955433275.0, "branch-misses": 4792502.0,
        "page-faults": 31.0,
    }  # fmt: skip


def test_a_counter_that_ran_too_little_of_the_time_is_absent(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text(LINE.replace("100.00", "9.99"))
    assert counts(path) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("100,,cycles,5000\n", "line 1: 4 fields, not 5 or more"),
        (LINE.replace("100,", "-1,", 1), "line 1: count: '-1' is not a whole number"),
        (LINE.replace("100,", "1e9,", 1), "is not a whole number"),
        (LINE.replace("100,", "nan,", 1), "is not a whole number"),
        (LINE.replace("100,", "9" * 19 + ",", 1), "is above"),
        (LINE.replace("100.00", "200.00"), "percent: '200.00' is not a percentage"),
        (LINE.replace("100.00", ""), "percent: '' is not a percentage"),
        (LINE * 201, "more than 200 lines"),
    ],
)
def test_what_perf_does_not_write_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "iteration-01.csv"
    path.write_text(text)
    with pytest.raises(parsing.ParseError, match=said.replace("(", r"\(")):
        counts(path)


def test_the_start_is_taken_off_and_the_ratio_is_of_what_is_left() -> None:
    found = per_operation(
        {"cycles": 1100.0, "instructions": 2300.0, "page-faults": 40.0},
        {"cycles": 100.0, "instructions": 300.0, "page-faults": 50.0, "branches": 7.0},
        101,
    )
    assert found == {
        "cycles": 10.0, "instructions": 20.0, "instructions_per_cycle": 2.0, "page_faults": 0.0
    }  # fmt: skip


def test_a_real_case_has_what_its_host_counts_and_nothing_else() -> None:
    declared = Catalog().workloads["syscall"].metrics
    metrics = parsing.parse(REAL)["metrics"]
    # A machine without hardware counters.
    assert set(metrics) == {"time_per_call", "page_faults", "context_switches"}
    for name, metric in metrics.items():
        assert (metric["unit"], metric["direction"]) == (
            declared[name].unit,
            declared[name].direction,
        )
        assert (len(metric["warmup"]), len(metric["values"])) == (1, 3)


def test_with_hardware_counters_there_are_cycles_too(case_dir: Path) -> None:
    for path in case_dir.glob("*.csv"):
        scale = 1 if path.stem == "start" else 200_000
        counted = {"cycles": 1000 + 400 * scale, "instructions": 5000 + 800 * scale}
        path.write_text("".join(f"{n},,{event},1,100.00,,\n" for event, n in counted.items()))
    with pytest.raises(parsing.ParseError, match="it is not as it was written"):
        parsing.parse(case_dir)
    reseal(case_dir)
    metrics = parsing.parse(case_dir)["metrics"]
    assert set(metrics) == {"time_per_call", "cycles", "instructions", "instructions_per_cycle"}
    assert metrics["cycles"]["values"] == pytest.approx([400.0] * 3)
    assert metrics["instructions_per_cycle"]["values"] == pytest.approx([2.0] * 3)


def test_a_counter_that_one_pass_lacks_is_absent(case_dir: Path) -> None:
    path = case_dir / "iteration-02.csv"
    path.write_text(path.read_text().replace("page-faults", "other-faults"))
    reseal(case_dir)
    assert "page_faults" not in parsing.parse(case_dir)["metrics"]


def test_a_missing_file_of_counts_fails_the_case(case_dir: Path) -> None:
    (case_dir / "iteration-02.csv").unlink()
    with pytest.raises(parsing.ParseError, match=r"iteration-02\.csv: missing"):
        parsing.parse(case_dir)


def test_counts_that_nobody_asked_for_are_not_read(case_dir: Path) -> None:
    edit(case_dir / "case.json", lambda case: case["parameters"].update(counters="no"))
    assert set(parsing.parse(case_dir)["metrics"]) == {"time_per_call"}


def test_the_parameter_is_checked() -> None:
    assert run.check({"test": "basic"})["counters"] == "no"
    with pytest.raises(Exception, match="counters is 'maybe'"):
        run.check({"test": "basic", "counters": "maybe"})


def test_every_counter_of_the_kit_is_declared() -> None:
    declared = Catalog().workloads["syscall"].metrics
    counters = {name for name, metric in declared.items() if metric.counter}
    kit = load("workloads/_kit/counts.py")
    assert counters == {*kit.COUNTERS, kit.PER_CYCLE}
    for name in counters:
        assert kit.unit_of(name) == (declared[name].unit, declared[name].direction)


@pytest.mark.skipif(shutil.which("perf") is None, reason="there is no perf here")
def test_real_perf_counts_a_real_loop(tmp_path: Path) -> None:
    events = run.known_here()
    assert "page-faults" in events
    run.bench("basic", 1, events, tmp_path / "start.csv")
    run.bench("basic", 20_000, events, tmp_path / "pass.csv")
    found = per_operation(counts(tmp_path / "pass.csv"), counts(tmp_path / "start.csv"), 20_000)
    assert found["page_faults"] < 0.1
    assert found.get("cycles", 100.0) > 10


@pytest.mark.parametrize(
    ("pass_", "said"),
    [
        ({"branches": 1e3, "branch-misses": 1e6}, "branch_misses: 1000 an operation"),
        ({"instructions": 1e3, "branches": 1e6}, "branches: 1000 an operation"),
        ({"cycles": 1e3, "instructions": 1e6}, "instructions_per_cycle: 1000"),
    ],
)
def test_counters_that_contradict_each_other_are_refused(
    pass_: dict[str, float], said: str
) -> None:
    with pytest.raises(parsing.ParseError, match=said):
        per_operation(pass_, dict.fromkeys(pass_, 0.0), 1001)


CASES = FIXTURES / "cases"


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("38-hybrid-half-and-half", {"cycles": 2300.0, "instructions": 3000.0}),
        ("50-hybrid-95-and-5", {"cycles": 3300.0}),
    ],
)
def test_each_kind_of_core_counts_by_its_share_of_the_time(
    case: str, expected: dict[str, float]
) -> None:
    metrics = parsing.parse(CASES / case)["metrics"]
    for name, value in expected.items():
        assert metrics[name]["values"] == [pytest.approx(value, rel=1e-4)]


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        (("100.00", "100.00"), 400.0),  # counted beside each other, as over all processors
        (("40.00", "40.00"), 200.0),  # in turns with other events
        (("40.00", "0.00"), 100.0),  # never ran on the others
        (("9.00", "0.90"), None),
        (("9.00", "3.00"), 150.0),
    ],
)
def test_shares_that_are_not_the_whole_time_are_estimated_from(
    tmp_path: Path, shares: tuple[str, str], expected: float | None
) -> None:
    path = tmp_path / "some.csv"
    core, atom = shares
    path.write_text(f"100,,cpu_core/cycles/,5,{core},,\n300,,cpu_atom/cycles/u,5,{atom},,\n")
    assert counts(path) == ({"cycles": expected} if expected else {})
