"""Turn what `run` left in a case's directory into the one result schema.

fio gives most figures twice; where the two differ, or a figure cannot be of the case, the whole
output is refused.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _kit import parsing, results, seal
from _kit.parsing import ParseError, field, number, whole
from _kit.wire.result import Direction

RANDOM = "random-4k"
BLOCK_SIZE = {RANDOM: 4096, "sequential-128k": 128 << 10, "sequential-1m": 1 << 20}
OPERATIONS = ("read", "write")
# A case that names no disk has the first.
DISKS = {"virtio-blk": "/dev/vda", "virtio-scsi": "/dev/sda"}
METRICS: dict[str, tuple[str, Direction]] = {
    "iops": ("1/s", "higher"),
    "bandwidth": ("B/s", "higher"),
    "latency_p50": ("ns", "lower"),
    "latency_p99": ("ns", "lower"),
    "host_cpu_per_io": ("ns", "lower"),
}
# fio's JSON has completion latencies in nanoseconds since this release.
RELEASE = "fio-3."
# Jobs end one after the other, and figures are rounded.
TOLERANCE = 0.02
# fio's bins of latency are as wide.
BIN = 0.05


def close(one: float, other: float, tolerance: float = TOLERANCE) -> bool:
    """Whether two figures that mean the same are."""
    return abs(one - other) <= tolerance * max(one, other)


def asked(parameters: dict[str, Any]) -> dict[str, str]:
    """fio's options as it repeats them, where the case sets them."""
    pattern, order = parameters["pattern"], "rand" if parameters["pattern"] == RANDOM else ""
    return {
        "rw": f"{order}{parameters['operation']}", "bs": str(BLOCK_SIZE[pattern]),
        "iodepth": str(parameters["queue_depth"]), "numjobs": str(parameters["jobs"]),
        "ioengine": parameters["engine"], "runtime": str(parameters["seconds"]), "direct": "1",
    }  # fmt: skip


def disk_of(parameters: dict[str, Any]) -> str:
    """The case's disk, by QEMU's name of its controller."""
    return str(parameters.get("disk", next(iter(DISKS))))


def the_job(raw: dict[str, Any], file: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The one group of jobs, if it is what the case asked for and ended well."""
    release = field(raw, file, "fio version", str)
    if not release.startswith(RELEASE):
        raise ParseError(f"{file}: fio version: {release!r:.40}, but {RELEASE}x is known")
    file_name = field(raw, file, "global options.filename", str)
    if file_name != (wanted := DISKS[disk_of(parameters)]):
        raise ParseError(
            f"{file}: global options.filename: {file_name!r:.40}, the case's disk is {wanted}"
        )
    jobs = field(raw, file, "jobs", list)
    if len(jobs) != 1 or not isinstance(jobs[0], dict):
        raise ParseError(f"{file}: jobs: {len(jobs)}, not one group")
    job: dict[str, Any] = jobs[0]
    # total_err: errors that fio went on after.
    for name in ("error", "total_err"):
        if (name == "error" or name in job) and (failed := field(job, file, name, int)) != 0:
            raise ParseError(f"{file}: jobs.{name}: fio ended with {failed}")
    for name, wanted in asked(parameters).items():
        told = field(job, file, f"job options.{name}", str)
        if told != wanted:
            raise ParseError(f"{file}: job options.{name}: {told!r:.40}, the case asked {wanted!r}")
    return job


def figures(job: dict[str, Any], file: str, parameters: dict[str, Any]) -> dict[str, float]:
    """fio's own figures; ParseError where they contradict each other."""
    which, bs = parameters["operation"], BLOCK_SIZE[parameters["pattern"]]
    other = {"read": "write", "write": "read"}[which]
    if field(job, file, f"{other}.total_ios", int) != 0:
        raise ParseError(f"{file}: {other}.total_ios: the case asked for {which} alone")
    side = field(job, file, which, dict)
    count = whole(side, file, "total_ios", 1)
    moved, took_ms = whole(side, file, "io_bytes", 1), whole(side, file, "runtime", 1)
    parsing.require_time(took_ms / 1000, parameters["seconds"], file, f"{which}.runtime")
    require_complete(side, file, which, count)
    iops, bandwidth = number(side, file, "iops"), number(side, file, "bw_bytes")
    seconds = took_ms / 1000
    for name, one, twin in (
        ("io_bytes", moved, count * bs),
        ("iops", iops, count / seconds),
        ("bw_bytes", bandwidth, moved / seconds),
    ):
        if not close(one, twin):
            raise ParseError(f"{file}: {which}.{name}: {one:g}, by its other figures {twin:g}")
    latency = percentiles(side, file, count)
    check_queue(latency["mean"], iops, file, parameters)
    return {
        "iops": iops, "bandwidth": bandwidth, "latency_p50": latency["p50"],
        "latency_p99": latency["p99"], "count": count, "seconds": seconds,
    }  # fmt: skip


def require_complete(side: dict[str, Any], file: str, which: str, count: int) -> None:
    """Refuse a test of which many requests were cut short or dropped."""
    for name in ("short_ios", "drop_ios"):
        if name in side and (missed := whole(side, file, name, 0)) > TOLERANCE * count:
            raise ParseError(f"{file}: {which}.{name}: {missed} of {count} requests")


def percentiles(side: dict[str, Any], file: str, count: int) -> dict[str, float]:
    """Completion latencies in ns: p50, p99 and the mean, in an order that is possible."""
    latency = field(side, file, "clat_ns", dict)
    # Older releases, Debian 10's 3.12 among them, tell how many by total_ios alone.
    if "N" in latency and whole(latency, file, "N", 1) != count:
        raise ParseError(f"{file}: clat_ns.N: it is not total_ios")
    told = {name: number(latency, file, name) for name in ("min", "max", "mean")}
    shares = field(latency, file, "percentile", dict)
    p50, p99 = (
        number({name: shares.get(key)}, file, name)
        for name, key in (("p50", "50.000000"), ("p99", "99.000000"))
    )
    if not 0 < p50 <= p99 or p50 < told["min"] * (1 - BIN) or p99 > told["max"] * (1 + BIN):
        raise ParseError(f"{file}: clat_ns.percentile: {p50:g} and {p99:g} are not in order")
    # Half of all took p50 at least, and a hundredth p99.
    if told["mean"] < 0.5 * p50 * (1 - BIN) or told["mean"] < 0.01 * p99 * (1 - BIN):
        raise ParseError(f"{file}: clat_ns.mean: {told['mean']:g} is below what p50 and p99 tell")
    return {"p50": p50, "p99": p99, "mean": told["mean"]}


def check_queue(mean_ns: float, iops: float, file: str, parameters: dict[str, Any]) -> None:
    """Little's law: no more can be under way than the queues hold."""
    under_way = iops * mean_ns / 1e9
    most = parameters["queue_depth"] * parameters["jobs"]
    if under_way > most * (1 + BIN):
        raise ParseError(f"{file}: {under_way:.1f} requests under way, the queues hold {most}")


def host_ns(facts: dict[str, Any], file: str, seconds: float) -> float:
    """Processor time of the host in ns, from the first job's begin to the last one's end."""
    rate = whole(facts, file, "ticks_per_s", 1, 100_000)
    took, busy, every = (
        whole(facts, file, f"ended.{name}", 0, 1 << 62)
        - whole(facts, file, f"began.{name}", 0, 1 << 62)
        for name in ("monotonic_ns", "busy", "all")
    )
    if took < seconds * 1e9 * (1 - TOLERANCE):
        raise ParseError(f"{file}: ended.monotonic_ns: {took / 1e9:g} s, but fio took {seconds:g}")
    if not 0 < busy <= every:
        raise ParseError(f"{file}: ended.busy: {busy} ticks of {every}")
    return busy * 1e9 / rate


def sample(directory: Path, name: str, parameters: dict[str, Any]) -> dict[str, float]:
    """Metric → value of one fio test, in the units of workload.yml."""
    file, host = f"{name}.json", f"{name}.host.json"
    job = the_job(parsing.read_object(directory / file), file, parameters)
    told = figures(job, file, parameters)
    busy = host_ns(parsing.read_object(directory / host), host, told["seconds"])
    return {**told, "host_cpu_per_io": busy / told["count"]}


def parse(directory: Path) -> dict[str, Any]:
    """Result of the case in `directory`; ParseError if a file is not as promised."""
    case = parsing.checked_case(
        directory, pattern=str, operation=str, queue_depth=int, jobs=int, engine=str, seconds=int
    )
    parameters = case["parameters"]
    if parameters["pattern"] not in BLOCK_SIZE or parameters["operation"] not in OPERATIONS:
        raise ParseError(f"{parsing.CASE}: parameters.pattern: no such pattern and operation")
    if disk_of(parameters) not in DISKS:
        raise ParseError(f"{parsing.CASE}: parameters.disk: known are {', '.join(DISKS)}")
    record = parsing.read_object(directory / parsing.RUN_RECORD)

    def samples(kind: str, count: int) -> list[dict[str, float]]:
        names = [f"{kind}-{index:02}" for index in range(1, count + 1)]
        files = [f"{name}{end}" for name in names for end in (".json", ".host.json")]
        seal.require_whole(directory, record, files)
        return [sample(directory, name, parameters) for name in names]

    warmup, iterations = samples("warmup", case["warmup"]), samples("iteration", case["iterations"])
    metrics = {
        name: results.metric(
            *kind, [one[name] for one in warmup], [one[name] for one in iterations]
        )
        for name, kind in METRICS.items()
    }
    operations = sum(one["count"] for one in iterations)
    return results.result("fio", case, record, metrics, operations=operations)


if __name__ == "__main__":
    sys.exit(parsing.main(parse, sys.argv[1:]))
