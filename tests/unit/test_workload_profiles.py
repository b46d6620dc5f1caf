"""The runner's profiled passes: over a stand-in for perf that fails on demand, and over perf."""

from __future__ import annotations

import gzip
import itertools
import json
import mmap
import os
import re
import shutil
import socketserver
import statistics
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mitigauge.analysis.profiles.capture.capture import read_capture
from mitigauge.analysis.profiles.capture.decompress import pieces
from mitigauge.analysis.profiles.capture.recording import find_recording
from mitigauge.core.settings import REPOSITORY
from mitigauge.core.wire.case import PROFILE_MARGIN_S
from tests.loading import load, stage_runner

RECORDED = REPOSITORY / "tests/fixtures/profiles/syscall-basic.perf.script.gz"
profiling = load("ansible/roles/workload/files/_profiling.py")
instructions = load("ansible/roles/workload/files/_instructions.py")
hpet = load("ansible/roles/workload/files/_hpet.py")
job = load("ansible/roles/workload/library/workload_job.py")

# Knows the calls the runner makes; FAULT names the one that fails.
PERF = f"""#!{sys.executable}
import gzip, os, subprocess, sys
call, fault = sys.argv[1], os.environ.get("FAULT", "")
if fault == call:
    sys.exit(f"perf {{call}} broke")
if call == "--version":
    print("perf version 6.9.1")
elif call == "record":
    open(sys.argv[sys.argv.index("-o") + 1], "w").write("recording")
    print("[ perf record: Woken up 1 times to write data ]", file=sys.stderr)
    sys.exit(subprocess.run(sys.argv[sys.argv.index("--") + 1:]).returncode)
elif call == "stat" and not os.environ["COUNTS"].isdigit():
    sys.exit("Error:\\nNo supported events found.\\nThe cycles event is not supported.")
elif call == "stat" and "-o" in sys.argv:
    with open(sys.argv[sys.argv.index("-o") + 1], "w") as file:
        file.write("# started\\n\\n")
        for event in sys.argv[sys.argv.index("-e") + 1].split(","):
            count = os.environ["COUNTS"] if event != "branches" else "<not counted>"
            file.write(f"{{count}},,{{event}},100,100.00,,\\n")
    sys.exit(subprocess.run(sys.argv[sys.argv.index("--") + 1:]).returncode)
elif call == "stat":
    for event in sys.argv[sys.argv.index("-e") + 1].split(","):
        count = os.environ["COUNTS"] if event != "branches" else "<not counted>"
        print(f"{{count}},,{{event}},100,100.00,,", file=sys.stderr)
elif call == "report":
    print("Aggregated stats:\\n LOST events:  1\\n" + os.environ["STATS"])
elif call == "script":
    sys.stdout.buffer.write(gzip.open({str(RECORDED)!r}).read())
"""
# Says what it was asked; fails under the profiler where it is told to.
WORKLOAD = """#!/bin/sh
echo "$2" >> "${2%%/job/*}/order"
printf '{"repeat_with": {"loops": 7}}' > "$2/run.json"
case "$2$FAULT" in */profilerun) echo "no luck" >&2; exit 3 ;; esac
"""


class Bench:
    """Staged workloads, a job directory and the environment in which the runner runs."""

    def __init__(self, root: Path) -> None:
        self.root, self.job = root, root / "job"
        self.nmi_source = ""
        self.environment = {
            "PATH": f"{root}/bin:{os.environ['PATH']}", "COUNTS": "1234",
            "STATS": "cycles stats:\n SAMPLE events: 206\n LOST_SAMPLES events: 17\n",
        }  # fmt: skip
        for directory in ("bin", "w", "job"):
            (root / directory).mkdir()
        self.program("bin/perf", PERF)
        self.program("w/run", WORKLOAD)
        stage_runner(root)

    def program(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)
        (self.root / name).chmod(0o755)

    def run(self, *cases: dict[str, Any], **environment: str) -> dict[str, Any]:
        """The job's final state."""
        listed = [
            {"case_id": str(number), "workload": "w", "parameters": {"test": "x", "loops": 0},
             "iterations": 3, "warmup": 1, "timeout_s": 30, "profile_hz": 199} | case
            for number, case in enumerate(cases or ({},), start=1)
        ]  # fmt: skip
        content = {"job": "j", "cases": listed, "nmi_source": self.nmi_source}
        (self.job / "job.json").write_text(json.dumps(content))
        done = subprocess.run(
            [sys.executable, "-B", self.root / "_runner", self.job], check=True,
            capture_output=True, text=True, env=self.environment | environment,
        )  # fmt: skip
        assert done.stdout + done.stderr == ""
        state: dict[str, Any] = json.loads((self.job / "state.json").read_text())
        return state

    def profile(self, case: str = "1") -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.job / case / "profile/profile.json").read_text())
        return content


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A bench of the test's own."""
    return Bench(tmp_path)


def test_profiled_passes_come_after_every_timed_one(bench: Bench) -> None:
    state = bench.run({}, {"profile_hz": None}, {})
    assert state["state"] == "finished"
    assert "profiling" not in state
    order = [
        line.removeprefix(f"{bench.job}/")
        for line in (bench.root / "order").read_text().splitlines()
    ]
    assert order == ["1", "2", "3", "1/profile", "3/profile"]


def test_a_profiled_pass_is_the_same_work_without_warm_up(bench: Bench) -> None:
    bench.run()
    profiled = json.loads((bench.job / "1/profile/case.json").read_text())
    assert (profiled["iterations"], profiled["warmup"]) == (3, 0)
    assert profiled["parameters"] == {"test": "x", "loops": 7}
    timed = json.loads((bench.job / "1/case.json").read_text())
    assert timed["parameters"] == {"test": "x", "loops": 0}


def test_a_pass_that_worked_leaves_a_capture_its_counters_and_no_recording(bench: Bench) -> None:
    bench.run()
    said = bench.profile()
    assert said["state"] == "ok"
    assert (said["event"], said["hz"], said["perf"]) == ("cycles", 199, "6.9.1")
    assert said["lost"] == 17
    # "<not counted>" is no zero.
    assert said["counters"] == {"cycles": 1234, "instructions": 1234, "branch-misses": 1234}
    assert not (bench.job / "1/profile/perf.data").exists()
    assert read_capture(find_recording(bench.job / "1/profile", limit_bytes=1 << 20)).samples == 206


def test_without_hardware_counters_the_clock_is_sampled_and_no_counter_said(bench: Bench) -> None:
    stats = "cpu-clock:u stats:\n SAMPLE events: 206\ndummy stats:\n LOST_SAMPLES events: 9\n"
    bench.run(COUNTS="<not supported>", STATS=stats)
    said = bench.profile()
    assert (said["state"], said["event"], said["counters"]) == ("ok", "cpu-clock", {})
    # This perf does not count what was lost of the event, only records that say so.
    assert said["lost"] == 1


def test_only_the_iterations_are_kept_where_the_workload_says_when_they_were(
    tmp_path: Path,
) -> None:
    def window(said: object) -> object:
        (tmp_path / "run.json").write_text(json.dumps({"measured": said}))
        return profiling.window(tmp_path)

    assert window([12.5, 14]) == ["--time", "12.500000000,14.000000000"]
    # A tool that starts anew for each iteration says each one's own time.
    spans = "12.500000000,14.000000000 15.000000000,16.250000000"
    assert window([[12.5, 14], [15, 16.25]]) == ["--time", spans]
    assert window([[12.5, 14], [16, 15]]) == []
    assert window([[12.5, 14], "15"]) == []
    assert window([]) == []
    for said in (None, [], [1], [2, 1], [1, 1], [-1, 2], ["1", "2"], [1, 2, 3], {"1": 2}):
        assert window(said) == []
    (tmp_path / "run.json").write_text("{")
    assert profiling.window(tmp_path) == []


@contextmanager
def nmi_source(answer: str) -> Iterator[tuple[str, list[str]]]:
    """(address, what was asked of it) of one that says *answer* and sends no interrupt."""
    asked: list[str] = []

    class Source(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            asked.append(self.rfile.readline().decode())
            self.wfile.write(answer.encode())
            self.wfile.flush()
            self.rfile.read()  # until the runner closes
            asked.append("closed")

    with socketserver.TCPServer(("127.0.0.1", 0), Source) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}", asked
        thread.join(10)


def test_nmis_are_asked_for_where_nothing_is_counted_and_end_with_the_pass(bench: Bench) -> None:
    with nmi_source("ok\n") as (bench.nmi_source, asked):
        bench.run(COUNTS="<not supported>")
    assert asked == ["199\n", "closed"]
    # This machine got none of them.
    assert bench.profile()["state"] == "failed"
    assert bench.profile()["detail"] == f"{bench.nmi_source} promised NMIs, and none came"
    assert bench.profile()["event"] == "nmi:nmi_handler"


def test_counters_are_taken_before_nmis(bench: Bench) -> None:
    bench.nmi_source = "127.0.0.1:1"
    bench.run()
    assert (bench.profile()["state"], bench.profile()["event"]) == ("ok", "cycles")


def test_the_hosts_own_timer_is_a_source_that_needs_no_connection() -> None:
    program = profiling.nmi_command("hpet")[-1]
    assert Path(program).read_text().startswith('"""Non-maskable interrupts of this host')
    assert profiling.nmi_command("10.0.2.100:7")[-2:] == ["10.0.2.100", "7"]


def test_a_host_without_such_a_timer_has_no_profile_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> int:
        raise PermissionError(1, "Operation not permitted", "/dev/mem")

    monkeypatch.setattr(hpet.os, "open", refused)
    assert hpet.main("99", str(tmp_path / "notes"), "touch", str(tmp_path / "ran")) == 1
    said = (tmp_path / "notes").read_text()
    assert said.startswith("no NMIs from the HPET: ")
    assert "/dev/mem" in said
    assert not (tmp_path / "ran").exists()


def hpet_at_10_ns(monkeypatch: pytest.MonkeyPatch, config: int) -> mmap.mmap:
    """Registers of a HPET whose ticks take 10 ns, its counter at 1000."""
    registers = mmap.mmap(-1, mmap.PAGESIZE)
    struct.pack_into("=I", registers, 4, 10_000_000)
    struct.pack_into("=Q", registers, 0xF0, 1000)
    struct.pack_into("=I", registers, 0x140, config)
    monkeypatch.setattr(hpet.os, "open", lambda *_: -1)
    # Starting a process closes descriptors of its own.
    close = os.close
    monkeypatch.setattr(hpet.os, "close", lambda fd: None if fd == -1 else close(fd))
    monkeypatch.setattr(hpet.mmap, "mmap", lambda *_, **__: registers)
    return registers


def test_the_timer_sends_nmis_while_the_command_runs_and_none_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registers = hpet_at_10_ns(monkeypatch, 0x8030)
    during = []

    pause = time.sleep

    def sleep(_: float) -> None:
        during.append(struct.unpack_from("=IIQII", registers, 0x140))
        pause(0.002)

    monkeypatch.setattr(hpet.time, "sleep", sleep)
    monkeypatch.setattr(hpet.signal, "signal", lambda *_: None)
    assert hpet.main("1000", str(tmp_path / "notes"), "sh", "-c", "sleep 0.5; exit 3") == 3
    for config, _, period, message, address in during:
        # By message, periodic, on; to the first processor as an NMI.
        assert config & 0x400C == 0x400C
        assert (message, address) == (0x400, 0xFEE00000)
        assert 50_000 <= period <= 150_000
    # A million nanoseconds first; then never one interval for long, or a loop would be met in step.
    periods = [period for _, _, period, _, _ in during]
    assert periods[0] == 100_000
    assert len(set(periods)) > len(periods) * 0.9
    assert statistics.mean(periods) == pytest.approx(100_000, rel=0.2)
    assert struct.unpack_from("=I", registers, 0x140) == (0,)
    began, ended = map(float, (tmp_path / "notes").read_text().split())
    assert began <= ended


def test_a_timer_that_sends_no_messages_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hpet_at_10_ns(monkeypatch, 0x0030)
    assert hpet.main("1000", str(tmp_path / "notes"), "true") == 1
    assert "comparator 2 of the HPET sends no messages" in (tmp_path / "notes").read_text()


def test_a_source_of_nmis_that_refuses_is_quoted(bench: Bench) -> None:
    with nmi_source("error: the machine is gone\n") as (bench.nmi_source, _):
        bench.run(COUNTS="<not supported>")
    said = f"no NMIs from {bench.nmi_source}: error: the machine is gone"
    assert bench.profile()["detail"] == said
    bench.nmi_source = "127.0.0.1:1"
    shutil.rmtree(bench.job / "1")
    bench.run(COUNTS="<not supported>")
    assert bench.profile()["detail"] == "no NMIs from 127.0.0.1:1: it takes no connection"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("--version", "perf --version says no version"),
        ("record", "the profiled pass ended with 1: perf record broke"),
        (
            "run",
            "ended with 3: [ perf record: Woken up 1 times to write data ]\nno luck",
        ),
        ("report", "perf report ended with 1: perf report broke"),
        ("script", "perf script ended with 1"),
    ],
)
def test_whatever_fails_in_a_profile_is_said_there_and_the_timed_pass_stands(
    bench: Bench, fault: str, said: str
) -> None:
    state = bench.run({}, {"case_id": "later", "profile_hz": None}, FAULT=fault)
    assert [case["outcome"] for case in state["finished_cases"]] == ["ok", "ok"]
    profile = bench.profile()
    assert profile["state"] == "failed"
    assert said in profile["detail"]
    left = {path.name for path in (bench.job / "1/profile").iterdir()}
    assert not left & {"perf.data", "perf.script.zst", "perf.script.gz"}


def test_a_host_without_perf_says_so(bench: Bench) -> None:
    bench.program("w/run", "#!/bin/sh\n:\n")
    state = bench.run(PATH="/nonexistent")
    assert state["finished_cases"][0]["outcome"] == "ok"
    assert bench.profile() == {
        "state": "failed", "hz": 199,
        "detail": "perf is not installed on the host: apt install linux-perf",
    }  # fmt: skip


def test_a_case_that_failed_is_not_profiled(bench: Bench) -> None:
    bench.program("w/run", "#!/bin/sh\nexit 3\n")
    assert bench.run()["finished_cases"][0]["outcome"] == "failed"
    assert not (bench.job / "1/profile").exists()


def test_a_profiled_pass_past_its_time_out_is_ended(bench: Bench) -> None:
    bench.program("w/run", '#!/bin/sh\ncase "$2" in */profile) sleep 300 ;; esac\n')
    state = bench.run({"timeout_s": 1})
    assert state["finished_cases"][0]["outcome"] == "ok"
    assert "no end within 1 s" in bench.profile()["detail"]


def test_a_capture_over_its_limit_is_left_out_and_said(bench: Bench) -> None:
    limits = bench.root / "_kit/wire/limits.py"
    text = limits.read_text()
    assert "CAPTURE_BYTES: Final = 32 << 20" in text
    limits.write_text(text.replace("32 << 20", "1 << 10"))
    bench.run()
    assert bench.profile()["state"] == "failed"
    assert "left out: over 1024 bytes compressed" in bench.profile()["detail"]
    assert not list((bench.job / "1/profile").glob("perf.script.*"))


def test_gzip_packs_where_there_is_no_zstd(bench: Bench) -> None:
    for name in ("gzip", "sh"):
        (bench.root / "bin" / name).symlink_to(str(shutil.which(name)))
    bench.program("w/run", "#!/bin/sh\n:\n")
    bench.run(PATH=f"{bench.root}/bin")
    assert bench.profile()["capture"] == "perf.script.gz"
    packed = bench.job / "1/profile/perf.script.gz"
    assert gzip.decompress(packed.read_bytes()) == gzip.decompress(RECORDED.read_bytes())


GUEST = """#!/bin/sh
case "$2" in */profile) ;; *) exit 0 ;; esac
grep -q '"guest_profile_hz": 199' "$1" || exit 9
mkdir "$2/guest"
cd "$2/guest"
"""
HANDED_OVER = f"""
printf '{{"event": "cpu-clock", "perf": "7.2.12", "seconds": 4.5}}' > facts.json
printf 'cpu-clock stats:\n LOST_SAMPLES events: 2\n' > stats.txt
cp {RECORDED} perf.script.gz
"""


def guest_profile(bench: Bench) -> dict[str, Any]:
    path = bench.job / "1/profile/guest/profile.json"
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def test_what_a_workload_takes_from_its_guest_is_a_profile_like_the_hosts(bench: Bench) -> None:
    bench.program("w/run", GUEST + HANDED_OVER)
    bench.run({"profile_guest": True})
    assert bench.profile()["state"] == "ok"
    capture = read_capture(find_recording(bench.job / "1/profile/guest", limit_bytes=32 << 20))
    assert (capture.event, capture.hz, capture.lost) == ("cpu-clock", 199, 2)
    assert (capture.seconds, capture.tool) == (4.5, "perf 7.2.12")
    assert (
        capture.stacks
        == read_capture(find_recording(bench.job / "1/profile", limit_bytes=32 << 20)).stacks
    )


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ("", "the workload left no facts.json of its guest"),
        ("echo the guest died > failed.txt", "the guest died"),
        (HANDED_OVER + "rm perf.script.gz", "perf.script.gz"),
        (HANDED_OVER + "rm stats.txt", "the workload left no stats.txt of its guest"),
        (HANDED_OVER + "echo '[' > facts.json", "the guest's facts.json: "),
        (HANDED_OVER + "echo '{}' > facts.json", "the guest's facts.json: KeyError('event')"),
    ],
)
def test_a_guest_without_a_profile_says_why_and_the_hosts_stands(
    bench: Bench, left: str, said: str
) -> None:
    bench.program("w/run", GUEST + left)
    bench.run({"profile_guest": True})
    assert bench.profile()["state"] == "ok"
    assert guest_profile(bench)["state"] == "failed"
    assert said in guest_profile(bench)["detail"]


def test_a_unit_ends_a_profile_only_after_the_runner_has_given_it_up() -> None:
    longest = (
        2 * profiling.PERF_PROBE_LIMIT_S + profiling.PERF_STATS_LIMIT_S
        + profiling.PERF_SCRIPT_LIMIT_S + instructions.LIMIT_S + 8 * profiling.TERM_GRACE_S
    )  # fmt: skip
    assert longest <= PROFILE_MARGIN_S
    assert job.limit_s({"timeout_s": 30, "profile_hz": 99}) == 60 + PROFILE_MARGIN_S
    assert job.limit_s({"timeout_s": 30, "profile_hz": None}) == 30


def perf_samples() -> bool:
    """Whether perf is here and may look at the whole machine."""
    if shutil.which("perf") is None:
        return False
    probe = ["perf", "stat", "-a", "-e", "cpu-clock", "true"]
    return subprocess.run(probe, check=False, capture_output=True).returncode == 0


def profiled_iterations(bench: Bench) -> int:
    """How many iterations the profiled pass left."""
    return len(list((bench.job / "1/profile").glob("iteration-*.txt")))


def samples_within(text: Path, spans: list[list[float]]) -> Counter[str]:
    """Samples of each command that were taken within one of *spans*, on the monotonic clock."""
    with text.open("rb") as stream:
        said = b"".join(pieces(stream, name=text.name)).decode(errors="replace")
    heads = re.findall(r"^(\S[^\n]*?) +\d+/\d+ +\[\d+\] +([\d.]+):", said, re.MULTILINE)
    return Counter(
        command
        for command, moment in heads
        if any(began <= float(moment) <= ended for began, ended in spans)
    )


@pytest.mark.long("real recordings of a real workload")
@pytest.mark.skipif(not perf_samples(), reason="perf cannot sample here")
def test_the_real_perf_profiles_the_real_syscall_workload(bench: Bench) -> None:
    shutil.rmtree(bench.root / "w")
    shutil.copytree(REPOSITORY / "workloads/syscall", bench.root / "w")
    bench.run({"parameters": {"test": "basic", "seconds": 0.5}}, PATH=os.environ["PATH"])
    timed = json.loads((bench.job / "1/run.json").read_text())
    profiled = json.loads((bench.job / "1/profile/run.json").read_text())
    # Enough calls that the start of perf itself is little beside them.
    assert profiled["loops"] == 4 * timed["loops"]
    spans = profiled["measured"]
    assert len(spans) == profiled_iterations(bench)
    assert 0 < sum(ended - began for began, ended in spans) < bench.profile()["seconds"]
    assert all(one[1] <= next_one[0] for one, next_one in itertools.pairwise(spans))
    assert bench.profile()["state"] == "ok"
    recording = find_recording(bench.job / "1/profile", limit_bytes=32 << 20)
    capture = read_capture(recording)
    ours = {s: n for s, n in capture.stacks.items() if s.startswith(b"syscall-basic;")}
    assert sum(ours.values()) > 0
    # `run` itself starts before the first iteration and only waits from then on.
    during = samples_within(recording.text, spans)
    assert during["run"] < during["syscall-basic"] / 4
    assert any(b"entry_SYSCALL_64" in stack or b"el0_svc" in stack for stack in ours)
    assert capture.event in {"cycles", "cpu-clock"}
