"""A case in a guest: tried again in a fresh one where a guest was at fault."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _kit import contract
from _kit.guest import VCPUS, LabFault
from _kit.wire import result
from _kit.wire.case import BY_ARM
from _kit.wire.job import EX_TEMPFAIL

ATTEMPTS = 3


def processors(parameters: dict[str, Any], asked: dict[str, str]) -> int:
    """How many the guest gets: of case and arm, the one that says so."""
    if (parameters["vcpus"] == BY_ARM) != (VCPUS in asked):
        raise contract.CaseError(
            f"parameter vcpus is {parameters['vcpus']!r}: it is {BY_ARM!r} where the arm sets "
            "guest_vcpus, and only there"
        )
    return int(asked.get(VCPUS, parameters["vcpus"]))


def test_names(case: dict[str, Any]) -> list[str]:
    """Names of the raw files, in the order in which the tests run."""
    return [f"warmup-{number:02}" for number in range(1, case["warmup"] + 1)] + [
        f"iteration-{number:02}" for number in range(1, case["iterations"] + 1)
    ]


def set_aside(output: Path, attempt: int) -> None:
    """Keep what a failed attempt measured, out of the way of the next."""
    kept = output / f"attempt-{attempt}"
    kept.mkdir()
    for pattern in ("warmup-*", "iteration-*", f"serial-{attempt}.log", f"qemu-{attempt}.log",
                    f"session-{attempt}.*", f"pass-{attempt}-*"):  # fmt: skip
        for path in output.glob(pattern):
            path.rename(kept / path.name)


def tools_of(manifest: dict[str, Any]) -> dict[str, str]:
    """What measures, and what is measured on; an image tells its kernel once it is up."""
    tools = {"qemu": manifest["qemu"], "guest_cpu": manifest["cpu"]}
    if "disk" in manifest:
        return {**tools, "guest_image_sha256": manifest["disk"]["sha256"]}
    return {
        **tools, "guest_kernel": manifest["kernel_release"],
        "guest_initrd_sha256": manifest.get("addition", manifest)["initrd_sha256"],
    }  # fmt: skip


def run_attempts(
    attempt: Callable[[int], None],
    output: Path,
    record: dict[str, Any],
    *,
    own_faults: tuple[str, ...] = (),
) -> int:
    """Exit status after at most ATTEMPTS of `attempt`; its faults go into `record`.

    What a failed one left is moved to attempt-N/. `own_faults` are kinds that, where the last
    attempt ends with one, are a failure of what is measured, not of the guest.
    """
    kind = ""
    for number in range(1, ATTEMPTS + 1):
        try:
            attempt(number)
        except LabFault as fault:
            kind = fault.kind
            told = result.LabFault(kind=kind, attempt=number, detail=str(fault))
            record["lab_faults"].append(told)
            print(f"attempt {number}: {kind}: {fault}", file=sys.stderr)
            set_aside(output, number)
        else:
            return 0
    return 1 if kind in own_faults else EX_TEMPFAIL
