"""The process beside a case: reads its sources once a second until it is told to end.

`sampling.py DIRECTORY SECONDS NAME…` says `ready` before it begins, ends at SIGTERM, and leaves in
DIRECTORY a file for each source: a line of JSON with the columns, then a line of whole numbers for
each sample, the nanoseconds of the monotonic clock first. `collected.json` says what the host has
not, and what the collecting itself cost. Standard library only.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _kit.collectors import SOURCES, Absent, Row, Source, allowed
from _kit.wire.collectors import (
    MOST_COLUMNS,
    MOST_SAMPLES,
    SUMMARY_FILE,
    Head,
    Summary,
    file_of,
)

TOLD = {signal.SIGTERM}
Sample = tuple[int, dict[str, Row]]


def opened(names: list[str]) -> tuple[dict[str, Source], dict[str, str]]:
    """The sources by name; and why others are absent."""
    sources: dict[str, Source] = {}
    absent: dict[str, str] = {}
    for name in names:
        try:
            sources[name] = SOURCES[name]()
            sources[name].read()
        except KeyError:
            absent[name] = "no such collector"
        except (Absent, OSError, ValueError, IndexError) as error:
            absent[name] = str(error)
            if name in sources:
                sources.pop(name).close()
    return sources, absent


def move_aside() -> None:
    """Run where the job does not, or on the processor that it measures on last."""
    spare = set(range(os.cpu_count() or 1)) - allowed()
    try:
        os.sched_setaffinity(0, spare or {min(allowed())})
    except OSError:
        # Some of them are not up; the kernel may choose.
        return


def sample(sources: dict[str, Source]) -> Sample:
    """All sources as they are now; one that cannot be read this time is left out."""
    now, rows = time.monotonic_ns(), {}
    for name, source in sources.items():
        try:
            rows[name] = source.read()
        except (OSError, ValueError, IndexError):
            continue
    return now, rows


def samples_until_told(sources: dict[str, Source], every_s: float) -> list[Sample]:
    """A sample each `every_s` seconds until SIGTERM, and one at its end."""
    os.write(1, b"ready\n")
    taken = [sample(sources)]
    due = time.monotonic() + every_s
    while signal.sigtimedwait(TOLD, max(0.0, due - time.monotonic())) is None:
        taken.append(sample(sources))
        if len(taken) >= MOST_SAMPLES:
            taken = taken[::2]
            every_s *= 2
        due = max(due + every_s, time.monotonic())
    taken.append(sample(sources))
    return taken


def write(directory: Path, name: str, source: Source, taken: list[Sample]) -> None:
    """One source's file."""
    rows = [(now, found[name]) for now, found in taken if name in found]
    # By how large they became: what a host has more of than fits is what hardly happened.
    last: Row = {}
    for _, row in rows:
        last |= row
    columns = sorted(sorted(last, key=lambda column: -last[column])[:MOST_COLUMNS])
    head = Head(collector=name, columns=[(column, source.kind(column)) for column in columns])
    lines = [json.dumps(head)]
    lines += [" ".join(map(str, (now, *(row.get(c, 0) for c in columns)))) for now, row in rows]
    (directory / file_of(name)).write_text("\n".join(lines) + "\n")


def main(directory: str, seconds: str, *names: str) -> int:
    """Collect until SIGTERM; see the module."""
    # Whenever it comes, what was collected until then is written.
    signal.pthread_sigmask(signal.SIG_BLOCK, TOLD)
    allowed()
    sources, absent = opened(list(names))
    move_aside()
    # What is here lives as long as this process does, and a collection would be a late sample.
    gc.freeze()
    gc.disable()
    spent, began = time.process_time_ns(), time.monotonic_ns()
    taken = samples_until_told(sources, float(seconds))
    lasted, spent = time.monotonic_ns() - began, time.process_time_ns() - spent
    for name, source in sources.items():
        source.close()
        write(Path(directory), name, source, taken)
    summary = Summary(
        absent=absent, processors=os.cpu_count() or 1, spent_ns=spent, lasted_ns=lasted,
        samples=len(taken),
    )  # fmt: skip
    (Path(directory) / SUMMARY_FILE).write_text(json.dumps(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
