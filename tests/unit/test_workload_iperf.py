"""iperf: what it runs, and what becomes of its raw output."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from tests.loading import load

WORKLOAD = REPOSITORY / "workloads/iperf"
ALL = sorted(path.parent for path in WORKLOAD.glob("fixtures/*/case.json"))
# Of nearly all packets of the others was the sender ahead of the receiver.
LOST = WORKLOAD / "fixtures/refused/user-udp-host-to-guest"
FIXTURES = [directory for directory in ALL if directory != LOST]
iperf = load("workloads/iperf/run")
guests, profiles, attempts, networks = (
    sys.modules[name]
    for name in ("_kit.guest", "_kit.guest_profile", "_kit.guest_attempts", "network")
)
parsing = load("workloads/iperf/parse.py")

Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def case_dir(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of one real case to break: TCP unless the test asks for another."""
    name = getattr(request, "param", "bridge-tcp-guest-to-host")
    return shutil.copytree(WORKLOAD / "fixtures" / name, tmp_path / "case")


def rewrite(path: Path, change: Change) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def case(**changes: Any) -> dict[str, Any]:
    parameters = {
        "network": "user", "protocol": "tcp", "vcpus": 1, "parallel": 4,
        "direction": "host-to-guest", "seconds": 2,
    }  # fmt: skip
    return {
        "case_id": "c", "workload": "iperf", "parameters": parameters | changes,
        "iterations": 3, "warmup": 1, "timeout_s": 180,
    }  # fmt: skip


def test_there_are_real_fixtures_of_every_network_protocol_and_direction() -> None:
    seen = set()
    for directory in ALL:
        given = json.loads((directory / "case.json").read_text())["parameters"]
        seen |= {given["network"], given["protocol"], given["direction"]}
    assert seen == {"user", "bridge", "vhost", "tcp", "udp", "guest-to-host", "host-to-guest"}


@pytest.mark.parametrize("directory", FIXTURES, ids=lambda path: path.name)
def test_a_real_case_gives_exactly_the_metrics_that_the_catalog_promises(directory: Path) -> None:
    declared = Catalog().workloads["iperf"]
    result = parsing.parse(directory)
    expected = declared.metrics_of(result["parameters"])
    # Recorded before the host was looked at beside each test; the test below does.
    assert set(result["metrics"]) == set(expected) - {"host_cpu_per_gbit", "exits_per_second"}
    for name in result["metrics"]:
        metric = expected[name]
        got = result["metrics"][name]
        assert (got["unit"], got["direction"]) == (metric.unit, metric.direction)
        assert len(got["values"]) == 3
        assert len(got["warmup"]) == 1
    assert all(value > 1e6 for value in result["metrics"]["throughput"]["values"])
    assert set(result["tools"]) >= {"iperf3", "qemu", "guest_kernel", "guest_cpu"}


def beside(directory: Path, **told: Any) -> None:
    for path in [*directory.glob("warmup-*.json"), *directory.glob("iteration-*.json")]:
        path.with_suffix(".host").write_text(json.dumps(told))


HOST = {"seconds": 2.5, "busy_ticks": 300, "ticks_per_s": 100}


def test_the_host_s_time_is_over_what_was_received_and_exits_over_the_time(case_dir: Path) -> None:
    beside(case_dir, **HOST, exits=50_000)
    metrics = parsing.parse(case_dir)["metrics"]
    received = json.loads((case_dir / "iteration-01.json").read_text())["end"]["sum_received"]
    assert metrics["host_cpu_per_gbit"]["values"][0] == pytest.approx(
        3.0 / (received["bytes"] * 8 / 1e9)
    )
    assert metrics["exits_per_second"]["values"] == [20_000.0] * 3
    declared = Catalog().workloads["iperf"].metrics
    for name in ("host_cpu_per_gbit", "exits_per_second"):
        assert metrics[name]["unit"] == declared[name].unit


def test_exits_that_kvm_does_not_tell_are_absent(case_dir: Path) -> None:
    beside(case_dir, **HOST)
    metrics = parsing.parse(case_dir)["metrics"]
    assert "host_cpu_per_gbit" in metrics
    assert "exits_per_second" not in metrics


@pytest.mark.parametrize(
    "wrong",
    [{"seconds": 0}, {"seconds": 1e9}, {"busy_ticks": -1}, {"busy_ticks": 1.5}, {"ticks_per_s": 0},
     {"busy_ticks": 1 << 52}, {"exits": -1}, {"exits": "many"}],
)  # fmt: skip
def test_what_a_host_cannot_have_done_is_refused(case_dir: Path, wrong: dict[str, Any]) -> None:
    beside(case_dir, **{**HOST, **wrong})
    with pytest.raises(parsing.ParseError, match=r"\.host: "):
        parsing.parse(case_dir)


def test_what_the_host_does_meanwhile_is_told() -> None:
    before = iperf.Beside.now()
    until = before.at_s + 0.3
    while iperf.time.monotonic() < until:
        pass
    told = before.told()
    assert told["seconds"] >= 0.3
    assert told["busy_ticks"] >= 1


def test_throughput_is_the_receivers_and_jitter_is_in_seconds() -> None:
    directory = WORKLOAD / "fixtures/user-udp-guest-to-host"
    end = json.loads((directory / "iteration-01.json").read_text())["end"]
    metrics = parsing.parse(directory)["metrics"]
    assert metrics["throughput"]["values"][0] == end["sum_received"]["bits_per_second"]
    assert metrics["jitter"]["values"][0] == end["sum_received"]["jitter_ms"] / 1000
    assert metrics["loss"]["values"][0] == end["sum_received"]["lost_percent"]


def test_the_program_prints_the_same_as_the_function() -> None:
    done = subprocess.run(
        [sys.executable, WORKLOAD / "parse.py", FIXTURES[0]],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == parsing.parse(FIXTURES[0])


def set_end(name: str, part: str, value: Any) -> Change:
    def change(content: dict[str, Any]) -> None:
        content["end"][name][part] = value

    return change


BROKEN: list[tuple[str, Change, str]] = [
    ("error", lambda c: c.update(error="no route"), "iteration-02.json: error:"),
    ("no end", lambda c: c.pop("end"), "end.sum_received.bits_per_second: missing"),
    ("text", set_end("sum_received", "bits_per_second", "9"), "'9' is not int or float"),
    ("nothing", set_end("sum_received", "bits_per_second", 0), "nothing was received"),
    ("negative", set_end("sum_received", "bits_per_second", -1), "not a finite number from 0"),
    ("null", set_end("sum_sent", "retransmits", None), "end.sum_sent.retransmits: None"),
    ("truth", set_end("sum_sent", "retransmits", True), "end.sum_sent.retransmits: True"),
    ("nan", set_end("sum_received", "bits_per_second", float("nan")), "NaN is not a number"),
    ("inf", set_end("sum_received", "bits_per_second", float("inf")), "Infinity is not a number"),
    (
        "other protocol",
        lambda c: c["start"]["test_start"].update(protocol="UDP"),
        "start.test_start.protocol: 'UDP', but the case asked 'TCP'",
    ),
]


@pytest.mark.parametrize(("change", "said"), [(b[1], b[2]) for b in BROKEN],
                         ids=[b[0] for b in BROKEN])  # fmt: skip
def test_a_bad_iteration_is_refused_with_file_and_field(
    case_dir: Path, change: Change, said: str
) -> None:
    rewrite(case_dir / "iteration-02.json", change)
    with pytest.raises(parsing.ParseError) as refused:
        parsing.parse(case_dir)
    assert str(refused.value).startswith("iteration-02.json: ")
    assert said in str(refused.value)


@pytest.mark.parametrize("case_dir", ["user-udp-guest-to-host"], indirect=True)
def test_a_loss_above_100_percent_is_refused(case_dir: Path) -> None:
    rewrite(case_dir / "iteration-01.json", set_end("sum_received", "lost_percent", 130))
    with pytest.raises(parsing.ParseError, match=r"lost_percent: 130.0 is above 100"):
        parsing.parse(case_dir)


def test_a_number_too_large_for_a_float_is_refused(case_dir: Path) -> None:
    path = case_dir / "iteration-01.json"
    path.write_text(
        path.read_text().replace('"bits_per_second":', '"bits_per_second": 1e999, "x":')
    )
    with pytest.raises(parsing.ParseError, match=r"iteration-01.json: .*inf"):
        parsing.parse(case_dir)


@pytest.mark.parametrize("name", ["case.json", "run.json", "warmup-01.json", "iteration-03.json"])
def test_a_missing_or_truncated_file_is_named(case_dir: Path, name: str) -> None:
    path = case_dir / name
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2])
    with pytest.raises(parsing.ParseError, match=f"^{name}: not JSON, perhaps cut off"):
        parsing.parse(case_dir)
    path.unlink()
    with pytest.raises(parsing.ParseError, match=f"^{name}: missing$"):
        parsing.parse(case_dir)


def test_the_program_ends_with_1_and_prints_no_result_for_a_broken_case(case_dir: Path) -> None:
    (case_dir / "iteration-01.json").unlink()
    done = subprocess.run(
        [sys.executable, WORKLOAD / "parse.py", case_dir],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert "iteration-01.json: missing" in done.stderr


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"network": "slirp"}, "network is 'slirp', not one of: user, bridge, vhost"),
        ({"vcpus": 2}, "vcpus is 2, not one of: 1, 4"),
        ({"seconds": 0}, "seconds is 0"),
        ({"seconds": 2.5}, "seconds is 2.5"),
    ],
)
def test_an_unknown_parameter_value_is_refused_before_anything_starts(
    changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(iperf.contract.CaseError, match=said):
        iperf.checked(case(**changes)["parameters"])


def test_every_value_in_the_catalog_is_one_that_run_takes() -> None:
    declared = Catalog().workloads["iperf"].parameters
    assert {name: p.values for name, p in declared.items() if p.values} == iperf.ALLOWED


def test_the_sender_is_in_the_guest_only_under_reverse() -> None:
    end = iperf.Endpoint([], "10.0.2.15/24", "127.0.0.1", 5201)
    to_guest = iperf.iperf_command(case()["parameters"], end)
    to_host = iperf.iperf_command(case(direction="guest-to-host")["parameters"], end)
    assert "--reverse" not in to_guest
    assert [*to_guest, "--reverse"] == to_host


@pytest.mark.parametrize(("network", "vhost"), [("bridge", "vhost=off"), ("vhost", "vhost=on")])
def test_bridge_and_vhost_differ_only_in_who_serves_the_tap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: str, vhost: str
) -> None:
    facts = tmp_path / "network.json"
    facts.write_text(json.dumps({"tap": "mgtap0", "guest": "192.168.213.2/24"}))
    monkeypatch.setattr(networks, "NETWORK", facts)
    end = iperf.endpoint(network)
    assert end.qemu[1] == f"tap,id=n0,ifname=mgtap0,script=no,downscript=no,{vhost}"
    assert (end.guest_address, end.host) == ("192.168.213.2/24", "192.168.213.2")


def test_a_host_without_the_roles_is_told_which_to_apply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(networks, "NETWORK", tmp_path / "none.json")
    with pytest.raises(iperf.contract.CaseError, match="apply Ansible role guest_network"):
        iperf.endpoint("bridge")


def run_with(
    faults: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, dict[str, Any]]:
    """Exit status and record of a case whose attempts fail as `faults` says, then succeed."""
    manifest = {"iperf3": "3.18", "qemu": "10", "kernel_release": "7.2", "cpu": "host",
                "initrd_sha256": "0"}  # fmt: skip
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.setattr(guests, "GUEST", tmp_path)
    left = list(faults)

    def attempt(case: object, manifest: object, output: Path, number: int, record: object) -> None:
        (output / "warmup-01.json").write_text(f"attempt {number}")
        if left:
            raise iperf.LabFault(left.pop(0), "no answer")

    monkeypatch.setattr(iperf, "attempt_case", attempt)
    record: dict[str, Any] = {"lab_faults": []}
    output = tmp_path / "out"
    output.mkdir()
    return iperf.run_case(case(), output, record), record


def test_a_hung_guest_is_counted_and_the_next_one_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, record = run_with(["guest-hang"], tmp_path, monkeypatch)
    assert status == 0
    assert record["lab_faults"] == [{"kind": "guest-hang", "attempt": 1, "detail": "no answer"}]
    assert (tmp_path / "out/attempt-1/warmup-01.json").read_text() == "attempt 1"
    assert (tmp_path / "out/warmup-01.json").read_text() == "attempt 2"


@pytest.mark.parametrize(("kind", "status"), [("guest-hang", 75), ("iperf-error", 1)])
def test_three_failures_are_a_lab_fault_only_if_the_guest_was_at_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, status: int
) -> None:
    got, record = run_with([kind] * 3, tmp_path, monkeypatch)
    assert got == status
    assert [fault["attempt"] for fault in record["lab_faults"]] == [1, 2, 3]


def test_a_guest_whose_qemu_dies_at_once_is_a_fault_with_its_last_words(tmp_path: Path) -> None:
    manifest = {
        "command": ["sh", "-c", "echo no such machine >&2; exit 3"],
        "append": "", "boot": [], "ready_marker": "READY", "failed_marker": "FAILED",
        "ready_timeout_s": 5,
    }  # fmt: skip
    end = iperf.Endpoint([], "10.0.2.15/24", "127.0.0.1", 5201)
    guest = iperf.Guest(manifest, end, 1, tmp_path, 1)
    with iperf.booted(guest), pytest.raises(iperf.LabFault, match="no such machine") as fault:
        guest.wait_ready(1)
    assert fault.value.kind == "guest-died"


def test_a_guest_that_kvm_gave_up_is_a_fault_at_once(tmp_path: Path) -> None:
    manifest = {
        "command": ["sh", "-c", "echo KVM internal error. Suberror: 3 >&2; exec sleep 60"],
        "append": "", "boot": [], "ready_marker": "READY", "failed_marker": "FAILED",
        "ready_timeout_s": 30,
    }  # fmt: skip
    end = iperf.Endpoint([], "10.0.2.15/24", "127.0.0.1", 5201)
    guest = iperf.Guest(manifest, end, 1, tmp_path, 1)
    with iperf.booted(guest), pytest.raises(iperf.LabFault, match="Suberror: 3") as fault:
        guest.wait_ready(1)
    assert fault.value.kind == "guest-died"


def handed_over(path: Path, **files: str) -> Path:
    """A tar as a guest hands it over, with whatever names a guest may think of."""
    with tarfile.open(path, "w") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return path


def test_a_profiled_guest_boots_the_larger_initramfs_and_counts_its_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guests, "GUEST", tmp_path)
    manifest = {"initrd": "/g/initrd-profile.img", "more_memory_mb": 256, "done_marker": "DONE"}
    (tmp_path / "profile.json").write_text(json.dumps(manifest))
    profile = iperf.guest_profile(199, 3, tmp_path, {})
    assert profile.addition.append == " mg_profile=199,3"
    assert "/g/initrd-profile.img" in profile.addition.qemu


def test_a_profile_takes_its_memory_beside_what_the_arm_asks(tmp_path: Path) -> None:
    manifest = {
        "command": ["sh", "-c", "exec sleep 60"], "memory_mb": 256, "append": "", "boot": [],
    }  # fmt: skip
    end = iperf.Endpoint([], "10.0.2.15/24", "127.0.0.1", 5201)
    more = guests.Addition([], memory_mb=256)
    for asked, size in (({}, "512"), ({"memory_mb": "320"}, "576")):
        with iperf.booted(iperf.Guest(manifest, end, 1, tmp_path, 1, more, asked)) as guest:
            assert guest.command[guest.command.index("-m") + 1] == size


def test_a_host_without_the_profiling_guest_is_told_which_role_to_apply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guests, "GUEST", tmp_path)
    with pytest.raises(iperf.contract.CaseError, match="role guest with guest_profiled"):
        iperf.guest_profile(199, 3, tmp_path, {})


def taken(tmp_path: Path, *, says: str, **files: str) -> Path:
    """Directory with what was taken from a guest that `says` something at the end."""
    guest = a_guest(tmp_path)
    tar = handed_over(tmp_path / "guest.tar", **files)
    profile = profiles.GuestProfile(guests.Addition([]), "DONE", tar)
    guest.serial.write_text(f"READY 1\n{says}\n")
    with iperf.booted(guest):
        iperf.take_profile(guest, profile, tmp_path / "guest")
    assert not profile.tar.exists()
    return tmp_path / "guest"


def test_only_the_known_files_are_taken_from_a_guest(tmp_path: Path) -> None:
    files = {"./facts.json": "{}", "../escaped": "x", "/etc/evil": "x", "./other": "x"}
    directory = taken(tmp_path, says="DONE", **files)
    assert [path.name for path in directory.iterdir()] == ["facts.json"]
    assert not (tmp_path / "escaped").exists()


@pytest.mark.parametrize(
    ("says", "said"),
    [("nothing", "handed no profile over within 0"), ("FAILED", "the guest's profile was lost")],
)
def test_a_guest_that_hands_nothing_over_is_no_fault_of_the_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, said: str
) -> None:
    monkeypatch.setattr(profiles, "PROFILE_LIMIT_S", 0)
    directory = taken(tmp_path, says=says)
    assert said in (directory / "failed.txt").read_text()


def test_an_iperf3_that_hangs_is_ended_and_counted_against_the_guest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(iperf, "GRACE_S", 0.3)
    guest = a_guest(tmp_path)
    with iperf.booted(guest), pytest.raises(iperf.LabFault, match=r"warmup-01: no answer") as fault:
        iperf.measure(guest, ["sleep", "60"], 0, tmp_path / "warmup-01.json")
    assert fault.value.kind == "guest-hang"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo unable to connect >&2; exit 1", "ended with 1: unable to connect"),
        ('echo \'{"error": "reset by peer"}\'', "reset by peer"),
        ("echo '{\"end\": '", "ended with 0"),
    ],
)
def test_an_iperf3_that_fails_beside_a_live_guest_is_its_own_error(
    tmp_path: Path, script: str, said: str
) -> None:
    guest = a_guest(tmp_path)
    with iperf.booted(guest), pytest.raises(iperf.LabFault, match=said) as fault:
        iperf.measure(guest, ["sh", "-c", script], 1, tmp_path / "warmup-01.json")
    assert fault.value.kind == "iperf-error"


def a_guest(directory: Path) -> Any:
    """A process in the place of QEMU that lives and says nothing."""
    manifest = {
        "command": ["sh", "-c", "exec sleep 60"],
        "append": "", "boot": [], "ready_marker": "READY", "failed_marker": "FAILED",
        "ready_timeout_s": 5,
    }  # fmt: skip
    return iperf.Guest(
        manifest, iperf.Endpoint([], "10.0.2.15/24", "127.0.0.1", 5201), 1, directory, 1
    )


def test_a_silent_guest_is_a_hang_after_its_time_out(tmp_path: Path) -> None:
    manifest = {
        "command": ["sh", "-c", "exec sleep 60"],
        "append": "", "boot": [], "ready_marker": "READY", "failed_marker": "FAILED",
        "ready_timeout_s": 0.3,
    }  # fmt: skip
    end = iperf.Endpoint([], "10.0.2.15/24", "127.0.0.1", 5201)
    guest = iperf.Guest(manifest, end, 1, tmp_path, 1)
    guest.serial.write_text("READY 10\n")
    with iperf.booted(guest), pytest.raises(iperf.LabFault, match="test 1 within") as fault:
        guest.wait_ready(1)
    assert fault.value.kind == "guest-hang"
    assert guest.process.returncode == -9


def parsed_as_process(case_dir: Path) -> subprocess.CompletedProcess[str]:
    """The parser as a worker runs it: by itself, over a directory."""
    command = [sys.executable, WORKLOAD / "parse.py", case_dir]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_more_retransmits_than_segments_are_refused(case_dir: Path) -> None:
    """iperf 3.1 wraps a count below 0: 4294967294 of 17.7 MB, which are some 12,000 segments."""
    wrapped = json.loads(
        (REPOSITORY / "tests/fixtures/cases/17-iperf-retransmits-wrapped.json").read_text()
    )

    def wrap(raw: dict[str, Any]) -> None:
        raw["end"]["sum_sent"] = wrapped["end"]["sum_sent"]

    rewrite(case_dir / "iteration-02.json", wrap)
    done = parsed_as_process(case_dir)
    assert done.returncode == 1
    assert (
        "iteration-02.json: end.sum_sent.retransmits: 4294967294 of 17694720 bytes" in done.stderr
    )


@pytest.mark.parametrize("case_dir", ["bridge-udp-guest-to-host"], indirect=True)
@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("lost_packets", 10**9, "end.sum_received.lost_packets: 1e+09 of"),
        ("bits_per_second", 1e12, "end.sum_received.bits_per_second: 1e+12 over"),
        ("bits_per_second", 1e3, "end.sum_received.bits_per_second: 1000 over"),
    ],
)
def test_counts_that_contradict_each_other_are_refused(
    case_dir: Path, name: str, value: float, said: str
) -> None:
    rewrite(
        case_dir / "iteration-01.json", lambda raw: raw["end"]["sum_received"].update({name: value})
    )
    done = parsed_as_process(case_dir)
    assert done.returncode == 1
    assert said in done.stderr


CASES = REPOSITORY / "tests/fixtures/cases"


@pytest.mark.parametrize(
    ("directory", "said"),
    [
        (CASES / "36-iperf-3-of-10-s",
         "iteration-01.json: end.sum_received.seconds: 3 s, but the case asked 10 s"),
        (CASES / "37-iperf-udp-lost",
         "iteration-01.json: end.sum_received.lost_percent: 97.0 of 100 packets were lost"),
        (LOST, "warmup-01.json: end.sum_received.lost_percent: 96.2 of 100 packets were lost"),
    ],
)  # fmt: skip
def test_a_test_that_was_short_or_lost_most_of_its_packets_failed(
    directory: Path, said: str
) -> None:
    done = parsed_as_process(directory)
    assert done.returncode == 1
    assert said in done.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c["start"]["test_start"].update(duration=3), "start.test_start.duration: 3 s"),
        (set_end("sum_sent", "seconds", 1.1), "end.sum_sent.seconds: 1.1 s"),
        (set_end("sum_sent", "seconds", 60), "end.sum_sent.seconds: 60 s, but the case asked 2 s"),
        (lambda c: c.update(server_output_json={"error": "killed"}), "server_output_json.error"),
    ],
)
def test_a_test_of_another_time_or_whose_other_end_failed_is_refused(
    case_dir: Path, change: Change, said: str
) -> None:
    rewrite(case_dir / "iteration-02.json", change)
    with pytest.raises(parsing.ParseError, match=f"iteration-02.json: {said}"):
        parsing.parse(case_dir)
