"""Turn what `run` left in a case's directory into the one result schema.

Every figure stands there twice, in ways that must agree. Standard library only.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import c_source
from _kit import parsing, results
from _kit.parsing import ParseError, whole
from _kit.wire.result import Direction

MOST_PROCESSORS = 1 << 16
# The kernel may count a tick for a task that had only a part of it, on each processor.
TICK_US = 10_000
BOUNDS = {"jobs": (0, 4096), "units": (1, 4096), "functions": (1, 500), "seed": (0, 0xFFFFFFFF)}


@dataclass(frozen=True)
class Case:
    """What every iteration must agree with."""

    units: int
    jobs: int
    processors: int


@dataclass(frozen=True)
class Build:
    """One compile of everything; times of processors are summed over them."""

    began_ns: int
    ended_ns: int
    wall_s: float
    user_s: float
    system_s: float
    objects: str


def read_case(directory: Path) -> tuple[dict[str, Any], dict[str, Any], Case]:
    """case.json, run.json and what both say; the source must be that of the parameters."""
    case = parsing.checked_case(directory, jobs=int, units=int, functions=int, seed=int)
    asked = {
        name: whole(case, parsing.CASE, f"parameters.{name}", *bounds)
        for name, bounds in BOUNDS.items()
    }
    if asked["units"] * asked["functions"] > c_source.MOST_FUNCTIONS:
        raise ParseError(
            f"{parsing.CASE}: parameters: more than {c_source.MOST_FUNCTIONS} functions"
        )
    record = parsing.read_object(directory / parsing.RUN_RECORD)
    processors = whole(record, parsing.RUN_RECORD, "processors", 1, MOST_PROCESSORS)
    jobs = whole(record, parsing.RUN_RECORD, "jobs", 1, MOST_PROCESSORS)
    if jobs != (asked["jobs"] or processors):
        raise ParseError(
            f"{parsing.RUN_RECORD}: jobs: {jobs}, but the case asked {asked['jobs']} "
            f"on {processors} processors"
        )
    source = parsing.field(record, parsing.RUN_RECORD, "source_sha256", str)
    if source != c_source.digest(asked["seed"], asked["units"], asked["functions"]):
        raise ParseError(
            f"{parsing.RUN_RECORD}: source_sha256: not the source that these parameters give"
        )
    return case, record, Case(asked["units"], jobs, processors)


def read_build(path: Path, case: Case) -> Build:
    """One warm-up or iteration; ParseError where it contradicts itself or the case."""
    told = parsing.read_object(path)
    for name, wanted in (("units", case.units), ("jobs", case.jobs)):
        if (got := whole(told, path.name, name, 1)) != wanted:
            raise ParseError(f"{path.name}: {name}: {got}, but the case asked {wanted}")
    began, ended = (whole(told, path.name, name, 0) for name in ("began_ns", "ended_ns"))
    wall_ns = whole(told, path.name, "wall_ns", 1)
    if ended - began != wall_ns:
        raise ParseError(f"{path.name}: wall_ns: {wall_ns} is not the time from began to ended")
    # A compile of no time in user space is none. One of none in the kernel was too short: how a
    # process's time is split is sampled by ticks.
    user_us = whole(told, path.name, "user_us", 1)
    system_us = whole(told, path.name, "system_us", 1)
    used_us = whole(told, path.name, "processor_us", 1)
    if user_us + system_us != used_us:
        raise ParseError(f"{path.name}: processor_us: {used_us} is not the sum of user and system")
    if used_us > (wall_ns / 1000 + TICK_US) * case.processors:
        raise ParseError(
            f"{path.name}: processor_us: {used_us} is more than {case.processors} processors "
            f"have in {wall_ns} ns"
        )
    objects: str = parsing.field(told, path.name, "objects_sha256", str)
    if not re.fullmatch(r"[0-9a-f]{64}", objects):
        raise ParseError(f"{path.name}: objects_sha256: {objects!r:.80} is no SHA-256")
    return Build(began, ended, wall_ns / 1e9, user_us / 1e6, system_us / 1e6, objects)


def read_builds(directory: Path, kind: str, count: int, case: Case) -> dict[str, Build]:
    """File name → build of all warm-ups or all iterations, in order."""
    names = [f"{kind}-{number:02}.json" for number in range(1, count + 1)]
    return {name: read_build(directory / name, case) for name in names}


def refuse_disagreement(builds: dict[str, Build]) -> None:
    """The same source and tools give the same objects, one compile after the other."""
    before: Build | None = None
    for name, build in builds.items():
        if before and build.objects != before.objects:
            raise ParseError(f"{name}: objects_sha256: other objects than the compile before")
        if before and build.began_ns < before.ended_ns:
            raise ParseError(f"{name}: began_ns: before the compile before it ended")
        before = build


def parse(directory: Path) -> dict[str, Any]:
    """Result of the case in `directory`; ParseError if a file is not as promised."""
    case, record, known = read_case(directory)
    warmup = read_builds(directory, "warmup", case["warmup"], known)
    builds = read_builds(directory, "iteration", case["iterations"], known)
    refuse_disagreement(warmup | builds)

    def metric(unit: str, direction: Direction, value: str) -> dict[str, Any]:
        return results.metric(
            unit, direction,
            [getattr(build, value) for build in warmup.values()],
            [getattr(build, value) for build in builds.values()],
        )  # fmt: skip

    metrics = {
        "wall": metric("s", "lower", "wall_s"),
        "user": metric("s", "lower", "user_s"),
        "system": metric("s", "lower", "system_s"),
        "throughput": results.metric(
            "units/s", "higher",
            [known.units / build.wall_s for build in warmup.values()],
            [known.units / build.wall_s for build in builds.values()],
        ),
    }  # fmt: skip
    operations = known.units * case["iterations"]
    return results.result("compile", case, record, metrics, operations=operations)


if __name__ == "__main__":
    sys.exit(parsing.main(parse, sys.argv[1:]))
