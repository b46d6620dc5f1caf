"""Captures that were written to do harm, and lines that were written to take for ever."""

from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from mitigauge.analysis.profiles.capture import frames, headers
from mitigauge.analysis.profiles.capture.capture import Capture, overhead_percent, read_capture
from mitigauge.analysis.profiles.capture.collapse import Collapse
from mitigauge.analysis.profiles.capture.fold import Bounds
from mitigauge.analysis.profiles.capture.recording import find_recording
from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.catalog import Catalog
from pipelines.steps.measure import collect
from pipelines.steps.parser import profiled_pass, result_in, timed_pass
from pipelines.steps.profile_pass import Budget
from tests.fuzz.builders import HOST, gzipped, hostile_profile, job_files, spin_case, tar_of
from tests.measuring import measure, within_processor_s
from tests.specs import CATALOG

# As stackcollapse-perf.pl has them, but for commands' whole names; each takes a time that grows
# faster than a line's length.
UNTIMED = re.compile(rb"(\S(?:.*?\S)??)\s+-?\d+(?:/+-?\d*)?\s+")
TIMED = re.compile(UNTIMED.pattern + rb"(?:\[-?\d+\]\s+(?:[A-Za-z]{1,4}\s+)?)?\d+\.\d+:")
EVENT = re.compile(rb"\s+(?:(\d+)\s+)?(\S+):(?:\s|$)")
USUAL = re.compile(rb"(?>" + TIMED.pattern + rb")\s+(?:(\d+)\s+)?(\S+):\s*$")
FRAME = re.compile(rb"\s*([0-9a-f]{1,16})\s+(\S.*) \((.*)\)")
GO_METHOD = re.compile(rb"\.\(.*\)\.")


def capture(tmp_path: Path, text: bytes, bounds: Bounds | None = None, **host: Any) -> Capture:
    (tmp_path / "perf.script.gz").write_bytes(gzip.compress(text, 1))
    said = HOST | {"capture": "perf.script.gz"} | host
    (tmp_path / "profile.json").write_text(json.dumps(said))
    return read_capture(find_recording(tmp_path, limit_bytes=32 << 20), bounds=bounds)


def sample(*frames: str, head: str = "perf 1 [000] 1.5: 7 cycles:") -> bytes:
    return "\n".join([head, *(f"\t{frame}" for frame in frames), "\n"]).encode()


def refusal(directory: Path) -> str:
    with pytest.raises(InvalidInput) as refused:
        read_capture(find_recording(directory, limit_bytes=32 << 20))
    return str(refused.value)


@pytest.mark.measured
def test_ten_megabytes_of_different_stacks_are_refused_within_memory_and_time(
    tmp_path: Path,
) -> None:
    hostile_profile(tmp_path, 10 << 20)
    taken = measure(refusal, tmp_path)
    assert re.search(r"more than 200000 different stacks|folded stacks have", taken.answer)
    assert taken.started_bytes < 512 << 20
    assert taken.processor_s < 60


@pytest.mark.parametrize(
    ("text", "bounds", "said"),
    [
        (sample("1 f (x)") + sample("1 g (x)"), Bounds(stacks=1), "more than 1 different stacks"),
        (sample("1 f (x)") * 9 + sample("1 g (x)"), Bounds(stack_bytes=11), "more than 11 bytes"),
        (sample(f"1 {'f' * 999} (x)"), Bounds(line_bytes=900), "perf.script.gz:2: 1006 characters"),
        (sample("1 f (x)") + sample(f"1 {'f' * 999} (x)"), Bounds(line_bytes=900), "1006 charac"),
        (sample("1 f (x)", "2 g (x)", "3 h (x)"), Bounds(symbols=3), "more than 3 different names"),
        (sample("1 f (x)", head=f"perf 1 1.5: {'9' * 5000} cycles:"), None, "a period of 5000"),
        (
            sample("1 f (x)") + sample("1 f (x)", head=f"perf 1 1.5: {'9' * 5000} cycles:"),
            None,
            "a period of 5000 digits",
        ),
        (sample(*["1 f (x)"] * 9000), None, "a stack of 9001 frames"),
        (sample("1 f (x)") + sample(*["1 f (x)"] * 9000), None, "a stack of 9001 frames"),
        (sample("1 " + "f->" * 9000 + "g (x)"), None, "a stack of 9002 frames"),
        (b"perf 1 1.5: 7 cycles:\n\t1 f\x1b[2J", None, "has no sample"),
    ],
)
def test_every_bound_is_told(tmp_path: Path, text: bytes, bounds: Bounds | None, said: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(said)):
        capture(tmp_path, text, bounds)


def test_a_fold_that_is_ended_by_its_time_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"perf.script.gz did not end within 0.01 s"):
        capture(tmp_path, sample("1 f (x)"), Bounds(seconds=0.01))


LINES = [
    b"perf 1 1.5: " + b"1" * 60_000 + b"x",
    b"perf" + b" " * 60_000 + b"x",
    b"a " + b"1" * 60_000 + b"x",
    b"\t" + b"a" * 60_000,
    b"\t" + b"a" * 30_000 + b" (" * 15_000,
    b"\t1 " + b" (" * 30_000,
    b"\t1 " + b".(" * 30_000 + b" (x)",
    b"\t1 f" + b"+0x" * 20_000 + b" (x)",
    b"perf 1 1.5: " + b": " * 30_000,
    b"perf 1 1.5: 1 " + b":" * 60_000 + b"x",
    b"perf 1 [" + b"0" * 60_000,
    b"perf 1 1.5:" + b" " * 60_000 + b"x",
    b"a " + b"1 " * 30_000 + b"x",
    b"a" + b" 1 1.5:" * 9_000 + b" x",
    b"a 1 1.5: 1 c: 1" + b" (" * 30_000,
    b"a 1 1.5: 1 c: 1" + b" f)" * 20_000 + b"x",
]


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_no_line_takes_for_ever(line: bytes) -> None:
    with within_processor_s(15):
        fold = Collapse(event="cycles")
        told = b"perf 1 1.5: 7 cycles:\n"
        fold.feed(sample("1 f (x)") + line + b"\n\n" + told + line + b"\n\n")
        fold.finish()


def test_headers_and_frames_are_told_apart_as_by_the_expressions_they_replace() -> None:
    rng = random.Random(5)
    for _ in range(60_000):
        line = bytes(rng.choices(b"a1- /:.()[]\t", k=rng.randrange(14)))
        if rng.random() < 0.3:
            line = b"ab 1" + line
        found = TIMED.match(line) or UNTIMED.match(line)
        assert (found and found[1]) == headers.command_of(line), line
        timed = TIMED.match(line)
        found = EVENT.match(line, timed.end()) if timed else None
        header = headers.header_of(line) if timed else None
        read = (header.digits, header.event) if header and header.event else None
        assert (found and (found[1] or b"", found[2])) == read, line
        usual = TIMED.match(line) if USUAL.match(line) else None
        assert (usual and usual[1]) == headers.command_of_usual(line), line
        found = FRAME.match(line)
        # Brackets in a file's name, and blanks in a symbol's place, are read here alone.
        if found and line.count(b"(") == line.count(b")") == 1 and found[2].strip():
            assert found.groups()[1:] == frames._parts(line), line
        assert bool(GO_METHOD.search(line)) == frames._is_go_method(line), line


def job(tmp_path: Path, files: dict[str, bytes]) -> Path:
    path = tmp_path / "job.tar.gz"
    path.write_bytes(gzipped(tar_of(job_files(files))))
    return path


def test_how_often_to_run_is_asked_of_the_plan_and_not_of_the_host(
    tmp_path: Path, home: Path
) -> None:
    parameters = {"test": "basic", "seconds": 1, "loops": 0}
    case = spin_case(workload="syscall", parameters=parameters, profile_hz=None)
    lie = {"case_id": "1", "parameters": parameters | {"loops": 10**10}, "iterations": 10**10,
           "warmup": 10**10}  # fmt: skip
    record = {"loops": 1000, "started_at": "x", "finished_at": "y", "lab_faults": [], "tools": {}}
    files = {"1/case.json": json.dumps(lie).encode(), "1/run.json": json.dumps(record).encode()}
    with within_processor_s(10):
        [output] = collect(job(tmp_path, files), [case], Catalog())
    assert (output.state, output.error.partition("/")[0]) == ("failed", "parse.py: ")
    assert output.error.endswith(": warmup-01.txt: missing")


def test_a_result_of_other_parameters_or_warm_ups_is_refused(tmp_path: Path, home: Path) -> None:
    asked = timed_pass(spin_case())
    assert result_in(tmp_path, asked, CATALOG).body.parameters == {"size": 1}
    parser = (CATALOG.workload_directory("spin") / "parse.py").read_text()
    for change, said in (
        (('case["parameters"],', '{"size": 2},'), "the result is of parameters {'size': 2}, "),
        (('* case["warmup"]', ""), "metrics.time: 1 warm-ups, the plan asks for 2"),
    ):
        root = tmp_path / said[:12]
        (root / "workloads/spin").mkdir(parents=True)
        (root / "workloads/spin/parse.py").write_text(parser.replace(*change))
        with pytest.raises(InvalidInput, match=re.escape(said)):
            result_in(tmp_path, timed_pass(spin_case(warmup=2)), Catalog(root))


@pytest.mark.parametrize("content", [b"\xff", b"[]", b"{}", b'{"repeat_with": 3}'])
def test_a_pass_that_fixes_nothing_is_repeated_as_it_was_asked(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "run.json").write_bytes(content)
    if content == b"\xff":
        with pytest.raises(InvalidInput, match=r"run.json: not JSON"):
            profiled_pass(timed_pass(spin_case()), tmp_path)
        return
    asked = profiled_pass(timed_pass(spin_case()), tmp_path)
    assert (asked.parameters, asked.warmup) == ({"size": 1}, 0)


@pytest.mark.parametrize("fixed", [{"size": "1"}, {"new": 1}, {"size": 1e300}, {"size": True}])
def test_a_pass_may_fix_its_own_parameters_only(tmp_path: Path, fixed: dict[str, Any]) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"repeat_with": fixed}))
    with pytest.raises(InvalidInput, match=r"run.json: repeat_with: .* is no value of"):
        profiled_pass(timed_pass(spin_case()), tmp_path)


def test_a_case_file_that_is_a_directory_is_replaced(tmp_path: Path, home: Path) -> None:
    (tmp_path / "case.json/deep").mkdir(parents=True)
    assert result_in(tmp_path, timed_pass(spin_case()), CATALOG).body.case_id == "1"


def test_the_captures_of_one_job_have_a_budget_together() -> None:
    budget = Budget(seconds=10.0, stack_bytes=100)
    assert (budget.bounds().seconds, budget.bounds().stack_bytes) == (10.0, 100)
    budget.seconds = -0.1
    with pytest.raises(InvalidInput, match="the job's other captures took 300 s"):
        budget.bounds()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seconds": 1e300}, "profile.json: seconds"),
        ({"counters": {"cycles": 1e300}}, "profile.json: counters.cycles"),
        ({"state": "failed", "detail": "\x1b]0;owned\x07\0"}, "�]0;owned��"),
    ],
)
def test_what_a_profile_says_is_bounded_and_clean(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        capture(tmp_path, sample("1 f (x)"), **changes)
    assert refused.value.message.startswith(said)


def test_an_overhead_that_is_no_number_is_none() -> None:
    assert overhead_percent("lower", [5e-324], [1e100]) is None
