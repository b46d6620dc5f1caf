"""compile: a source that is the same everywhere, real builds, and what is refused."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from tests.loading import load
from tests.workload_cases import edit, refused_of_300

WORKLOAD = REPOSITORY / "workloads/compile"
FIXTURES = sorted(path.parent for path in WORKLOAD.glob("fixtures/*/case.json"))
compile_run = load("workloads/compile/run")
c_source = load("workloads/compile/c_source.py")
parsing = load("workloads/compile/parse.py")
NEEDED = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in compile_run.TOOLS),
    reason="gcc, make or as is not installed here",
)
SMALL = {"jobs": 2, "units": 3, "functions": 1, "seed": 7}
# Long enough for some of the kernel's ticks to fall into the kernel: the split of a process's
# time is sampled, and one in which none fell there is refused.
MEASURABLE = SMALL | {"units": 32}


@pytest.fixture
def case_dir(tmp_path: Path) -> Path:
    """A copy of a real case to break."""
    return shutil.copytree(WORKLOAD / "fixtures/two-jobs", tmp_path / "case")


def run(directory: Path, parameters: dict[str, Any], **environment: str) -> Any:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "in.json"
    path.write_text(
        json.dumps({"case_id": "c", "workload": "compile", "parameters": parameters,
                    "iterations": 2, "warmup": 1, "timeout_s": 60})
    )  # fmt: skip
    return subprocess.run(
        [WORKLOAD / "run", path, directory / "c"],
        check=False, capture_output=True, text=True, env={**os.environ, **environment}, timeout=120,
    )  # fmt: skip


def test_the_source_is_the_same_bytes_on_every_host_and_python() -> None:
    # Figures of another source are not to be compared: a change here raises c_source.VERSION.
    assert c_source.VERSION == 1
    assert c_source.digest(1, 24, 3).startswith("c1884e5e9dc4d3e2d454ec1e8014b8b2")


def test_another_seed_is_another_source_and_a_unit_does_not_depend_on_their_number() -> None:
    assert c_source.digest(1, 4, 3) != c_source.digest(2, 4, 3)
    assert c_source.shared_header(1) != c_source.shared_header(2)
    names = [name for name, _ in c_source.files(1, 3, 2)]
    assert names == ["Makefile", "shared.h", "unit-0000.c", "unit-0001.c", "unit-0002.c"]


@pytest.mark.parametrize("directory", FIXTURES, ids=lambda path: path.name)
def test_a_real_case_gives_seconds_and_units_per_second(directory: Path) -> None:
    declared = Catalog().workloads["compile"].metrics
    result = parsing.parse(directory)
    case = json.loads((directory / "case.json").read_text())
    assert set(result["metrics"]) == set(declared)
    for name, metric in result["metrics"].items():
        assert (metric["unit"], metric["direction"]) == (
            declared[name].unit, declared[name].direction,
        )  # fmt: skip
        assert (len(metric["values"]), len(metric["warmup"])) == (
            case["iterations"], case["warmup"],
        )  # fmt: skip
    first = json.loads((directory / "iteration-01.json").read_text())
    metrics = result["metrics"]
    assert metrics["wall"]["values"][0] == first["wall_ns"] / 1e9
    assert metrics["user"]["values"][0] == first["user_us"] / 1e6
    assert metrics["system"]["values"][0] == first["system_us"] / 1e6
    units = case["parameters"]["units"]
    assert metrics["throughput"]["values"][0] == units / (first["wall_ns"] / 1e9)
    assert result["operations"] == units * case["iterations"]
    assert set(result["tools"]) == set(compile_run.TOOLS)


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("iteration-02.json", {"units": 23}, "iteration-02.json: units: 23, but the case asked 24"),
    ("iteration-02.json", {"jobs": 3}, "iteration-02.json: jobs: 3, but the case asked 2"),
    ("iteration-02.json", {"wall_ns": 5}, "wall_ns: 5 is not the time from began to ended"),
    ("iteration-02.json", {"wall_ns": 0}, "wall_ns: not from 1"),
    ("iteration-02.json", {"user_us": 1.5}, "user_us: 1.5 is not int"),
    ("iteration-02.json", {"user_us": True}, "user_us: True is not int"),
    ("iteration-02.json", {"system_us": 0}, "system_us: not from 1"),
    ("iteration-02.json", {"processor_us": 7}, "processor_us: 7 is not the sum"),
    ("iteration-02.json", {"user_us": 1 << 40, "system_us": 1, "processor_us": (1 << 40) + 1},
     "is more than 2 processors have"),
    ("iteration-02.json", {"objects_sha256": "0" * 64}, "objects_sha256: other objects than"),
    ("iteration-02.json", {"objects_sha256": "x"}, "objects_sha256: 'x' is no SHA-256"),
    ("iteration-02.json", {"began_ns": 0, "ended_ns": 1, "wall_ns": 1}, "is more than 2 proc"),
    ("iteration-02.json", {"began_ns": 0, "ended_ns": 10**10, "wall_ns": 10**10},
     "began_ns: before the compile before it ended"),
    ("run.json", {"processors": 0}, "run.json: processors: not from 1"),
    ("run.json", {"processors": 3}, "run.json: jobs: 2, but the case asked 0 on 3 processors"),
    ("run.json", {"source_sha256": "0" * 64}, "not the source that these parameters give"),
    ("run.json", {"tools": []}, "run.json: tools: [] is not dict"),
    ("case.json", {"iterations": 4}, "iteration-04.json: missing"),
    ("case.json", {"parameters": {"jobs": 0, "units": 4096, "functions": 500, "seed": 1}},
     "case.json: parameters: more than 200000 functions"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "change", "said"), WRONG, ids=[said for _, _, said in WRONG])
def test_what_cannot_be_true_is_refused_by_file_and_field(
    case_dir: Path, file: str, change: dict[str, Any], said: str
) -> None:
    edit(case_dir / file, lambda content: content.update(change))
    with pytest.raises(parsing.ParseError) as refused:
        parsing.parse(case_dir)
    assert said in str(refused.value)


@pytest.mark.parametrize("name", ["case.json", "run.json", "warmup-01.json", "iteration-03.json"])
def test_a_missing_file_is_named(case_dir: Path, name: str) -> None:
    (case_dir / name).unlink()
    with pytest.raises(parsing.ParseError, match=f"^{name}: missing$"):
        parsing.parse(case_dir)


def test_output_cut_off_anywhere_is_refused(case_dir: Path) -> None:
    path = case_dir / "iteration-01.json"
    whole = path.read_text()
    for end in range(len(whole.rstrip()) - 1):
        path.write_text(whole[:end])
        with pytest.raises(parsing.ParseError):
            parsing.parse(case_dir)


def test_changed_output_is_refused_or_gives_the_same_numbers(case_dir: Path) -> None:
    """The short form of `make fuzz`, which does ten thousand (tests/fuzz/workloads.py)."""
    assert refused_of_300(parsing, case_dir, "iteration-02.json") > 150


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"jobs": -1}, "jobs is -1, not a whole number from 0 to 4096"),
        ({"units": 0}, "units is 0"),
        ({"functions": True}, "functions is True"),
        ({"seed": 1.5}, "seed is 1.5"),
        ({"units": 4096, "functions": 500}, "units × functions is more than 200000"),
    ],
)
def test_an_unknown_parameter_is_refused_before_anything_starts(
    tmp_path: Path, parameters: dict[str, Any], said: str
) -> None:
    done = run(tmp_path, parameters)
    assert done.returncode == 1
    assert said in done.stderr
    assert not (tmp_path / "c").exists()


def tool(directory: Path, name: str, script: str) -> None:
    """A program of that name that is found first."""
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("missing", ["gcc", "make"])
def test_a_host_without_a_tool_is_told_which_and_how_to_get_it(
    tmp_path: Path, missing: str
) -> None:
    """`run` names its interpreter by its path, so it starts without one in PATH too."""
    for name in {"gcc", "make", "as"} - {missing}:
        tool(tmp_path / "bin", name, f"echo {name} 1.0")
    done = run(tmp_path, SMALL, PATH=str(tmp_path / "bin"))
    assert done.returncode == 1
    assert f"{missing} is not installed on the host: apt install gcc make" in done.stderr
    assert json.loads((tmp_path / "c/run.json").read_text())["exit_code"] == 1


@NEEDED
def test_the_real_tools_compile_the_same_objects_each_time(tmp_path: Path) -> None:
    done = run(tmp_path, MEASURABLE)
    assert (done.returncode, done.stderr) == (0, "")
    result = parsing.parse(tmp_path / "c")
    assert len(result["metrics"]["wall"]["values"]) == 2
    record = json.loads((tmp_path / "c/run.json").read_text())
    assert len(record["measured"]) == 2
    assert re.search(r"\d+\.\d+", record["tools"]["gcc"])
    # Nothing of the compile is left: what a case leaves is sent over the network.
    kept = {path.name for path in (tmp_path / "c").iterdir()}
    assert kept == {"case.json", "run.json", "warmup-01.json", "iteration-01.json",
                    "iteration-02.json"}  # fmt: skip
    assert not list(compile_run.MEMORY.glob("mitigauge-compile-*"))


@NEEDED
def test_a_compiler_that_fails_fails_the_case_with_what_it_said(tmp_path: Path) -> None:
    tool(
        tmp_path / "bin", "gcc", '[ "$1" = --version ] && echo gcc 1 || { echo no space; exit 4; }'
    )
    done = run(tmp_path, SMALL, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert done.returncode == 1
    assert "make ended with 2" in done.stderr
    assert "no space" in done.stderr


@NEEDED
def test_a_compiler_that_leaves_no_object_is_found_out(tmp_path: Path) -> None:
    tool(tmp_path / "bin", "gcc", "echo gcc 1")
    done = run(tmp_path, SMALL, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert done.returncode == 1
    assert "make ended well, but left no unit-0000.o" in done.stderr


def test_the_versions_of_the_tools_belong_to_the_fingerprint() -> None:
    defaults = REPOSITORY / "ansible/roles/fingerprint/defaults/main.yml"
    counted = yaml.safe_load(defaults.read_text())["fingerprint_packages"]
    assert {*Catalog().workloads["compile"].packages, "binutils"} <= set(counted)


def earlier_job(jobs: Path, **record: Any) -> Path:
    """A job of an earlier boot, and an empty one of this; the case's directory in it."""
    before = {"workload": "compile", "exit_code": 0, "tools": {"gcc": "gcc 12", "make": "make 4"}}
    for name in ("boot-1", "boot-2"):
        (jobs / name / "17").mkdir(parents=True)
        (jobs / name / "job.json").write_text("{}")
    (jobs / "boot-1/17/run.json").write_text(json.dumps({**before, **record}))
    return jobs / "boot-2" / "17"


def test_tools_other_than_an_earlier_boot_s_are_refused_with_both_versions(tmp_path: Path) -> None:
    output = earlier_job(tmp_path)
    with pytest.raises(compile_run.CaseError) as refused:
        compile_run.refuse_other_tools(output, {"gcc": "gcc 14", "make": "make 4"})
    said = str(refused.value)
    assert said.startswith("gcc is now 'gcc 14'; job boot-1 compiled this case with 'gcc 12'")
    assert "submit the experiment anew" in said


@pytest.mark.parametrize(
    "record", [{}, {"exit_code": 1, "tools": {}}, {"workload": "exits", "tools": {}}, {"tools": 3}]
)
def test_the_same_tools_and_what_says_nothing_of_them_are_no_reason_to_refuse(
    tmp_path: Path, record: dict[str, Any]
) -> None:
    output = earlier_job(tmp_path, **record)
    compile_run.refuse_other_tools(output, {"gcc": "gcc 12", "make": "make 4"})


def test_by_hand_there_are_no_earlier_boots_to_look_at(tmp_path: Path) -> None:
    output = earlier_job(tmp_path)
    (tmp_path / "boot-2/job.json").unlink()
    compile_run.refuse_other_tools(output, {"gcc": "gcc 14"})


def test_each_unit_is_there_so_many_times_under_other_names() -> None:
    once = dict(c_source.files(1, 2, 1))
    twice = dict(c_source.files(1, 2, 1, 2))
    assert twice["unit-0002.c"] == once["unit-0000.c"] != once["unit-0001.c"]
    assert "unit-0003.o" in twice["Makefile"]
    assert len(twice) == 6


@pytest.mark.long("a real compiler, six builds")
@NEEDED
def test_a_counted_pass_builds_once_twice_and_three_times(tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    # So many functions that a compiler runs longer than a look at all processes takes.
    parameters = SMALL | {"functions": 60}
    path.write_text(
        json.dumps({"case_id": "c", "workload": "compile", "parameters": parameters,
                    "counted": True, "iterations": 2, "warmup": 1, "timeout_s": 60})
    )  # fmt: skip
    output = tmp_path / "c"
    subprocess.run([WORKLOAD / "run", path, output], check=True, timeout=120)
    told = json.loads((output / "run.json").read_text())["exact"]
    assert [(each["number"], each["operations"]) for each in told] == [(1, 2), (2, 4), (3, 6)]
    assert all(each["seconds"] > 0 for each in told)
    maps = (output / "maps-1.txt").read_text()
    assert re.search(r"^[0-9a-f]+-[0-9a-f]+ r-xp [0-9a-f]+ 00:00 0 /.*/cc1$", maps, re.MULTILINE)
    assert not list(output.glob("iteration-*"))
