"""A case once more under `perf record`: what runner.py does after every timed pass.

What the profiled pass leaves lies in the case's `profile/`: profile.json says how it
went, perf.script.* is the recording as compressed text. Where a workload also leaves
its guest's recording in `guest/`, that gets a profile.json of its own.
Standard library only; staged beside the runner.
"""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import _instructions
from _cases import TERM_GRACE_S, c_locale, end_group, run_logged, workload_command, write_json
from _kit.wire import profile as wire
from _kit.wire import run_record
from _kit.wire.case import Case
from _kit.wire.limits import CAPTURE_BYTES, LONGEST_DETAIL
from _kit.wire.profile import NMI_EVENT, OWN_NMIS, SUFFIXES, Profile

# Sums up, with TERM_GRACE_S each, to less than PROFILE_MARGIN_S of the contract.
PERF_PROBE_LIMIT_S = 30
PERF_STATS_LIMIT_S = 60
PERF_SCRIPT_LIMIT_S = 240
# The period weighs a sample; without it every sample would count 1.
SCRIPT_FIELDS = "comm,pid,tid,cpu,time,period,event,ip,sym,dso"
# Arguments: host and port of the emulator's NMIs, their mean rate in Hz, a file for notes, and
# the command to run under them. The notes say when they began and ended, or why none came.
# Run by perf, so that they come between its start and its end: it has the kernel change the
# code that handles them, and an emulated processor which is in that code at the time may run
# what is there no longer, which is a panic.
UNDER_NMIS = """
host=$1 port=$2 hz=$3 notes=$4
shift 4
refused() { echo "no NMIs from $host:$port: $1" >"$notes"; exit 1; }
exec 3<>"/dev/tcp/$host/$port" || refused "it takes no connection"
echo "$hz" >&3
read -r -t 20 -n 200 said <&3
[ "$said" = ok ] || refused "${said:-no answer}"
echo "$EPOCHREALTIME" >"$notes"
"$@" 3<&-
code=$?
echo "$EPOCHREALTIME" >>"$notes"
exit "$code"
"""
COUNTERS = ("cycles", "instructions", "branches", "branch-misses")
PACKERS = {"zstd": ["-q", "-c"], "gzip": ["-c"]}


class ProfileError(Exception):
    """There is no profile of this case; the text says why."""


def perf(*arguments: str, timeout_s: float) -> subprocess.CompletedProcess[str]:
    """What perf answers; ProfileError if it is missing or does not end."""
    try:
        return subprocess.run(
            ["perf", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", check=False, timeout=timeout_s, env=c_locale(),
        )  # fmt: skip
    except FileNotFoundError:
        raise ProfileError("perf is not installed on the host: apt install linux-perf") from None
    except subprocess.TimeoutExpired:
        raise ProfileError(f"perf {arguments[0]}: no end within {timeout_s} s") from None


def perf_version() -> str:
    """Version of the installed perf."""
    said = perf("--version", timeout_s=PERF_PROBE_LIMIT_S).stdout
    found = re.search(r"(?<!\d)\d+\.\d+[\w.~+-]*", said)
    if not found:
        raise ProfileError(f"perf --version says no version: {said[:200]!r}")
    return found.group(0)


def counted(text: str) -> dict[str, float]:
    """Event → count in what `perf stat -x,` wrote; one that was not counted is absent."""
    counts = {}
    for line in text.splitlines():
        value, _, rest = line.partition(",")
        fields = rest.split(",")
        # "<not supported>" and "<not counted>" are no numbers.
        if re.fullmatch(r"\d+(\.\d+)?", value) and len(fields) > 1:
            counts[fields[1].partition(":")[0]] = float(value)
    return counts


def countable() -> list[str]:
    """Those of COUNTERS that count here; many virtual machines have none.

    Where there is none at all, newer releases of perf end with an error, which is why
    the pass itself must not ask for them.
    """
    probe = ("stat", "-x,", "-e", ",".join(COUNTERS), "true")
    counts = counted(perf(*probe, timeout_s=PERF_PROBE_LIMIT_S).stderr)
    return [name for name in COUNTERS if counts.get(name)]


def run_facts(output: Path) -> dict[str, Any]:
    """What the workload's `run` left in run.json; empty if it left none."""
    try:
        facts = json.loads((output / run_record.FILE).read_text())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def repeated_case(case: Case, timed: Path) -> dict[str, Any]:
    """The case for the same work as in its timed pass, without warm-up.

    A workload that scales its work names in run.json's `repeat_with` the parameters
    that fix it, so that no probe runs while the profiler looks.
    """
    fixed = run_facts(timed).get(run_record.REPEAT_WITH, {})
    fixed = fixed if isinstance(fixed, dict) else {}
    parameters = {**case["parameters"], **fixed}
    guest = {"guest_profile_hz": case["profile_hz"]} if case.get("profile_guest") else {}
    return {**case, "parameters": parameters, "warmup": 0, "profiled": True, **guest}


def nmi_counts() -> list[int]:
    """NMIs that each processor has had since it started."""
    for line in Path("/proc/interrupts").read_text().splitlines():
        name, _, counts = line.strip().partition(":")
        if name == "NMI":
            return [int(word) for word in counts.split() if word.isdecimal()]
    return []


def nmi_command(source: str) -> list[str]:
    """What runs a command under NMIs; rate and notes follow, then the command."""
    if source == OWN_NMIS:
        return [sys.executable, "-B", str(Path(__file__).resolve().parent / "_hpet.py")]
    host, _, port = source.rpartition(":")
    return ["bash", "-c", UNDER_NMIS, "nmis", host, port]


def record_by_nmi(
    case: Mapping[str, Any], workloads: Path, output: Path, said: Profile, names: list[str],
    source: str,
) -> None:  # fmt: skip
    """As `record`, sampled by the emulator's NMIs; says how many nanoseconds one stands for."""
    notes = output / "nmis.txt"
    before = nmi_counts()
    under = [*nmi_command(source), str(said["hz"]), str(notes)]
    try:
        record(case, workloads, output, said, names, under)
    except ProfileError:
        noted = notes.read_text().strip() if notes.exists() else ""
        if noted.startswith("no NMIs"):
            raise ProfileError(noted) from None
        raise
    came = max((b - a for a, b in zip(before, nmi_counts())), default=0)
    if not came:
        raise ProfileError(f"{source} promised NMIs, and none came")
    began, ended = map(float, notes.read_text().split())
    said["period_ns"] = round((ended - began) * 1e9 / came)


def record(
    case: Mapping[str, Any], workloads: Path, output: Path, said: Profile, names: list[str],
    under: Sequence[str] = (),
) -> None:  # fmt: skip
    """Run the case once under `perf record`, counting `names`; ProfileError if it did not work."""
    counters = output / "counters.csv"
    # The inner perf counts from the start of the workload to its end.
    counting = ["perf", "stat", "-a", "-x,", "-e", ",".join(names), "-o", str(counters), "--"]
    paced = ["-c", "1"] if said["event"] == NMI_EVENT else ["-F", str(said["hz"])]
    # No build-id cache: it would copy every program seen into root's home.
    recorder = ["perf", "record", "-a", "-g", *paced, "-e", said["event"], "--clockid", "mono",
                "--no-buildid-cache", "-o", str(output / "perf.data"), "--"]  # fmt: skip
    run = workload_command(case, workloads, output)
    command = [*recorder, *under, *(counting if names else []), *run]
    began = time.monotonic()
    code = run_logged(command, output, case["timeout_s"])
    said["seconds"] = round(time.monotonic() - began, 3)
    if code:
        tail = (output / "stderr.txt").read_bytes()[-600:].decode(errors="replace").strip()
        raise ProfileError(f"the profiled pass ended with {code}: {tail}")
    said["counters"] = counted(counters.read_text(errors="replace")) if names else {}


def limit_file_size() -> None:
    """For the packer: it is killed where the capture grows past its limit."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (CAPTURE_BYTES, CAPTURE_BYTES))


def packer() -> str:
    """The compressor to use; zstd is several times faster."""
    found = next((name for name in PACKERS if shutil.which(name)), None)
    if found is None:
        raise ProfileError("neither zstd nor gzip is installed on the host: apt install zstd")
    return found


def window(output: Path) -> list[str]:
    """perf's option for the time of the iterations, where the workload tells it.

    `measured` is [began, ended], or a list of such pairs.
    """
    spans = []
    for pair in run_record.windows(run_facts(output).get(run_record.MEASURED)):
        if not isinstance(pair, list) or not _is_span(pair):
            return []
        began, ended = pair
        spans.append(f"{began:.9f},{ended:.9f}")
    return ["--time", " ".join(spans)]


def _is_span(pair: list[Any]) -> bool:
    """Whether it is [began, ended], both in seconds."""
    is_pair = len(pair) == 2 and all(isinstance(each, (int, float)) for each in pair)
    return is_pair and 0 <= pair[0] < pair[1]


def write_script(output: Path) -> Path:
    """The recording as compressed text, at most CAPTURE_BYTES of it.

    Written where the symbols are: on the host, while the recorded kernel still runs.
    """
    return packed_script(output, ["-F", SCRIPT_FIELDS, *window(output)])


def packed_script(output: Path, options: Sequence[str], through: Sequence[str] = ()) -> Path:
    """What perf script prints with *options*, passed *through* a program, compressed."""
    program = packer()
    path = output / f"{wire.TEXT}.{SUFFIXES[program]}"
    commands = [["perf", "script", "-i", str(output / "perf.data"), *options]]
    commands += [list(through)] if through else []
    with path.open("wb") as file, (output / "script-stderr.txt").open("wb") as err:
        running: list[subprocess.Popen[bytes]] = []
        source: Any = subprocess.DEVNULL
        for command in commands:
            process = subprocess.Popen(
                command, stdin=source, stdout=subprocess.PIPE, stderr=err,
                start_new_session=True, env=c_locale(),
            )  # fmt: skip
            if running:
                source.close()  # or the one before would not learn that its reader is gone
            running.append(process)
            source = process.stdout
        packing = subprocess.Popen(
            [program, *PACKERS[program]], stdin=source, stdout=file, stderr=subprocess.DEVNULL,
            start_new_session=True, preexec_fn=limit_file_size,  # noqa: PLW1509 (no threads here)
        )  # fmt: skip
        source.close()
        try:
            packed = packing.wait(PERF_SCRIPT_LIMIT_S)
            codes = [process.wait(TERM_GRACE_S) for process in running]
        except subprocess.TimeoutExpired:
            raise ProfileError(f"perf script: no end within {PERF_SCRIPT_LIMIT_S} s") from None
        finally:
            for process in (*running, packing):
                end_group(process)
    if packed and path.stat().st_size >= CAPTURE_BYTES:
        raise ProfileError(
            f"the capture was left out: over {CAPTURE_BYTES} bytes compressed; "
            "profile with a lower hz, or a shorter iteration"
        )
    if packed or any(codes):
        tail = (output / "script-stderr.txt").read_bytes()[-600:].decode(errors="replace").strip()
        raise ProfileError(f"perf script ended with {codes[0]}, {program} with {packed}: {tail}")
    return path


def keep_instructions(capture: Path, event: str) -> None:
    """The code of the hottest functions beside the capture, while the recorded kernel runs."""
    program = next(name for name, suffix in SUFFIXES.items() if capture.suffix == f".{suffix}")
    _instructions.keep(capture, [program, "-q", "-dc"], by_nmi=event == NMI_EVENT)


def perf_stats(output: Path) -> str:
    """What `perf report --stats` says of the recording."""
    data = str(output / "perf.data")
    done = perf("report", "--stats", "-i", data, timeout_s=PERF_STATS_LIMIT_S)
    if done.returncode:
        raise ProfileError(
            f"perf report ended with {done.returncode}: {done.stderr[-600:].strip()}"
        )
    return done.stdout


def lost_samples(stats: str, event: str) -> int:
    """Samples that the kernel had to drop, as far as this perf tells.

    Newer releases count them by event; others tell only how many records say that
    something was dropped, each at least one sample.
    """
    of_event = re.search(rf"^{event}\S* stats:\n((?: .*\n)*)", stats, re.MULTILINE)
    for text, name in ((of_event.group(1) if of_event else "", "LOST_SAMPLES"),
                       (stats, "LOST")):  # fmt: skip
        found = re.search(rf"\b{name} events: +(\d+)", text)
        if found:
            return int(found.group(1))
    return 0  # perf leaves out what did not happen


def profile_case(case: Case, workloads: Path, timed: Path, nmi_source: str) -> None:
    """The case's profiled pass in `timed`/profile, profile.json saying how it went."""
    output = timed / wire.DIRECTORY
    said = Profile(state=wire.FAILED, detail="", hz=case["profile_hz"] or 0)
    try:
        output.mkdir()
        said["perf"] = perf_version()
        names = countable()
        repeated = repeated_case(case, timed)
        if nmi_source and "cycles" not in names:
            said["event"] = NMI_EVENT
            record_by_nmi(repeated, workloads, output, said, names, nmi_source)
        else:
            said["event"] = "cycles" if "cycles" in names else "cpu-clock"
            record(repeated, workloads, output, said, names)
        said["lost"] = lost_samples(perf_stats(output), said["event"])
        capture = write_script(output)
        keep_instructions(capture, said["event"])
        keep_capture(said, capture)
    except ProfileError as error:
        said["detail"] = str(error)
    except (OSError, subprocess.SubprocessError) as error:
        said["detail"] = f"profiling: {error}"
    leave_small(output, said)
    if case.get("profile_guest"):
        describe_guest(output, said["hz"])


def describe_guest(output: Path, hz: int) -> None:
    """profile.json of what the workload took from its guest into `output`/guest."""
    directory = output / wire.GUEST
    said = Profile(state=wire.FAILED, detail="", hz=hz)
    try:
        directory.mkdir(exist_ok=True)
        why = directory / "failed.txt"
        if why.exists():
            raise ProfileError(why.read_text(errors="replace")[:LONGEST_DETAIL])
        read_guest_facts(directory, said)
        capture = directory / f"{wire.TEXT}.{SUFFIXES['gzip']}"
        size = capture.stat().st_size
        if size > CAPTURE_BYTES:
            capture.unlink()
            raise ProfileError(f"the guest's capture was left out: {size} bytes compressed")
        keep_capture(said, capture)
    except ProfileError as error:
        said["detail"] = str(error)
    except OSError as error:
        said["detail"] = f"the guest's profile: {error}"
    if directory.is_dir():
        write_json(directory / wire.FILE, said)


def read_guest_facts(directory: Path, said: Profile) -> None:
    """Say event, perf's version, seconds and lost samples of a guest's recording."""
    try:
        facts = json.loads((directory / "facts.json").read_text())
        event = str(facts["event"])
        stats = (directory / "stats.txt").read_text(errors="replace")
        said["event"], said["perf"] = event, str(facts["perf"])
        said["seconds"], said["lost"] = float(facts["seconds"]), lost_samples(stats, event)
    except FileNotFoundError as error:
        name = Path(str(error.filename)).name
        raise ProfileError(f"the workload left no {name} of its guest") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ProfileError(f"the guest's facts.json: {error!r}") from None


def keep_capture(said: Profile, capture: Path) -> None:
    """Say that the pass went well, and which file holds it."""
    said["state"], said["capture"] = wire.OK, capture.name
    said["capture_bytes"] = capture.stat().st_size


def leave_small(output: Path, said: Profile) -> None:
    """Remove the recording itself, and what is no capture; then write profile.json."""
    (output / "perf.data").unlink(missing_ok=True)
    (output / "perf.data.old").unlink(missing_ok=True)
    for path in output.glob(f"{wire.TEXT}.*"):
        if path.name != said.get("capture"):
            path.unlink()
    write_json(output / wire.FILE, said)
