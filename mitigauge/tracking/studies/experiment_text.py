"""The experiment that boots kernels of a series once each, to be counted. Pure.

It asks one of our own specs for its hosts, mode and cases, and takes of these what can be counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import yaml

from mitigauge.core.errors import InvalidInput
from mitigauge.core.yaml_file import parse_yaml
from mitigauge.measurement.experiments.spec_model import MAX_ARMS, MAX_COMPARISONS
from mitigauge.measurement.workloads.definitions import Workload
from mitigauge.tracking.series.spec import PREFIX
from mitigauge.tracking.studies.schemas import KernelSet

THIS, BASE, BEFORE = f"{PREFIX}this", f"{PREFIX}base", f"{PREFIX}before"


# What is counted comes after the timed passes, which nobody reads here.
ONCE = {"iterations": 1, "warmup": 0}
# Of a pass, where the workload takes a duration: exact counts need few operations.
SHORT_S = 0.05


@dataclass(frozen=True, slots=True)
class Counting:
    """Where, how and of what kernels are counted."""

    environment: str
    hosts: tuple[str, ...]
    mode: str
    workloads: tuple[Mapping[str, Any], ...]


def counting_of(
    text: str,
    name: str,
    counted_hosts: Collection[str],
    workloads: Mapping[str, Workload],
    *,
    against: str = BASE,
) -> Counting:
    """What of the spec *text* can be counted: the comparison with *against* first, else the first.

    *counted_hosts*: those whose time counts instructions. Raises InvalidInput where nothing can.
    """
    data = parse_yaml(text, name).data
    found = [each for each in data.get("comparisons", []) if _kernels(each) >= {THIS}]
    for comparison in sorted(found, key=lambda each: against not in _kernels(each)):
        hosts = tuple(host for host in comparison.get("hosts", []) if host in counted_hosts)
        entries = tuple(
            _counted(entry, known)
            for entry in comparison.get("workloads", [])
            if (known := workloads.get(str(entry.get("workload")))) and known.exact
        )
        if hosts and entries:
            [first, *_] = [arm for arm in comparison["arms"] if arm.get("kernel") == THIS]
            return Counting(
                str(data.get("environment", "")), hosts[:1], str(first["mode"]), entries
            )
    raise InvalidInput(
        f"{name} has nothing that counts exactly",
        hint="A comparison on a host in counted time, of a workload that marks its operations.",
    )


def _counted(entry: Mapping[str, Any], workload: Workload) -> dict[str, Any]:
    """A workload of the spec, to be counted: its cases once, and short."""
    kept = {name: value for name, value in entry.items() if name != "profile"} | ONCE
    duration = workload.parameters.get("seconds")
    if duration is None:
        return kept
    short = {"seconds": max(SHORT_S, duration.minimum or 0.0)}
    cases = entry.get("cases", {})
    listed = [{**short, **case} for case in (cases if isinstance(cases, list) else [cases])]
    return kept | {"cases": listed}


def counting_text(counting: Counting, sets: Sequence[KernelSet], *, name: str) -> str:
    """The experiment: each of *sets* is an arm, as many as go into a comparison in each.

    Raises InvalidInput where there are fewer than two kernels, or too many.
    """
    chunks = list(_chunks(sets))
    if not 1 <= len(chunks) <= MAX_COMPARISONS:
        raise InvalidInput(f"{len(sets)} kernels cannot be compared", hint="Two or more can.")
    whole = {
        "name": name,
        "question": "What does an operation run on each kernel, by exact counts?",
        "environment": counting.environment,
        "blocks": 1,
        "comparisons": [
            {
                "name": f"kernels-{number}",
                "hosts": list(counting.hosts),
                "baseline": chunk[0].name,
                "arms": [
                    {"name": each.name, "mode": counting.mode, "kernel": each.release}
                    for each in chunk
                ],
                # Shared ones would be anchors, which no spec may have.
                "workloads": deepcopy(list(counting.workloads)),
            }
            for number, chunk in enumerate(chunks, 1)
        ],
    }
    return str(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=96))


def _chunks(sets: Sequence[KernelSet]) -> Iterator[Sequence[KernelSet]]:
    """As even as can be, so that none has one kernel alone."""
    if len(sets) < 2:
        return
    count = -(-len(sets) // MAX_ARMS)
    for number in range(count):
        yield sets[number * len(sets) // count : (number + 1) * len(sets) // count]


def _kernels(comparison: Mapping[str, Any]) -> set[str]:
    return {str(arm.get("kernel", "")) for arm in comparison.get("arms", [])}
