"""The bill: how often an operation does what costs on real processors. Pure.

Counted, not priced: an emulated barrier costs an instruction like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from mitigauge.analysis.profiles.exact.operation import FunctionRuns, LineRuns, Operation
from mitigauge.measurement.modes.families import Finding, HardwareEvent

# How far before an instruction the one may stand that tells what it is about: the number of a
# register is loaded, then its two halves.
NEAR = 8


@dataclass(frozen=True, slots=True)
class Entry:
    """How often an operation does one thing."""

    event: str
    title: str
    times: float
    """An operation, the mean of all boots and windows."""
    steady: int | None
    """The same whole number each time; None where it differs."""


def bill_of(operation: Operation, events: Mapping[str, HardwareEvent]) -> dict[str, Entry]:
    """The entries of all events that code can show, by their names; those of none are 0."""
    kernel = [function for function in operation.functions.values() if function.is_kernel]
    return {
        name: _entry(event, list(_runs(event.found, kernel)))
        for name, event in events.items()
        if event.found
    }


def _entry(event: HardwareEvent, runs: Sequence[tuple[float, int | None]]) -> Entry:
    wholes = [whole for _, whole in runs if whole is not None]
    return Entry(
        event=event.event,
        title=event.title,
        times=sum(each for each, _ in runs),
        steady=sum(wholes) if len(wholes) == len(runs) else None,
    )


def _runs(
    found: Iterable[Finding], functions: Sequence[FunctionRuns]
) -> Iterator[tuple[float, int | None]]:
    """Mean and steady runs of each place where the event happens."""
    for finding in found:
        for function in functions:
            if finding.instruction is not None:
                yield from _of_lines(_matching(finding, function.lines))
            elif _is_one_of(function.name, finding.entry):
                yield from _of_lines(line for line in function.lines if line.line.place == 0)
            elif _is_one_of(function.name, finding.branches_in):
                yield from _of_branches(function.lines)


def _is_one_of(name: str, wanted: Iterable[str]) -> bool:
    return any(fnmatchcase(name, each) for each in wanted)


def _of_lines(lines: Iterable[LineRuns]) -> Iterator[tuple[float, int | None]]:
    for line in lines:
        if line.mean:
            yield line.mean, line.steady


def _matching(finding: Finding, lines: Sequence[LineRuns]) -> Iterator[LineRuns]:
    assert finding.instruction is not None
    instruction = re.compile(finding.instruction)
    after = re.compile(finding.after) if finding.after else None
    for place, line in enumerate(lines):
        if not instruction.search(line.line.code):
            continue
        before = lines[max(0, place - NEAR) : place]
        if after is None or any(after.search(each.line.code) for each in before):
            yield line


def _of_branches(lines: Iterable[LineRuns]) -> Iterator[tuple[float, int | None]]:
    """Branches that were taken; calls and returns are none."""
    for line in lines:
        if line.line.text.startswith(("j", "loop")) and line.taken:
            yield line.taken, line.taken_steady
