"""syscall: perf's output to nanoseconds per call, and what is refused."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from tests.loading import load
from tests.workload_cases import edit

WORKLOAD = REPOSITORY / "workloads/syscall"
FIXTURES = sorted(path.parent for path in WORKLOAD.glob("fixtures/*/case.json"))
syscall = load("workloads/syscall/run")
parsing = load("workloads/syscall/parse.py")


@pytest.fixture
def case_dir(tmp_path: Path) -> Path:
    """A copy of a real case to break."""
    return shutil.copytree(WORKLOAD / "fixtures/basic", tmp_path / "case")


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_there_is_a_real_fixture_of_every_test() -> None:
    assert {path.name for path in FIXTURES} == set(syscall.PROBE_LOOPS)
    assert Catalog().workloads["syscall"].parameters["test"].values == tuple(syscall.PROBE_LOOPS)


@pytest.mark.parametrize("directory", FIXTURES, ids=lambda path: path.name)
def test_a_real_case_gives_time_per_call_in_nanoseconds(directory: Path) -> None:
    declared = Catalog().workloads["syscall"].metrics["time_per_call"]
    result = parsing.parse(directory)
    metric = result["metrics"]["time_per_call"]
    assert (metric["unit"], metric["direction"]) == (declared.unit, declared.direction)
    record = json.loads((directory / "run.json").read_text())
    printed = {
        number: float(line.split()[0]) * 1000
        for number, path in enumerate(sorted(directory.glob("iteration-*.txt")), start=1)
        for line in path.read_text().splitlines()
        if line.endswith("usecs/op")
    }
    pace = record["pace"]
    assert metric["values"] == [printed.pop(number) for number in pace["counted"]]
    assert metric["disturbed"] == list(printed.values())
    assert len(metric["values"]) == 3
    assert sorted(result["pace"]["values"] + result["pace"]["disturbed"]) == sorted(
        pace["slowdowns"]
    )
    assert max(result["pace"]["values"]) <= result["pace"]["limit"]
    assert result["operations"] == 3 * record["loops"]
    assert result["tools"]["perf"][0].isdigit()


def test_calls_that_take_less_than_the_total_shows_have_their_time(tmp_path: Path) -> None:
    output = tmp_path / "iteration-01.txt"
    output.write_text(
        "# Running 'syscall/basic' benchmark:\n# Executed 200 getppid() calls\n"
        "     Total time: 0.000 [sec]\n\n       0.450000 usecs/op\n        2222222 ops/sec\n"
    )
    assert parsing.time_per_call_ns(output, "basic", 200) == 450.0
    output.write_text(output.read_text().replace("0.450000", "45.000000"))
    with pytest.raises(parsing.ParseError, match=r"is not the total of 0\.000 s"):
        parsing.time_per_call_ns(output, "basic", 200)


LINES = [
    ("usecs/op", "usec/op", "usecs/op: found 0 times, not once"),
    ("Total time:", "Total:", "Total time: found 0 times"),
    ("getppid() calls", "getppid() call", "calls: found 0 times"),
    ("syscall/basic", "syscall/fork", "benchmark: 'fork', but the case asked 'basic'"),
    ("ops/sec", "", "ops/sec: found 0 times"),
]


@pytest.mark.parametrize(("old", "new", "said"), LINES, ids=[line[0] for line in LINES])
def test_a_line_that_is_not_as_perf_writes_it_is_refused(
    case_dir: Path, old: str, new: str, said: str
) -> None:
    replace(case_dir / "iteration-02.txt", old, new)
    with pytest.raises(parsing.ParseError) as refused:
        parsing.parse(case_dir)
    assert str(refused.value).startswith(f"iteration-02.txt: {said}")


@pytest.mark.parametrize("value", ["nan", "inf", "-nan", "0.000000", "-1.0", "0,36", "0x1p3"])
def test_a_figure_that_is_no_finite_number_above_0_is_refused(case_dir: Path, value: str) -> None:
    path = case_dir / "iteration-01.txt"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(
        "".join(f"   {value} usecs/op\n" if line.endswith("usecs/op\n") else line for line in lines)
    )
    with pytest.raises(parsing.ParseError, match=r"^iteration-01.txt: usecs/op: "):
        parsing.parse(case_dir)


def test_output_cut_off_in_the_middle_of_a_number_is_refused(case_dir: Path) -> None:
    path = case_dir / "iteration-01.txt"
    whole = path.read_text()
    for end in range(len(whole.rstrip()) - len("ops/sec")):
        path.write_text(whole[:end])
        with pytest.raises(parsing.ParseError):
            parsing.parse(case_dir)


def test_a_figure_that_contradicts_the_total_is_refused(case_dir: Path) -> None:
    path = case_dir / "iteration-01.txt"
    line = next(line for line in path.read_text().splitlines() if line.endswith("usecs/op"))
    per_call = line.split()[0]
    replace(path, per_call, f"{float(per_call) * 1.01:.6f}")
    with pytest.raises(parsing.ParseError, match="is not the total of"):
        parsing.parse(case_dir)


def test_one_real_case_had_iterations_taken_again() -> None:
    assert len(parsing.parse(WORKLOAD / "fixtures/basic")["metrics"]["time_per_call"]["disturbed"])


def test_a_pass_beside_which_no_loop_was_timed_says_nothing_of_the_pace(case_dir: Path) -> None:
    edit(case_dir / "run.json", lambda record: record.pop("pace"))
    result = parsing.parse(case_dir)
    assert "pace" not in result
    assert result["metrics"]["time_per_call"]["disturbed"] == []
    assert len(result["metrics"]["time_per_call"]["values"]) == 3


PACES: list[tuple[dict[str, Any], str]] = [
    ({"counted": [1, 2]}, "counted: [1, 2] are not 3 of"),
    ({"counted": [1, 2, 2]}, "counted: [1, 2, 2] are not 3 of"),
    ({"counted": [0, 1, 2]}, "counted: [0, 1, 2] are not 3 of"),
    ({"counted": [1, 2, 99]}, "counted: [1, 2, 99] are not 3 of"),
    ({"counted": "1"}, "counted: '1' is not list"),
    ({"counted": [[1], 2, 3]}, "counted: [[1], 2, 3] are not 3 of"),
    ({"counted": [True, 2, 3]}, "counted: [True, 2, 3] are not 3 of"),
    ({"slowdowns": [1.0, 0.5, 1.0]}, "0.5 is not a finite number"),
    ({"slowdowns": [1.0, float("nan"), 1.0]}, "NaN is not a number"),
    ({"slowdowns": [1.0, "1.0", 1.0]}, "'1.0' is not a finite number"),
    ({"limit": float("inf")}, "Infinity is not a number"),
    ({"limit": None}, "limit: None is not float"),
]


@pytest.mark.parametrize(("wrong", "said"), PACES, ids=[said for _, said in PACES])
def test_a_pace_that_makes_no_sense_is_refused(
    case_dir: Path, wrong: dict[str, Any], said: str
) -> None:
    edit(case_dir / "run.json", lambda record: record["pace"].update(wrong))
    with pytest.raises(parsing.ParseError, match=re.escape(said)):
        parsing.parse(case_dir)


@pytest.mark.parametrize("name", ["case.json", "run.json", "warmup-01.txt", "iteration-03.txt"])
def test_a_missing_file_is_named(case_dir: Path, name: str) -> None:
    (case_dir / name).unlink()
    with pytest.raises(parsing.ParseError, match=f"^{name}: missing$"):
        parsing.parse(case_dir)


def run(tmp_path: Path, parameters: dict[str, Any], **environment: str) -> Any:
    path = tmp_path / "in.json"
    path.write_text(
        json.dumps({"case_id": "c", "workload": "syscall", "parameters": parameters,
                    "iterations": 2, "warmup": 1, "timeout_s": 60})
    )  # fmt: skip
    return subprocess.run(
        [WORKLOAD / "run", path, tmp_path / "out"],
        check=False, capture_output=True, text=True, env={**os.environ, **environment},
    )  # fmt: skip


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed here")
def test_the_real_perf_runs_pinned_and_its_output_parses(tmp_path: Path) -> None:
    cpu = min(os.sched_getaffinity(0))
    done = run(tmp_path, {"test": "basic", "loops": 200_000}, MITIGAUGE_CPU=str(cpu))
    assert (done.returncode, done.stderr) == (0, "")
    result = parsing.parse(tmp_path / "out")
    assert len(result["metrics"]["time_per_call"]["values"]) == 2
    assert json.loads((tmp_path / "out/run.json").read_text())["cpu"] == cpu


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed here")
def test_the_calls_are_scaled_to_the_seconds_asked(tmp_path: Path) -> None:
    assert run(tmp_path, {"test": "basic", "seconds": 0.2}).returncode == 0
    total = parsing.only(
        r"Total time: (\S+)", (tmp_path / "out/iteration-01.txt").read_text(), "", ""
    )
    # The pace while it was scaled is not that of the iteration where the machine is shared.
    assert 0.005 < float(total) < 60
    record = json.loads((tmp_path / "out/run.json").read_text())
    assert record["loops"] > 10_000
    assert record["repeat_with"] == {"loops": syscall.PROFILED_TIMES * record["loops"]}


@pytest.mark.parametrize(
    ("parameters", "environment", "said"),
    [
        ({"test": "read"}, {}, "test is 'read', not one of: basic, getpgid, fork, execve"),
        ({"test": "basic", "loops": -1}, {}, "loops is -1"),
        ({"test": "basic", "seconds": 0}, {}, "seconds is 0"),
        ({"test": "basic"}, {"MITIGAUGE_CPU": "9999"}, "MITIGAUGE_CPU is '9999'"),
        ({"test": "basic"}, {"PATH": "/nonexistent"}, "apt install linux-perf"),
    ],
)
def test_what_cannot_run_says_why_and_leaves_the_exit_code_in_its_record(
    tmp_path: Path, parameters: dict[str, Any], environment: dict[str, str], said: str
) -> None:
    done = run(tmp_path, parameters, **environment)
    assert done.returncode == 1
    assert said in done.stderr
    if (tmp_path / "out").is_dir():
        assert json.loads((tmp_path / "out/run.json").read_text())["exit_code"] == 1


def test_a_pass_of_other_loops_or_of_much_less_time_than_was_asked_is_refused(
    case_dir: Path,
) -> None:
    edit(case_dir / "case.json", lambda case: case["parameters"].update(loops=5))
    with pytest.raises(parsing.ParseError, match=r"run.json: loops: \d+, but the case asked 5"):
        parsing.parse(case_dir)
    edit(case_dir / "case.json", lambda case: case["parameters"].update(loops=0, seconds=10))
    with pytest.raises(parsing.ParseError, match=r"warmup-01.txt: Total time: .* asked 10 s"):
        parsing.parse(case_dir)
