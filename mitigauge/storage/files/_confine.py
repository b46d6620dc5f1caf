"""Runs a Python program under limits: `_confine.py MEMORY_BYTES CPU_S PROGRAM ARGUMENT…`.

A program of its own, since limits must be set in the new process and before anything is
read, and a worker with threads may run no code between fork and exec. Standard library only.
"""

from __future__ import annotations

import os
import resource
import runpy
import signal
import sys

# Beyond the processor time: for a program that sleeps when nobody is left to end it.
ORPHAN_S = 60


def main(memory: int, cpu_s: int, program: list[str]) -> None:
    """Set the limits, which nothing can lift again, and become *program*."""
    for kind, limit in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        resource.setrlimit(kind, (limit, limit))
    signal.alarm(cpu_s + ORPHAN_S)
    sys.argv = program
    # What lies beside the program can be imported, and takes no module's place: last, not first.
    sys.path.append(os.path.dirname(os.path.abspath(program[0])))
    runpy.run_path(program[0], run_name="__main__")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
