"""The program that times events, on a host of the inventory: one play for all of its processes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pydantic import ValidationError

from mitigauge.analysis.prices.aftermath import EVENTS, Followed, followed
from mitigauge.analysis.prices.probe import FEWEST, ListedEvent, ProbeRun
from mitigauge.core.hostile_text import quoted
from pipelines.adapters.ansible_host import AnsibleHost
from pipelines.adapters.price_probe import OVERHEAD_S, Probe
from pipelines.host_control import LabFault

# Beyond the time that all processes sample: their starts on a slow host, and the play's own tasks.
MARGIN_S = 120.0
SLOWEST_START_S = 0.5
FAILED = "!"


@dataclass(frozen=True, slots=True)
class _Planned:
    """One process."""

    event: str
    behind: Followed | None = None


@dataclass(frozen=True, slots=True)
class HostTimes:
    """What the processes of a host said, as of this machine; and what its processor says."""

    listed: Sequence[ListedEvent]
    runs: dict[str, list[ProbeRun]]
    behind: dict[str, dict[Followed, list[float]]]
    cpuinfo: str
    caches: str
    kernel: str


def time_on_host(
    probe: Probe, host: AnsibleHost, *, seconds: float, processes: int, seed: int
) -> HostTimes:
    """Every event in *processes* processes on *host*, and aftermaths, within some *seconds*.

    Raises :class:`LabFault` where the host does not answer, or answers what is no figure.
    """
    listed = probe.listed()
    chance = Random(seed)
    plan = [_Planned(each.event) for each in listed for _ in range(processes)]
    plan += [_Planned(event, set_) for event in EVENTS for set_ in followed()
             for _ in range(FEWEST)]  # fmt: skip
    chance.shuffle(plan)
    each_s = max(0.02, seconds / len(plan) - OVERHEAD_S)
    words = [
        [of.event, f"{each_s:.3f}", str(chance.getrandbits(31)), str(chance.getrandbits(16)),
         *map(str, of.behind or ())]
        for of in plan
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "plan.json"
        file.write_text(json.dumps(words))
        limit_s = seconds + len(plan) * SLOWEST_START_S + MARGIN_S
        said = host.time_prices(probe.file, file, timeout_s=limit_s)
    if len(said["lines"]) != len(plan):
        raise LabFault(f"the host ran {len(said['lines'])} of {len(plan)} processes")
    found = HostTimes(listed, {}, {}, said["cpuinfo"], said["caches"], said["kernel"])
    for of, line in zip(plan, said["lines"], strict=True):
        _take(found, of, _run_of(of, line))
    return found


def _take(found: HostTimes, of: _Planned, run: ProbeRun) -> None:
    if of.behind is None:
        found.runs.setdefault(of.event, []).append(run)
    elif not run.refused:
        sets = found.behind.setdefault(of.event, {})
        sets.setdefault(of.behind, []).append(run.difference * run.times)


def _run_of(of: _Planned, line: str) -> ProbeRun:
    if line.startswith(FAILED):
        raise LabFault(
            f"the program failed on the host for {of.event}: {quoted(line[1:].strip(), 200)}",
            hint="It is compiled here: the host needs a processor of the same kind.",
        )
    try:
        run = ProbeRun.model_validate_json(line)
    except ValidationError:
        raise LabFault(
            f"the host said of {of.event} what is no figure: {quoted(line, 200)}"
        ) from None
    if run.event != of.event:
        raise LabFault(f"the host said {quoted(run.event)} of {of.event}")
    return run
