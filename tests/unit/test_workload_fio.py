"""fio: what it runs in the guest, and what becomes of its raw output."""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from tests.loading import load
from tests.workload_cases import edit, refused_of_300

WORKLOAD = REPOSITORY / "workloads/fio"
FIXTURES = sorted(path.parent for path in WORKLOAD.glob("fixtures/*/case.json"))
fio = load("workloads/fio/run")
parsing = load("workloads/fio/parse.py")
guests, channels, seals = (
    sys.modules[f"_kit.{name}"] for name in ("guest", "guest_channel", "seal")
)

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def case_dir(tmp_path: Path) -> Path:
    """A copy of one real case to break."""
    return shutil.copytree(WORKLOAD / "fixtures/random-read", tmp_path / "case")


def broken(case_dir: Path, name: str, change: Change) -> str:
    """What the parser says of the case with one file changed, and its digest made to fit."""
    edit(case_dir / name, change)
    sealed = seals.of(case_dir, [name])
    edit(case_dir / "run.json", lambda record: record["sha256"].update(sealed))
    with pytest.raises(parsing.ParseError) as refused:
        parsing.parse(case_dir)
    return str(refused.value)


@pytest.mark.parametrize("directory", FIXTURES, ids=lambda path: path.name)
def test_a_real_case_gives_exactly_the_metrics_that_the_catalog_promises(directory: Path) -> None:
    declared = Catalog().workloads["fio"]
    result = parsing.parse(directory)
    case = json.loads((directory / "case.json").read_text())
    expected = declared.metrics_of(result["parameters"])
    assert set(result["metrics"]) == set(expected)
    for name, metric in expected.items():
        got = result["metrics"][name]
        assert (got["unit"], got["direction"]) == (metric.unit, metric.direction)
        assert (len(got["values"]), len(got["warmup"])) == (case["iterations"], case["warmup"])
        assert min(got["values"]) > 0
    assert result["operations"] > 0
    assert set(result["tools"]) >= {"fio", "qemu", "guest_kernel", "disk_cache", "disk_filesystem"}


def test_there_are_fixtures_of_every_pattern_operation_aio_and_disk() -> None:
    seen: set[object] = set()
    for directory in FIXTURES:
        seen |= set(json.loads((directory / "case.json").read_text())["parameters"].values())
    assert seen >= {"random-4k", "sequential-128k", "sequential-1m", "read", "write", "virtio-scsi"}
    assert seen >= {"native", "io_uring", "threads", "libaio", 1, 4, 32}


def test_figures_are_fio_s_own_and_the_hosts_time_is_over_fio_s_requests() -> None:
    directory = WORKLOAD / "fixtures/random-read"
    [job] = json.loads((directory / "iteration-01.json").read_text())["jobs"]
    host = json.loads((directory / "iteration-01.host.json").read_text())
    metrics = parsing.parse(directory)["metrics"]
    assert metrics["iops"]["values"][0] == job["read"]["iops"]
    assert metrics["latency_p99"]["values"][0] == job["read"]["clat_ns"]["percentile"]["99.000000"]
    ticks = host["ended"]["busy"] - host["began"]["busy"]
    per_io = ticks / host["ticks_per_s"] * 1e9 / job["read"]["total_ios"]
    assert metrics["host_cpu_per_io"]["values"][0] == pytest.approx(per_io)


def side(name: str, value: object) -> Change:
    return lambda raw: raw["jobs"][0]["read"].update({name: value})


BROKEN: list[tuple[str, Change, str]] = [
    ("old", lambda r: r.update({"fio version": "fio-2.21"}), "fio version: 'fio-2.21'"),
    ("failed", lambda r: r["jobs"][0].update(error=28), "jobs.error: fio ended with 28"),
    ("two groups", lambda r: r["jobs"].append({}), "jobs: 2, not one group"),
    ("another depth", lambda r: r["jobs"][0]["job options"].update(iodepth="7"),
     "job options.iodepth: '7', the case asked '1'"),
    ("wrote", lambda r: r["jobs"][0]["write"].update(total_ios=3), "asked for read alone"),
    ("none", side("total_ios", 0), "total_ios: not from 1"),
    ("too many", lambda r: side("iops", r["jobs"][0]["read"]["iops"] * 2)(r), "read.iops:"),
    ("another disk", lambda r: r["global options"].update(filename="/dev/sda"),
     "global options.filename: '/dev/sda', the case's disk is /dev/vda"),
    ("bytes", side("io_bytes", 4096), "read.io_bytes:"),
    ("disorder", lambda r: r["jobs"][0]["read"]["clat_ns"]["percentile"].update({"50.000000": 9e9}),
     "not in order"),
    ("no p99", lambda r: r["jobs"][0]["read"]["clat_ns"]["percentile"].pop("99.000000"), "p99"),
    ("too slow", lambda r: r["jobs"][0]["read"]["clat_ns"].update(mean=9e9),
     "requests under way, the queues hold 1"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "said"), [b[1:] for b in BROKEN], ids=[b[0] for b in BROKEN])
def test_output_that_contradicts_itself_or_the_case_is_refused_by_name(
    case_dir: Path, change: Change, said: str
) -> None:
    told = broken(case_dir, "iteration-02.json", change)
    assert told.startswith("iteration-02.json: ")
    assert said in told


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda h: h["ended"].update(busy=h["began"]["busy"]), "ended.busy: 0 ticks"),
        (lambda h: h["ended"].update(busy=h["ended"]["busy"] + 10**9), "ended.busy:"),
        (lambda h: h["ended"].update(monotonic_ns=h["began"]["monotonic_ns"] + 5), "but fio took"),
        (lambda h: h.pop("ticks_per_s"), "ticks_per_s: missing"),
    ],
)
def test_an_impossible_time_of_the_host_is_refused(
    case_dir: Path, change: Change, said: str
) -> None:
    assert said in broken(case_dir, "warmup-01.host.json", change)


def test_output_that_was_cut_off_or_changed_since_is_refused(case_dir: Path) -> None:
    path = case_dir / "iteration-01.json"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(parsing.ParseError, match=r"iteration-01\.json: it is not as it was"):
        parsing.parse(case_dir)


@pytest.mark.parametrize("name", ["iteration-01.json", "iteration-01.host.json", "run.json"])
def test_changed_output_gives_the_same_numbers_or_none(case_dir: Path, name: str) -> None:
    assert refused_of_300(parsing, case_dir, name) > 30


def case(**changes: Any) -> dict[str, Any]:
    asked = {"pattern": "random-4k", "operation": "read", "queue_depth": 1, "jobs": 1}
    parameters: dict[str, Any] = fio.checked({**asked, **changes})
    return parameters


def test_sequential_jobs_have_a_part_of_the_disk_each_and_random_ones_all_of_it() -> None:
    parted = fio.arguments(case(pattern="sequential-128k", jobs=4))
    assert "--size=25% --offset_increment=25%" in parted
    assert "--size" not in fio.arguments(case(jobs=4))
    assert "--rw=randwrite --bs=4096" in fio.arguments(case(operation="write"))
    largest = fio.arguments(case(pattern="sequential-1m", operation="write", jobs=4))
    assert "--rw=write --bs=1048576" in largest
    assert "--size=25% --offset_increment=25%" in largest


def test_a_case_is_of_virtio_blk_where_it_names_no_disk_and_stays_the_case_that_it_was() -> None:
    workload = Catalog().workloads["fio"]
    [same], [other] = workload.expand({}), workload.expand({"disk": "virtio-scsi"})
    assert "disk" not in same
    assert workload.expand({"disk": "virtio-blk"}) == [same]
    assert "disk" not in fio.checked(same)
    assert workload.title_of(other) == f"{workload.title_of(same)}, disk virtio-scsi"


def test_a_disk_behind_a_controller_is_served_by_the_same_thread(tmp_path: Path) -> None:
    disks = sys.modules["_kit.data_disk"]
    disk = disks.DataDisk(3, 1 << 20, tmp_path, "ext4", True)
    for device, words in (
        ("virtio-blk", ["virtio-blk-pci,drive=disk0,iothread=io0"]),
        ("virtio-scsi", ["virtio-scsi-pci,id=scsi0,iothread=io0",
                         "scsi-hd,bus=scsi0.0,drive=disk0"]),
    ):  # fmt: skip
        qemu = disk.addition("native", device).qemu
        assert [after for word, after in itertools.pairwise(qemu) if word == "-device"] == words
    assert disk.addition("native") == disk.addition("native", "virtio-blk")


@pytest.mark.parametrize(
    ("name", "value"),
    [("pattern", "random-8k"), ("jobs", 3), ("disk_mb", 8), ("aio", "posix"), ("disk", "nvme")],
)
def test_a_parameter_that_is_not_known_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(fio.contract.CaseError, match=f"parameter {name} is"):
        case(**{name: value})


class Said:
    """A channel over which a guest says what it is given."""

    def __init__(self, *frames: tuple[str, bytes]) -> None:
        self.frames, self.sent = [channels.Frame(*frame) for frame in frames], ""

    def send(self, line: str) -> None:
        self.sent = line

    def receive(self, quiet_s: float, limit_s: float) -> Any:
        return self.frames.pop(0)


def test_a_test_keeps_fio_s_object_and_the_host_s_time_between_begin_and_end(
    tmp_path: Path,
) -> None:
    said = Said(("BEGIN", b""), ("END", b""), ("RESULT", b"x: saving\n{\n}"))
    fio.measure(said, case(), tmp_path / "a.json", tmp_path / "a.host.json")
    assert (tmp_path / "a.json").read_text() == "{\n}"
    assert set(json.loads((tmp_path / "a.host.json").read_text())) == {
        "began", "ended", "ticks_per_s",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("frames", "said"),
    [
        ([("BEGIN", b""), ("FAILED", b"fio: no space left on device")], "no space left on device"),
        ([("BEGIN", b""), ("RESULT", b"{}")], "1 jobs began, 0 ended"),
    ],
)
def test_a_fio_that_fails_is_its_own_error_with_its_words(
    tmp_path: Path, frames: list[tuple[str, bytes]], said: str
) -> None:
    with pytest.raises(fio.LabFault, match=said) as fault:
        fio.measure(Said(*frames), case(), tmp_path / "a.json", tmp_path / "b")
    assert fault.value.kind == "fio-error"
    assert not (tmp_path / "a.json").exists()


def test_a_host_without_the_guest_is_told_which_role_to_apply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guests, "GUEST", tmp_path)
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(fio.contract.CaseError, match="with fio among guest_workloads"):
        fio.run_case({"parameters": case()}, tmp_path, {"lab_faults": []})


def test_output_of_fio_3_12_is_taken(case_dir: Path) -> None:
    """It has no count beside its latencies."""
    before = parsing.parse(case_dir)

    def older(raw: dict[str, Any]) -> None:
        raw["fio version"] = "fio-3.12"
        del raw["jobs"][0]["read"]["clat_ns"]["N"]

    names = [
        path.name for path in case_dir.glob("*.json") if "jobs" in json.loads(path.read_text())
    ]
    for name in names:
        edit(case_dir / name, older)
    edit(case_dir / "run.json", lambda run: run["sha256"].update(seals.of(case_dir, names)))
    assert parsing.parse(case_dir)["metrics"] == before["metrics"]


def test_a_count_of_latencies_that_is_told_must_be_right(case_dir: Path) -> None:
    said = broken(
        case_dir,
        "iteration-01.json",
        lambda raw: raw["jobs"][0]["read"]["clat_ns"].update(N=7),
    )
    assert "clat_ns.N: it is not total_ios" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r["jobs"][0].update(total_err=3), "jobs.total_err: fio ended with 3"),
        (side("short_ios", 200), "read.short_ios: 200 of"),
        (side("drop_ios", 200), "read.drop_ios: 200 of"),
    ],
)
def test_a_test_with_errors_or_dropped_requests_is_refused(
    case_dir: Path, change: Change, said: str
) -> None:
    assert said in broken(case_dir, "iteration-01.json", change)


def test_a_test_that_was_over_long_before_its_time_is_refused(case_dir: Path) -> None:
    def shorten(raw: dict[str, Any]) -> None:
        told = raw["jobs"][0]["read"]
        for name in ("total_ios", "io_bytes", "runtime"):
            told[name] = round(told[name] * 0.3)
        told["clat_ns"]["N"] = told["total_ios"]

    said = broken(case_dir, "iteration-01.json", shorten)
    assert "read.runtime: 0.3" in said
    assert "but the case asked 1 s" in said
