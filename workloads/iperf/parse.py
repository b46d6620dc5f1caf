"""Turn what `run` left in a case's directory into the one result schema.

`python parse.py DIR` prints the result as JSON. Anything missing, cut off or
not a finite number ends with status 1 and a line that names file and field.
Standard library only.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _kit import parsing, results
from _kit.parsing import ParseError, field, number
from _kit.wire.result import Direction


def sample(path: Path, case: dict[str, Any]) -> dict[str, float]:
    """Metric → value of one iperf3 test, in the units of workload.yml."""
    raw = parsing.read_object(path)
    require_no_error(raw, path.name)
    asked = case["parameters"]
    seen = {
        "start.test_start.protocol": asked["protocol"].upper(),
        "start.test_start.num_streams": asked["parallel"],
        "start.test_start.reverse": int(asked["direction"] == "guest-to-host"),
    }
    for name, expected in seen.items():
        value = field(raw, path.name, name, type(expected))
        if value != expected:
            told = f"{value!r:.200}, but the case asked {expected!r}"
            raise ParseError(f"{path.name}: {name}: {told}")
    throughput = number(raw, path.name, "end.sum_received.bits_per_second")
    if throughput == 0:
        raise ParseError(f"{path.name}: end.sum_received.bits_per_second: nothing was received")
    require_rate(raw, path.name, throughput)
    require_whole(raw, path.name, asked["seconds"])
    found = {"throughput": throughput, **beside(path, raw)}
    if asked["protocol"] == "tcp":
        return {**found, "retransmits": retransmits(raw, path.name)}
    loss = number(raw, path.name, "end.sum_received.lost_percent")
    if loss > 100:
        raise ParseError(f"{path.name}: end.sum_received.lost_percent: {loss} is above 100")
    packets = number(raw, path.name, "end.sum_received.packets")
    lost = number(raw, path.name, "end.sum_received.lost_packets")
    if lost > packets:
        raise ParseError(f"{path.name}: end.sum_received.lost_packets: {lost:g} of {packets:g}")
    # The percentage is a mean over streams, whatever each of them sent.
    share = max(loss, 100 * lost / packets if packets else 0.0)
    if share > MOST_LOST:
        raise ParseError(
            f"{path.name}: end.sum_received.lost_percent: {share:.1f} of 100 packets were lost: a "
            "throughput of the few that arrived says nothing of the path"
        )
    jitter_ms = number(raw, path.name, "end.sum_received.jitter_ms")
    return {**found, "loss": loss, "jitter": jitter_ms / 1000}


def require_no_error(raw: dict[str, Any], file: str) -> None:
    """Refuse what iperf3, or the server whose answer it passes on, says failed."""
    server = raw.get("server_output_json")
    for name, content in (("", raw), ("server_output_json.", server)):
        if isinstance(content, dict) and "error" in content:
            told = f"iperf3 reported {content['error']!r:.500}"
            raise ParseError(f"{file}: {name}error: {told}")


def require_whole(raw: dict[str, Any], file: str, asked_s: int) -> None:
    """Refuse a test that was asked for another time, or that ended before it."""
    if "duration" in field(raw, file, "start.test_start", dict):
        duration = number(raw, file, "start.test_start.duration")
        if duration != asked_s:
            raise ParseError(
                f"{file}: start.test_start.duration: {duration:g} s, but the case asked {asked_s} s"
            )
    for name in ("end.sum_received", "end.sum_sent"):
        if "seconds" in field(raw, file, name, dict):
            seconds = number(raw, file, f"{name}.seconds")
            parsing.require_time(seconds, asked_s, file, f"{name}.seconds")


def require_rate(raw: dict[str, Any], file: str, bits_per_second: float) -> None:
    """Refuse a throughput that is not what was received over the time, where iperf3 tells both."""
    received = field(raw, file, "end.sum_received", dict)
    if "seconds" not in received or "bytes" not in received:
        return
    seconds = number(received, file, "seconds", most=MOST_SECONDS)
    bits = 8 * number(received, file, "bytes")
    if abs(bits_per_second * seconds - bits) > RATE_TOLERANCE * bits:
        raise ParseError(
            f"{file}: end.sum_received.bits_per_second: {bits_per_second:g} over {seconds:g} s is "
            f"not {bits:g} bits"
        )


def retransmits(raw: dict[str, Any], file: str) -> float:
    """Segments that were sent again; no more than as many of the smallest as were sent in all.

    iperf 3.1 prints a count below 0 as 2**32 less that.
    """
    told = number(raw, file, "end.sum_sent.retransmits")
    sent_bytes = number(raw, file, "end.sum_sent.bytes")
    if told > sent_bytes / SMALLEST_SEGMENT_BYTES:
        raise ParseError(
            f"{file}: end.sum_sent.retransmits: {told:.0f} of {sent_bytes:.0f} bytes that were "
            "sent: more than there were segments"
        )
    return told


def beside(path: Path, raw: dict[str, Any]) -> dict[str, float]:
    """What the host did beside one test; nothing where `run` did not look."""
    host = path.with_suffix(".host")
    if not host.exists():
        return {}
    told = parsing.read_object(host)
    seconds = number(told, host.name, "seconds", most=MOST_SECONDS)
    ticks_per_s = parsing.whole(told, host.name, "ticks_per_s", 1, 10_000)
    busy_s = parsing.whole(told, host.name, "busy_ticks", 0) / ticks_per_s
    if not seconds or busy_s > seconds * MOST_PROCESSORS:
        raise ParseError(f"{host.name}: busy_ticks: {busy_s:g} s within {seconds:g} s")
    received_bytes = number(raw, path.name, "end.sum_received.bytes")
    if received_bytes == 0:
        raise ParseError(f"{path.name}: end.sum_received.bytes: nothing was received")
    found = {"host_cpu_per_gbit": busy_s / (received_bytes * 8 / 1e9)}
    if "exits" in told:
        exits = parsing.whole(told, host.name, "exits", 0)
        found["exits_per_second"] = exits / seconds
    return found


MOST_SECONDS = 86_400.0
# TCP_MIN_MSS of Linux, include/net/tcp.h.
SMALLEST_SEGMENT_BYTES = 88
# Of what was received: iperf3 rounds times that it prints.
RATE_TOLERANCE = 0.01
# Percent of packets beyond which a throughput is that of a few.
MOST_LOST = 50.0
MOST_PROCESSORS = 1 << 16
METRICS: dict[str, tuple[str, Direction]] = {
    "host_cpu_per_gbit": ("s/Gbit", "lower"),
    "exits_per_second": ("1/s", "lower"),
    "throughput": ("bit/s", "higher"),
    "retransmits": ("count", "lower"),
    "loss": ("percent", "lower"),
    "jitter": ("s", "lower"),
}


def parse(directory: Path) -> dict[str, Any]:
    """Result of the case in `directory`; ParseError if a file is not as promised."""
    case = parsing.checked_case(directory, protocol=str, direction=str, parallel=int, seconds=int)
    record = parsing.read_object(directory / parsing.RUN_RECORD)
    warmup = [
        sample(directory / f"warmup-{index:02}.json", case)
        for index in range(1, case["warmup"] + 1)
    ]
    iterations = [
        sample(directory / f"iteration-{index:02}.json", case)
        for index in range(1, case["iterations"] + 1)
    ]
    metrics = {
        name: results.metric(
            *METRICS[name], [one[name] for one in warmup], [one[name] for one in iterations]
        )
        for name in iterations[0]
        # Exits that KVM told of in some tests and not in others are absent.
        if all(name in one for one in (*warmup, *iterations))
    }
    return results.result("iperf", case, record, metrics)


if __name__ == "__main__":
    sys.exit(parsing.main(parse, sys.argv[1:]))
