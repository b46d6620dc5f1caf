#!/usr/bin/python3
"""Runs a job's cases on the host, one after the other: `_runner JOB_DIR`.

Started detached by systemd, so that a lost connection costs nothing. It keeps
`state.json` whole at all times (written aside, then renamed); each case's raw
files lie in JOB_DIR/<case_id>/. A failed case does not stop those after it.

Cases with `profile_hz` run once more under `perf record`, after every timed pass of
the job: a profiler never runs beside a figure that counts. What the profiled pass
leaves lies in JOB_DIR/<case_id>/profile/, profile.json says how it went, and
whatever happens there changes nothing of the timed pass.
Standard library only; writes nothing to the console.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

EX_TEMPFAIL = 75
# What a shell's `timeout` answers with.
TIMED_OUT = 124
# From SIGTERM to SIGKILL: a workload may have a guest to stop.
TERM_GRACE_S = 5
OUTCOMES = {0: "ok", EX_TEMPFAIL: "lab_fault", TIMED_OUT: "timeout"}

# Sums up, with TERM_GRACE_S each, to less than workload_job.py's PROFILE_MARGIN_S.
PERF_PROBE_LIMIT_S = 30
PERF_STATS_LIMIT_S = 60
PERF_SCRIPT_LIMIT_S = 240
CAPTURE_LIMIT_BYTES = 32 << 20
# The period weighs a sample; without it every sample would count 1.
SCRIPT_FIELDS = "comm,pid,tid,cpu,time,period,event,ip,sym,dso"
# Comes once for every NMI on every processor, out of whatever it interrupted.
NMI_EVENT = "nmi:nmi_handler"
NMI_SOURCE_LIMIT_S = 20
COUNTERS = ("cycles", "instructions", "branches", "branch-misses")
PACKERS = {"zstd": ("zst", ["-q", "-c"]), "gzip": ("gz", ["-c"])}


class ProfileError(Exception):
    """There is no profile of this case; the text says why."""


def now() -> str:
    """The time as RFC 3339, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Replace `path` as a whole; it is on disk when this returns."""
    part = path.with_name(f".{path.name}.part")
    with part.open("w") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End everything the case started: politely, then for certain."""
    for name in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, name)
        except ProcessLookupError:
            break
        try:
            process.wait(TERM_GRACE_S)
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def c_locale() -> dict[str, str]:
    """Our environment, in which programs spell figures alike everywhere."""
    return {**os.environ, "LC_ALL": "C"}


def run_logged(command: Sequence[str], output: Path, timeout_s: float) -> int:
    """Exit code of the command, TIMED_OUT past its time; what it says is kept in `output`."""
    with (output / "stdout.txt").open("wb") as out, (output / "stderr.txt").open("wb") as err:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True, env=c_locale(),
            )  # fmt: skip
        except OSError as error:
            err.write(f"{command[0]}: {error}\n".encode())
            return 127
        try:
            return process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            err.write(f"\nkilled: no end within {timeout_s} s\n".encode())
            return TIMED_OUT
        finally:
            # Also after an orderly end: nothing of a case may run into the next one.
            end_group(process)


def workload_command(case: dict[str, Any], workloads: Path, output: Path) -> list[str]:
    """The workload's `run` over the case, which is written into `output`."""
    path = output / "case.json"
    write_json(path, case)
    return [str(workloads / case["workload"] / "run"), str(path), str(output)]


def run_case(case: dict[str, Any], workloads: Path, output: Path) -> int:
    """Exit code of the case's workload, TIMED_OUT past its `timeout_s`."""
    output.mkdir()
    return run_logged(workload_command(case, workloads, output), output, case["timeout_s"])


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
    found = re.search(r"\d+\.\d+[\w.~+-]*", said)
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
        facts = json.loads((output / "run.json").read_text())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def repeated_case(case: dict[str, Any], timed: Path) -> dict[str, Any]:
    """The case for the same work as in its timed pass, without warm-up.

    A workload that scales its work names in run.json's `repeat_with` the parameters
    that fix it, so that no probe runs while the profiler looks.
    """
    fixed = run_facts(timed).get("repeat_with", {})
    fixed = fixed if isinstance(fixed, dict) else {}
    parameters = {**case["parameters"], **fixed}
    return {**case, "parameters": parameters, "warmup": 0}


def nmi_counts() -> list[int]:
    """NMIs that each processor has had since it started."""
    for line in Path("/proc/interrupts").read_text().splitlines():
        name, _, counts = line.strip().partition(":")
        if name == "NMI":
            return [int(word) for word in counts.split() if word.isdecimal()]
    return []


@contextmanager
def nmis(address: str, hz: int) -> Iterator[None]:
    """NMIs from the machine's emulator at a mean of `hz`; ProfileError if none come."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), NMI_SOURCE_LIMIT_S) as line:
            line.sendall(b"%d\n" % hz)
            said = line.makefile().readline(200).strip()
            if said != "ok":
                raise ProfileError(f"no NMIs from {address}: {said or 'it closed the connection'}")
            yield
    except (OSError, ValueError) as error:
        raise ProfileError(f"no NMIs from {address}: {error}") from None


def record_by_nmi(
    case: dict[str, Any], workloads: Path, output: Path, said: dict[str, Any], names: list[str],
    source: str,
) -> None:  # fmt: skip
    """As `record`, sampled by the emulator's NMIs; says how many nanoseconds one stands for."""
    with nmis(source, said["hz"]):
        before, began = nmi_counts(), time.monotonic()
        record(case, workloads, output, said, names)
        seconds = time.monotonic() - began
        came = max((b - a for a, b in zip(before, nmi_counts(), strict=False)), default=0)
    if not came:
        raise ProfileError(f"{source} promised NMIs, and none came")
    said["period_ns"] = round(seconds * 1e9 / came)


def record(
    case: dict[str, Any], workloads: Path, output: Path, said: dict[str, Any], names: list[str]
) -> None:
    """Run the case once under `perf record`, counting `names`; ProfileError if it did not work."""
    counters = output / "counters.csv"
    # The inner perf counts from the start of the workload to its end.
    counting = ["perf", "stat", "-a", "-x,", "-e", ",".join(names), "-o", str(counters), "--"]
    paced = ["-c", "1"] if said["event"] == NMI_EVENT else ["-F", str(said["hz"])]
    # No build-id cache: it would copy every program seen into root's home.
    recorder = ["perf", "record", "-a", "-g", *paced, "-e", said["event"], "--clockid", "mono",
                "--no-buildid-cache", "-o", str(output / "perf.data"), "--"]  # fmt: skip
    run = workload_command(case, workloads, output)
    command = [*recorder, *(counting if names else []), *run]
    began = time.monotonic()
    code = run_logged(command, output, case["timeout_s"])
    said["seconds"] = round(time.monotonic() - began, 3)
    if code:
        tail = (output / "stderr.txt").read_bytes()[-600:].decode(errors="replace").strip()
        raise ProfileError(f"the profiled pass ended with {code}: {tail}")
    said["counters"] = counted(counters.read_text(errors="replace")) if names else {}


def limit_file_size() -> None:
    """For the packer: it is killed where the capture grows past its limit."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (CAPTURE_LIMIT_BYTES, CAPTURE_LIMIT_BYTES))


def packer() -> str:
    """The compressor to use; zstd is several times faster."""
    found = next((name for name in PACKERS if shutil.which(name)), None)
    if found is None:
        raise ProfileError("neither zstd nor gzip is installed on the host: apt install zstd")
    return found


def window(output: Path) -> list[str]:
    """perf's option for the time of the iterations, where the workload tells it."""
    match run_facts(output).get("measured"):
        case [int() | float() as began, int() | float() as ended] if 0 <= began < ended:
            return ["--time", f"{began:.9f},{ended:.9f}"]
    return []


def write_script(output: Path) -> Path:
    """The recording as compressed text, at most CAPTURE_LIMIT_BYTES of it.

    Written where the symbols are: on the host, while the recorded kernel still runs.
    """
    program = packer()
    suffix, options = PACKERS[program]
    path = output / f"perf.script.{suffix}"
    command = ["perf", "script", "-i", str(output / "perf.data"), "-F", SCRIPT_FIELDS,
               *window(output)]  # fmt: skip
    with path.open("wb") as file, (output / "script-stderr.txt").open("wb") as err:
        script = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err,
            start_new_session=True, env=c_locale(),
        )  # fmt: skip
        packing = subprocess.Popen(
            [program, *options], stdin=script.stdout, stdout=file, stderr=subprocess.DEVNULL,
            start_new_session=True, preexec_fn=limit_file_size,  # noqa: PLW1509 (no threads here)
        )  # fmt: skip
        if script.stdout:
            script.stdout.close()  # or perf would not learn that the packer is gone
        try:
            packed = packing.wait(PERF_SCRIPT_LIMIT_S)
            code = script.wait(TERM_GRACE_S)
        except subprocess.TimeoutExpired:
            raise ProfileError(f"perf script: no end within {PERF_SCRIPT_LIMIT_S} s") from None
        finally:
            end_group(script)
            end_group(packing)
    if packed and path.stat().st_size >= CAPTURE_LIMIT_BYTES:
        raise ProfileError(
            f"the capture was left out: over {CAPTURE_LIMIT_BYTES} bytes compressed; "
            "profile with a lower hz, or a shorter iteration"
        )
    if packed or code:
        tail = (output / "script-stderr.txt").read_bytes()[-600:].decode(errors="replace").strip()
        raise ProfileError(f"perf script ended with {code}, {program} with {packed}: {tail}")
    return path


def lost_samples(output: Path, event: str) -> int:
    """Samples that the kernel had to drop, as far as this perf tells.

    Newer releases count them by event; others tell only how many records say that
    something was dropped, each at least one sample.
    """
    data = str(output / "perf.data")
    done = perf("report", "--stats", "-i", data, timeout_s=PERF_STATS_LIMIT_S)
    if done.returncode:
        raise ProfileError(
            f"perf report ended with {done.returncode}: {done.stderr[-600:].strip()}"
        )
    of_event = re.search(rf"^{event}\S* stats:\n((?: +.*\n)*)", done.stdout, re.MULTILINE)
    for text, name in ((of_event.group(1) if of_event else "", "LOST_SAMPLES"),
                       (done.stdout, "LOST")):  # fmt: skip
        found = re.search(rf"\b{name} events: +(\d+)", text)
        if found:
            return int(found.group(1))
    return 0  # perf leaves out what did not happen


def profile_case(case: dict[str, Any], workloads: Path, timed: Path, nmi_source: str) -> None:
    """The case's profiled pass in `timed`/profile, profile.json saying how it went."""
    output = timed / "profile"
    said: dict[str, Any] = {"state": "failed", "detail": "", "hz": case["profile_hz"]}
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
        said["lost"] = lost_samples(output, said["event"])
        capture = write_script(output)
        said |= {"state": "ok", "capture": capture.name, "capture_bytes": capture.stat().st_size}
    except ProfileError as error:
        said["detail"] = str(error)
    except (OSError, subprocess.SubprocessError) as error:
        said["detail"] = f"profiling: {error}"
    leave_small(output, said)


def leave_small(output: Path, said: dict[str, Any]) -> None:
    """Remove the recording itself, and what is no capture; then write profile.json."""
    (output / "perf.data").unlink(missing_ok=True)
    (output / "perf.data.old").unlink(missing_ok=True)
    for path in output.glob("perf.script.*"):
        if path.name != said.get("capture"):
            path.unlink()
    write_json(output / "profile.json", said)


def boot_id() -> str:
    """Identity of the present boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def run_job(directory: Path, workloads: Path) -> None:
    """Run all cases of `directory`/job.json, keeping state.json up to date."""
    job = json.loads((directory / "job.json").read_text())
    state: dict[str, Any] = {
        "state": "running", "job": job["job"], "boot_id": boot_id(), "started_at": now(),
        "current_case": None, "cases": len(job["cases"]), "finished_cases": [], "detail": "",
    }  # fmt: skip
    for case in job["cases"]:
        state["current_case"] = case["case_id"]
        write_json(directory / "state.json", state)
        began = time.monotonic()
        code = run_case(case, workloads, directory / case["case_id"])
        state["finished_cases"].append(
            {
                "case_id": case["case_id"],
                "exit_code": code,
                "outcome": OUTCOMES.get(code, "failed"),
                "seconds": round(time.monotonic() - began, 2),
            }
        )
    run_profiles(directory, workloads, job, state)
    state |= {"state": "finished", "current_case": None, "finished_at": now()}
    write_json(directory / "state.json", state)


def run_profiles(
    directory: Path, workloads: Path, job: dict[str, Any], state: dict[str, Any]
) -> None:
    """The profiled pass of each case that wants one and whose timed pass ended well."""
    well = {case["case_id"] for case in state["finished_cases"] if case["outcome"] == "ok"}
    for case in job["cases"]:
        if case.get("profile_hz") and case["case_id"] in well:
            state |= {"current_case": case["case_id"], "profiling": True}
            write_json(directory / "state.json", state)
            timed = directory / case["case_id"]
            profile_case(case, workloads, timed, job.get("nmi_source", ""))
    state.pop("profiling", None)


if __name__ == "__main__":
    run_job(Path(sys.argv[1]), Path(__file__).resolve().parent)
