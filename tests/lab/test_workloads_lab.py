"""Workloads on emulated hosts: roles applied twice, cases measured, a hung guest retried."""

from __future__ import annotations

import base64
import json
import os
import shlex
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab import service
from lab.progress import Silent
from mitigauge.analysis.profiles.capture.capture import read_capture
from mitigauge.analysis.profiles.capture.recording import find_recording
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.fleet.inventory import load_hosts
from pipelines.adapters.ansible import PlayResult, run_playbook
from pipelines.adapters.ssh_watch import SshWatch
from tests.lab.conftest import Lab
from tests.loading import load

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("lab")]

JOBS = "/var/lib/mitigauge/jobs"
PATIENCE_S = 600
# QEMU and fio with their libraries are installed the first time.
PREPARE_S = 1200
PARSERS = {
    name: load(f"workloads/{name}/parse.py")
    for name in ("desktop", "entries", "exits", "fio", "iperf", "syscall", "vmexit")
}
WITHOUT_GUEST = ["syscall"]


def play(playbook: str, host: str, timeout_s: float = 300, **variables: Any) -> PlayResult:
    return run_playbook(
        playbook, environment="lab", host=host, variables=variables, timeout_s=timeout_s
    )


def on(host: str, script: str, timeout_s: float = 120) -> str:
    """Standard output of a shell script on the host."""
    given = load_hosts("lab")[host].variables
    command = [
        "ssh", *shlex.split(given["ansible_ssh_common_args"]),
        "-i", given["ansible_ssh_private_key_file"], "-p", str(given["ansible_port"]),
        f"{given['ansible_user']}@{given['ansible_host']}", "sh -s",
    ]  # fmt: skip
    return subprocess.run(
        command, input=script, check=True, capture_output=True, text=True, timeout=timeout_s
    ).stdout


def case(workload: str, case_id: str, *, iterations: int = 1, **wanted: Any) -> dict[str, Any]:
    [parameters] = Catalog().workloads[workload].expand(wanted)
    return {"case_id": case_id, "workload": workload, "parameters": parameters,
            "iterations": iterations, "warmup": 1, "timeout_s": 180}  # fmt: skip


def start(host: str, *cases: dict[str, Any]) -> str:
    job = f"test-{uuid.uuid4().hex}"
    play("measure.yml", host, workload_job=job, workload_cases=list(cases))
    return job


def wait(host: str, job: str, directory: Path) -> dict[str, Any]:
    """The job's state once it has ended; its files are in directory/job."""
    deadline = time.monotonic() + PATIENCE_S
    await_end(host, job, deadline)
    while time.monotonic() < deadline:
        state: dict[str, Any] = play(
            "poll.yml", host, workload_job=job, workload_fetch_dir=str(directory)
        ).returned["job"]
        if state["state"] != "running":
            subprocess.run(["tar", "-xzf", state["archive"], "-C", directory], check=True)
            return state
        print(f"  {host}: {state['current_case']}", flush=True)
        time.sleep(5)
    raise TimeoutError(f"job {job} on {host} still runs after {PATIENCE_S} s")


def await_end(host: str, job: str, deadline: float) -> None:
    """Until the job has ended, as the service waits: a look meanwhile would show in its figures.

    Where time counts instructions, processors take turns, and one that looks takes half of them.
    """
    watch = SshWatch()
    try:
        watch.await_job(0, job, ("lab", host), job)
        while watch.watched() and time.monotonic() < deadline:
            time.sleep(1)
    finally:
        watch.close()


def prepare(host: str, *, guest: bool, **more: bool) -> PlayResult:
    return play(
        "prepare.yml", host, PREPARE_S,
        kernel_packages=[], guest_enabled=guest,
        workload_names=["desktop", "fio", "iperf", "syscall"] if guest else WITHOUT_GUEST, **more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def guests(lab: Lab) -> Iterator[str]:
    """The host that can run a guest, prepared. In real time: a guest's system takes long else."""
    started = service.up(lab.paths, Silent(), names=["lab-guests"])
    prepare("lab-guests", guest=True)
    yield "lab-guests"
    service.down(lab.paths, Silent(), names=started)


@pytest.fixture(scope="module")
def intel() -> str:
    """The host without guests, prepared."""
    prepare("lab-intel", guest=False)
    return "lab-intel"


def test_applying_the_roles_again_changes_nothing(guests: str) -> None:
    assert prepare(guests, guest=True).changed == 0


def test_the_guest_network_leaves_the_uplink_alone_and_starts_at_boot(guests: str) -> None:
    seen = on(
        guests,
        "systemctl is-enabled mitigauge-guest-network.service\n"
        "ls /sys/class/net/mgbr0/brif\n"
        "ip -4 -o route show default\n",
    ).splitlines()
    assert seen[:2] == ["enabled", "mgtap0"]
    assert "mg" not in seen[2]


@pytest.mark.parametrize("network", ["user", "bridge", "vhost"])
def test_iperf_measures_both_protocols_over_each_network(
    guests: str, network: str, tmp_path: Path
) -> None:
    cases = [
        case("iperf", "tcp", network=network, protocol="tcp", direction="guest-to-host"),
        case("iperf", "udp", network=network, protocol="udp", direction="guest-to-host"),
    ]
    job = start(guests, *cases)
    state = wait(guests, job, tmp_path)
    assert [entry["outcome"] for entry in state["finished_cases"]] == ["ok", "ok"]
    for one in cases:
        result = PARSERS["iperf"].parse(tmp_path / job / one["case_id"])
        declared = Catalog().workloads["iperf"].metrics_of(one["parameters"])
        assert set(result["metrics"]) == set(declared)
        assert result["metrics"]["throughput"]["values"][0] > 1e6


@pytest.mark.parametrize(("parallel", "direction"), [(4, "host-to-guest"), (16, "guest-to-host")])
def test_a_guest_with_four_processors_carries_many_connections(
    guests: str, parallel: int, direction: str, tmp_path: Path
) -> None:
    one = case(
        "iperf", "many", network="vhost", protocol="tcp", vcpus=4, parallel=parallel,
        direction=direction,
    )  # fmt: skip
    job = start(guests, {**one, "timeout_s": 400})
    state = wait(guests, job, tmp_path)
    assert [entry["outcome"] for entry in state["finished_cases"]] == ["ok"]
    result = PARSERS["iperf"].parse(tmp_path / job / "many")
    assert result["metrics"]["throughput"]["values"][0] > 1e6
    # One line a connection, and their sum.
    said = json.loads((tmp_path / job / "many" / "iteration-01.json").read_text())
    assert len(said["end"]["streams"]) == parallel


def test_a_guest_profiles_its_own_tests_and_its_symbols_are_known(
    guests: str, tmp_path: Path
) -> None:
    prepared = prepare(guests, guest=True, guest_profiled=True, workload_profiled=True)
    assert prepared.returned["guest_profile"]["initrd"].endswith("initrd-profile.img")
    again = prepare(guests, guest=True, guest_profiled=True, workload_profiled=True)
    assert again.changed == 0
    one = case("iperf", "seen", network="user", protocol="tcp", direction="guest-to-host")
    job = start(guests, {**one, "profile_hz": 99, "profile_guest": True})
    state = wait(guests, job, tmp_path)
    assert [entry["outcome"] for entry in state["finished_cases"]] == ["ok"]
    timed = json.loads((tmp_path / job / "seen/run.json").read_text())
    assert not any("initrd-profile" in word for word in timed["qemu_command"])
    of_guest = read_capture(
        find_recording(tmp_path / job / "seen/profile/guest", limit_bytes=32 << 20)
    )
    of_host = read_capture(find_recording(tmp_path / job / "seen/profile", limit_bytes=32 << 20))
    seen = b"\n".join(of_guest.stacks)
    assert b"iperf3;" in seen
    assert b"tcp_sendmsg" in seen
    assert b"qemu-system" not in seen
    assert b"qemu-system" in b"\n".join(of_host.stacks)


def test_every_system_call_test_runs_and_a_started_job_is_not_started_again(
    intel: str, tmp_path: Path
) -> None:
    tests = Catalog().workloads["syscall"].parameters["test"].values
    cases = [case("syscall", str(test), test=test, loops=200) for test in tests]
    job = start(intel, *cases)
    again = play("measure.yml", intel, workload_job=job, workload_cases=cases)
    assert again.changed == 0
    state = wait(intel, job, tmp_path)
    assert [entry["outcome"] for entry in state["finished_cases"]] == ["ok"] * len(cases)
    for one in cases:
        result = PARSERS["syscall"].parse(tmp_path / job / one["case_id"])
        assert result["metrics"]["time_per_call"]["values"][0] > 10
    finished = play("measure.yml", intel, workload_job=job, workload_cases=cases)
    assert (finished.changed, finished.returned["job"]["state"]) == (0, "finished")


def times_of(case_directory: Path) -> list[float]:
    parsed = PARSERS["entries"].parse(case_directory)
    return list(parsed["metrics"]["time_per_operation"]["values"])


def test_each_way_into_the_kernel_is_measured_and_filters_cost_by_their_length(
    intel: str, tmp_path: Path
) -> None:
    ways = [way for way in Catalog().workloads["entries"].parameters["way"].values
            if way != "perf-trace"]  # fmt: skip
    prepared = [*WITHOUT_GUEST, "entries"]
    play("prepare.yml", intel, PREPARE_S, kernel_packages=[], guest_enabled=False,
         workload_names=prepared)  # fmt: skip
    # A boot, which a run makes after it prepared its host, starts what a package brought.
    on(intel, "systemctl start dbus.socket")
    timed = (case("entries", str(way), way=way, seconds=0.02) for way in ways)
    job = start(intel, *timed)
    assert wait(intel, job, tmp_path)["state"] == "finished"
    ns = {way: times_of(tmp_path / job / str(way))[0] for way in ways}
    print({way: round(value) for way, value in ns.items()})
    assert ns["vdso"] < ns["syscall"] < ns["seccomp-short"] < ns["seccomp-docker"]
    assert ns["seccomp-cached"] < ns["seccomp-docker"] / 2
    assert ns["syscall"] < ns["int80"] < ns["ptrace"]


def test_a_call_that_perf_trace_writes_down_costs_more(intel: str, tmp_path: Path) -> None:
    play("prepare.yml", intel, PREPARE_S, kernel_packages=[], guest_enabled=False,
         workload_names=[*WITHOUT_GUEST, "entries"])  # fmt: skip
    ways = ("syscall", "perf-trace")
    job = start(intel, *(case("entries", way, way=way, seconds=0.02) for way in ways))
    state = wait(intel, job, tmp_path)
    assert [entry["outcome"] for entry in state["finished_cases"]] == ["ok", "ok"], state
    ns = {way: times_of(tmp_path / job / way)[0] for way in ways}
    print({way: round(value) for way, value in ns.items()})
    assert ns["perf-trace"] > ns["syscall"]


# Path of vmexit.flat, as workloads/vmexit/README.md says how it is built.
VMEXIT = os.environ.get("VMEXIT_FLAT", "")


@pytest.mark.skipif(not VMEXIT, reason="VMEXIT_FLAT names no vmexit.flat of kvm-unit-tests")
def test_kvm_unit_tests_and_our_own_exits_put_user_space_above_the_kernel(
    guests: str, tmp_path: Path
) -> None:
    packed = base64.b64encode(Path(VMEXIT).read_bytes()).decode()
    on(guests, "mkdir -p /opt/kvm-unit-tests; base64 -d > /opt/kvm-unit-tests/vmexit.flat <<'END'\n"
       f"{packed}\nEND\n")  # fmt: skip
    play("prepare.yml", guests, PREPARE_S, kernel_packages=[], guest_enabled=False,
         workload_names=["exits", "vmexit"])  # fmt: skip
    theirs = ("cpuid", "inl_from_qemu")
    ours = {"kernel": "to-kernel", "userspace": "to-userspace"}
    cases = [case("vmexit", name, test=name) for name in theirs]
    cases += [case("exits", name, to=to, exits=2_000) for to, name in ours.items()]
    job = start(guests, *cases)
    state = wait(guests, job, tmp_path)
    assert [entry["outcome"] for entry in state["finished_cases"]] == ["ok"] * 4
    cycles = [
        PARSERS["vmexit"].parse(tmp_path / job / name)["metrics"]["cycles_per_operation"]["values"]
        for name in theirs
    ]
    ns = [
        PARSERS["exits"].parse(tmp_path / job / name)["metrics"]["time_per_exit"]["values"]
        for name in ours.values()
    ]
    print(f"cycles {cycles}, ns {ns}")
    assert cycles[0] < cycles[1]
    assert ns[0] < ns[1]


def test_an_interrupted_job_is_failed_with_the_reason_and_what_it_left(
    intel: str, tmp_path: Path
) -> None:
    job = start(intel, case("syscall", "long", test="basic", loops=100_000_000))
    on(intel, f"while [ ! -e {JOBS}/{job}/long ]; do sleep 0.2; done\n"
              f"systemctl kill --signal=KILL mitigauge-{job}.service\n")  # fmt: skip
    state = wait(intel, job, tmp_path)
    assert state["state"] == "failed"
    assert "unit ended before the job did" in state["detail"]
    assert (tmp_path / job / "long/case.json").is_file()


def test_a_guest_that_hangs_at_its_start_is_timed_out_counted_and_replaced(
    guests: str, tmp_path: Path
) -> None:
    job = start(guests, case("iperf", "hang", network="user", protocol="tcp", seconds=1))
    # Stopped as soon as there is a QEMU to stop: its guest never becomes ready.
    on(
        guests,
        f"cd {JOBS}/{job}\n"
        "until [ -s hang/qemu.pid ]; do sleep 0.05; done\n"
        "kill -STOP $(cat hang/qemu.pid)\n",
    )
    state = wait(guests, job, tmp_path)
    assert state["finished_cases"][0]["outcome"] == "ok"
    result = PARSERS["iperf"].parse(tmp_path / job / "hang")
    assert len(result["metrics"]["throughput"]["values"]) == 1
    fault = result["lab_faults"][0]
    assert (fault["kind"], fault["attempt"]) == ("guest-hang", 1)
    assert "not ready for test 1 within" in fault["detail"]
    assert (tmp_path / job / "hang/attempt-1/qemu-1.log").is_file()
    record = json.loads((tmp_path / job / "hang/run.json").read_text())
    assert record["exit_code"] == 0


def test_fio_measures_a_guest_s_disk_past_the_host_s_page_cache(
    guests: str, tmp_path: Path
) -> None:
    cases = [
        case("fio", "read", pattern="random-4k", operation="read", seconds=1, disk_mb=32),
        case("fio", "write", pattern="sequential-128k", operation="write", queue_depth=32, jobs=4,
             aio="io_uring", seconds=1, disk_mb=32),
    ]  # fmt: skip
    job = start(guests, *cases)
    state = wait(guests, job, tmp_path)
    assert [entry["outcome"] for entry in state["finished_cases"]] == ["ok", "ok"]
    for one in cases:
        result = PARSERS["fio"].parse(tmp_path / job / one["case_id"])
        assert set(result["metrics"]) == set(Catalog().workloads["fio"].metrics)
        assert result["metrics"]["iops"]["values"][0] > 10
        assert result["tools"]["disk_cache"] == "none"
    assert "mitigauge-disk" not in on(guests, f"find {JOBS} -name '*mitigauge-disk*'")


def test_a_guest_that_dies_under_fio_is_replaced_and_counted(guests: str, tmp_path: Path) -> None:
    for _ in range(2):
        job = start(
            guests,
            case("fio", "dies", pattern="random-4k", operation="read", seconds=3, disk_mb=32),
        )
        on(
            guests,
            f"cd {JOBS}/{job}\n"
            "until grep -q READY dies/serial-1.log 2> /dev/null; do sleep 0.05; done\n"
            "kill -KILL $(cat dies/qemu.pid)\n",
        )
        state = wait(guests, job, tmp_path)
        # An emulated processor was seen to reset the whole host as a nested guest was killed.
        if "the host rebooted" not in state["detail"]:
            break
    assert state["finished_cases"][0]["outcome"] == "ok", state["detail"]
    result = PARSERS["fio"].parse(tmp_path / job / "dies")
    assert result["lab_faults"][0]["kind"] in {"guest-died", "guest-channel"}
    assert len(result["metrics"]["iops"]["values"]) == 1


def test_a_disk_that_the_host_has_no_room_for_fails_the_case_with_its_reason(
    guests: str, tmp_path: Path
) -> None:
    job = start(guests, case("fio", "full", pattern="random-4k", operation="read", disk_mb=1 << 20))
    state = wait(guests, job, tmp_path)
    assert state["finished_cases"][0]["outcome"] == "failed"
    assert "MiB free" in (tmp_path / job / "full/stderr.txt").read_text()


def first_values(result: dict[str, Any]) -> dict[str, float]:
    return {name: metric["values"][0] for name, metric in result["metrics"].items()}


def with_line(directory: Path, line_ms: int) -> dict[str, float]:
    """What the same pass tells of a line: it is drawn through figures that are there."""
    file = directory / "case.json"
    asked = json.loads(file.read_text())
    asked["parameters"]["line_ms"] = line_ms
    file.write_text(json.dumps(asked))
    return first_values(PARSERS["desktop"].parse(directory))


def test_two_desktops_log_in_on_a_ramp_and_every_action_is_timed(
    guests: str, tmp_path: Path
) -> None:
    one = case(
        "desktop", "two", profile="light", sessions=2, seconds=5, loops=1, think_ms=50, work=1,
        disk_mb=16, trace="sched",
    )  # fmt: skip
    job = start(guests, {**one, "warmup": 0, "timeout_s": 900})
    state = wait(guests, job, tmp_path)
    assert [entry["outcome"] for entry in state["finished_cases"]] == ["ok"]
    result = PARSERS["desktop"].parse(tmp_path / job / "two")
    declared = Catalog().workloads["desktop"].metrics_of(one["parameters"])
    assert set(result["metrics"]) == set(declared)
    told = first_values(result)
    print(told)
    # Guests of one processor each have a thread for it, which the host's scheduler moves or not.
    assert told["vcpu_migrations"] >= 0
    assert 0 <= told["idle_while_waiting"] <= 100
    assert told["failed_actions"] == 0
    # Two desktops on one processor are slower than one.
    assert told["slowdown"] > 0
    assert told["cpu_ready_time"] > 1
    alone_s = told["response_time"] / (1 + told["slowdown"] / 100)
    between = with_line(tmp_path / job / "two", round(500 * (alone_s + told["response_time"])))
    assert 1 < between["density_at_line"] < 2
