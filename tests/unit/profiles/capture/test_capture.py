"""Recorded captures as hosts leave them, whole and in every way broken."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mitigauge.analysis.profiles.capture.capture import Capture, overhead_percent, read_capture
from mitigauge.analysis.profiles.capture.recording import find_recording
from mitigauge.core.errors import InvalidInput, TooLarge
from mitigauge.core.settings import get_settings
from mitigauge.core.wire.case import limit_s
from mitigauge.measurement.experiments.tables import Case
from mitigauge.storage.files.blobs import blob_store
from pipelines.steps.measure import collect
from tests.crash.simulated_host import RECORDED, packed
from tests.fuzz.builders import spin_case
from tests.specs import CATALOG

RECORDINGS = Path(__file__).parents[3] / "fixtures" / "profiles"
LIMIT = 1 << 20
IDLE = (
    b"common_startup_64;x86_64_start_kernel;x86_64_start_reservations;start_kernel;rest_init;"
    b"cpu_startup_entry;do_idle;default_idle_call;default_idle;pv_native_safe_halt"
)
HOST = {
    "state": "ok", "detail": "", "hz": 499, "perf": "6.1.0-rc1", "event": "cpu-clock", "lost": 3,
    "seconds": 1.5, "counters": {"cycles": 12.0, "branch-misses": 1}, "capture": "perf.script.gz",
}  # fmt: skip


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """A profile directory as a host leaves it."""
    shutil.copy(RECORDINGS / "syscall-basic.perf.script.gz", tmp_path / "perf.script.gz")
    (tmp_path / "profile.json").write_text(json.dumps(HOST))
    return tmp_path


def say(left: Path, **changes: Any) -> None:
    (left / "profile.json").write_text(json.dumps(HOST | changes))


def refusal(left: Path, limit_bytes: int = LIMIT) -> str:
    with pytest.raises((InvalidInput, TooLarge)) as refused:
        read_capture(find_recording(left, limit_bytes=limit_bytes))
    return refused.value.message


def test_a_real_capture_is_read_whole(left: Path) -> None:
    capture = read_capture(
        find_recording(left, limit_bytes=LIMIT), operations=3e6, overhead_percent=4.0
    )
    assert (capture.event, capture.hz, capture.tool) == ("cpu-clock", 499, "perf 6.1.0-rc1")
    assert (capture.samples, capture.lost, capture.seconds) == (206, 3, 1.5)
    assert (capture.operations, capture.overhead_percent) == (3e6, 4.0)
    assert capture.counters == {"cycles": 12.0, "branch-misses": 1.0}
    assert capture.raw_sha256 == hashlib.sha256(RECORDED).hexdigest()
    # 206 samples of a clock at 499 Hz: each has a period in nanoseconds.
    assert sum(capture.stacks.values()) == 206 * 2_004_008
    top = max(capture.stacks, key=lambda stack: capture.stacks[stack])
    assert top.startswith(b"syscall-basic;")
    assert top.endswith(b"entry_SYSCALL_64_after_hwframe;do_syscall_64")


def test_what_the_host_says_is_read_once(left: Path) -> None:
    recording = find_recording(left, limit_bytes=LIMIT)
    say(left, hz=7, event="cycles")
    capture = read_capture(recording)
    assert (capture.hz, capture.event) == (499, "cpu-clock")


def test_a_zstd_capture_is_read_as_a_gzip_one(left: Path) -> None:
    (left / "perf.script.gz").unlink()
    shutil.copy(RECORDINGS / "sched-messaging.perf.script.zst", left / "perf.script.zst")
    say(left, capture="perf.script.zst")
    capture = read_capture(find_recording(left, limit_bytes=LIMIT))
    assert capture.samples == 403
    assert any(b"unix_stream_recvmsg" in stack for stack in capture.stacks)


def test_a_capture_by_nmi_has_what_was_interrupted_and_weighs_time(left: Path) -> None:
    nmi = "nmi:nmi_handler"
    text = (RECORDINGS / "getppid-loop.nmi.perf.script").read_bytes()
    (left / "perf.script.gz").write_bytes(gzip.compress(text))
    say(left, event=nmi, period_ns=1_003_009)
    capture = read_capture(find_recording(left, limit_bytes=LIMIT))
    assert (capture.event, capture.samples) == (nmi, 6)
    entry = b"syscall-basic;[libc.so.6];[perf];[perf];[perf];getppid"
    assert capture.stacks == {
        entry: 1_003_009,
        entry + b";clear_bhb_loop": 2 * 1_003_009,
        entry + b";entry_SYSCALL_64_after_hwframe;do_syscall_64": 2 * 1_003_009,
        b"swapper;" + IDLE: 1_003_009,
    }
    say(left, event=nmi)
    assert refusal(left) == "profile.json: period_ns is missing, which nmi:nmi_handler needs"


def test_a_host_without_counters_and_a_workload_without_operations_leave_them_absent(
    left: Path,
) -> None:
    content = {name: value for name, value in HOST.items() if name != "counters"}
    (left / "profile.json").write_text(json.dumps(content))
    capture = read_capture(find_recording(left, limit_bytes=LIMIT))
    assert (capture.counters, capture.operations, capture.overhead_percent) == ({}, None, None)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"state": "failed", "detail": "perf is not installed"}, "perf is not installed"),
        ({"state": "failed", "detail": ""}, "the host does not say why"),
        ({"state": "odd"}, "profile.json: state: "),
        ({"event": "cycles\n"}, "profile.json: event: "),
        ({"seconds": -1}, "profile.json: seconds: "),
        ({"lost": -1}, "profile.json: lost: "),
        ({"hz": None}, "profile.json: hz: "),
        ({"period_ns": 0}, "profile.json: period_ns: "),
        ({"counters": {"cycles": -5}}, "profile.json: counters.cycles: "),
        ({"capture": "../../state.json"}, "profile.json: capture: "),
        ({"capture": "perf.script.zst"}, "perf.script.zst is not in the job's archive"),
    ],
)
def test_a_profile_that_says_what_cannot_be_is_refused(
    left: Path, changes: dict[str, Any], said: str
) -> None:
    say(left, **changes)
    assert refusal(left).startswith(said)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"state": "ok", "seconds": NaN}', "\ud800"])
def test_a_torn_profile_file_is_refused(left: Path, text: str) -> None:
    (left / "profile.json").write_bytes(text.encode(errors="surrogatepass"))
    assert refusal(left).startswith("profile.json: ")


def test_a_damaged_an_empty_and_a_foreign_capture_are_refused(left: Path) -> None:
    for content, said in (
        (RECORDED[:-100], "perf.script.gz is damaged"),
        (gzip.compress(b""), "perf.script.gz has no sample"),
        (gzip.compress(b"no capture at all\n\n"), "perf.script.gz:1: neither a sample nor a frame"),
    ):
        (left / "perf.script.gz").write_bytes(content)
        assert refusal(left).startswith(said)


def test_a_capture_over_the_limit_is_not_even_opened(left: Path) -> None:
    (left / "perf.script.gz").write_bytes(b"x" * 2000)
    assert refusal(left, 1000) == "perf.script.gz has 2000 bytes, over 1000"


def test_a_capture_that_inflates_without_end_is_refused(left: Path) -> None:
    (left / "perf.script.gz").write_bytes(gzip.compress(b"# comment\n\n" * (8 << 20), 9))
    assert "perf.script.gz unpacks to more than" in refusal(left)


@pytest.mark.parametrize(
    ("direction", "timed", "profiled", "expected"),
    [
        ("lower", [90.0, 110.0], [104.0], 4.0),
        ("lower", [100.0], [98.0], -2.0),
        ("higher", [100.0], [50.0], 100.0),
        ("higher", [100.0], [125.0], -20.0),
        ("lower", [0.0], [1.0], None),
        ("higher", [1.0], [0.0], None),
    ],
)
def test_overhead_is_positive_where_the_profiled_pass_was_worse(
    direction: Any, timed: list[float], profiled: list[float], expected: float | None
) -> None:
    assert overhead_percent(direction, timed, profiled) == (
        None if expected is None else pytest.approx(expected)
    )


def collected(
    tmp_path: Path, case: Case, how: str = "ok"
) -> tuple[bytes, Mapping[str, Capture], str, str]:
    """(result, captures, why one is missing, hash of the raw files) of the case's job."""
    listed = {"case_id": "1", "workload": "spin", "parameters": {"size": 1}, "iterations": 3,
              "warmup": 1, "timeout_s": 30, "profile_hz": 499,
              "profile_guest": case.profile_guest,
              "profile_off_cpu": case.profile_off_cpu}  # fmt: skip
    archive = tmp_path / "job.tar.gz"
    archive.write_bytes(packed("j", [listed], profile=how))
    [output] = collect(archive, [case], CATALOG)
    assert output.state == "measured"
    assert output.raw_sha256
    assert output.result is not None
    return output.result.body, output.captures, output.profile_error, output.raw_sha256


def test_where_threads_waited_comes_as_a_capture_of_its_own(tmp_path: Path, home: Path) -> None:
    _, captures, why_not, raw = collected(tmp_path, spin_case(profile_off_cpu=True))
    assert why_not == ""
    assert list(captures) == ["host", "off-cpu"]
    # Its own pass's work, so that waiting per operation is told.
    assert captures["off-cpu"].operations == 3000
    with tarfile.open(fileobj=io.BytesIO(blob_store(get_settings()).read(raw))) as tar:
        assert not [name for name in tar.getnames() if "perf.script" in name]


def test_waiting_that_was_not_asked_for_is_left_out(tmp_path: Path, home: Path) -> None:
    archive = tmp_path / "job.tar.gz"
    listed = {"case_id": "1", "workload": "spin", "parameters": {"size": 1}, "iterations": 3,
              "warmup": 1, "timeout_s": 30, "profile_hz": 499, "profile_off_cpu": True}  # fmt: skip
    archive.write_bytes(packed("j", [listed]))
    [output] = collect(archive, [spin_case()], CATALOG)
    assert list(output.captures) == ["host"]


def test_a_collected_job_has_result_and_capture_apart(tmp_path: Path, home: Path) -> None:
    body, captures, why_not, raw = collected(tmp_path, spin_case())
    assert why_not == ""
    assert list(captures) == ["host"]
    capture = captures["host"]
    # Three iterations of 1000 operations, as fast as the timed ones.
    assert capture.operations == 3000
    assert capture.overhead_percent == pytest.approx(0.0)
    assert len(body.metrics["time"].values) == 3
    blobs = blob_store(get_settings())
    assert blobs.read(capture.raw_sha256) == RECORDED
    with tarfile.open(fileobj=io.BytesIO(blobs.read(raw))) as tar:
        assert "1/profile/profile.json" in tar.getnames()
        assert not any("perf.script" in name for name in tar.getnames())


def test_a_case_that_asks_for_no_profile_gets_none(tmp_path: Path, home: Path) -> None:
    _, captures, why_not, _ = collected(tmp_path, spin_case(profile_hz=None))
    assert (captures, why_not) == ({}, "")


def test_the_guests_capture_is_read_like_the_hosts_and_kept_out_of_the_raw_files(
    tmp_path: Path, home: Path
) -> None:
    _, captures, why_not, raw = collected(tmp_path, spin_case(profile_guest=True))
    assert why_not == ""
    assert captures["guest"] == captures["host"]
    with tarfile.open(fileobj=io.BytesIO(blob_store(get_settings()).read(raw))) as tar:
        assert "1/profile/guest/profile.json" in tar.getnames()
        assert not any("perf.script" in name for name in tar.getnames())


def test_a_guest_without_a_capture_costs_the_hosts_nothing(tmp_path: Path, home: Path) -> None:
    _, captures, why_not, _ = collected(tmp_path, spin_case(profile_guest=True), "no guest")
    assert list(captures) == ["host"]
    assert why_not == "no profile of the guest: the guest said nothing"


def test_captures_that_do_not_fit_are_left_where_they_are_and_the_result_taken(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MITIGAUGE_JOB_FILES_LIMIT_BYTES", "2000")
    get_settings.cache_clear()
    _, captures, why_not, _ = collected(tmp_path, spin_case())
    assert captures == {}
    assert "perf.script.gz is not in the job's archive" in why_not


def test_a_profiled_case_may_take_its_time_twice_and_what_perf_needs() -> None:
    assert limit_s(30, 99, off_cpu=False) == 30 + 30 + 500
    assert limit_s(30, 99, off_cpu=True) == 30 + 2 * (30 + 500)
    assert limit_s(30, None, off_cpu=False) == 30
