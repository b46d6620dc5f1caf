"""A case's workload as a process of its own, ended with everything it started.

Standard library only; staged beside the runner.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from _kit.wire import case as cases
from _kit.wire.job import TIMED_OUT

# From SIGTERM to SIGKILL: a workload may have a guest to stop.
TERM_GRACE_S = 5


def write_json(path: Path, content: Mapping[str, Any]) -> None:
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


def workload_command(case: Mapping[str, Any], workloads: Path, output: Path) -> list[str]:
    """The workload's `run` over the case, which is written into `output`."""
    path = output / cases.FILE
    write_json(path, case)
    return [str(workloads / case["workload"] / "run"), str(path), str(output)]
