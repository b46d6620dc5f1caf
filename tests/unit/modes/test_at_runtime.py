"""Modes whose settings may be written to a running kernel."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.modes.crossing import wanted_by
from mitigauge.measurement.modes.families import Mode, ModeFamily
from mitigauge.measurement.runs.boot_evidence import BootProof
from mitigauge.measurement.runs.proof import Requested, judge_boot
from mitigauge.measurement.runs.states import BootState

PATH = "proc/sys/kernel/sched_schedstats"
ON = Mode.model_validate(
    {"applies": "at-runtime", "settings": {"sysctls": {"kernel.sched_schedstats": "1"}}}
)
PROOF = {
    "boot_id": "b1",
    "nonce": "first",
    "kernel_release": "7.2",
    "loader_type": 0x72,
    "readings": {PATH: "1"},
}


def wanted(**more: object) -> Requested:
    given = {"nonce": "first", "previous_boot_id": None, "kernel_release": "7.2",
             "build_id": None, "kernel_version": None, "expect": (),
             "readings": ON.settings.readings(), "method": BootMethod.WITHIN}  # fmt: skip
    return Requested(**{**given, **more})  # type: ignore[arg-type]


def test_the_command_line_is_read_at_boot_only() -> None:
    with pytest.raises(ValidationError, match="the command line is read at boot"):
        Mode.model_validate(
            {"applies": "at-runtime", "settings": {"cmdline": ["pti=on"], "sysctls": {"a.b": "1"}}}
        )


def test_what_is_written_is_what_is_read_back() -> None:
    assert [(write.path, write.equals) for write in ON.settings.writes()] == [(PATH, "1")]
    assert ON.settings.writes() == ON.settings.readings()


def test_modes_crossed_are_at_runtime_where_all_are() -> None:
    family = {"family": "a", "title": "a", "modes": {"on": ON.model_dump()}}
    booted = {"settings": {"sysctls": {"vm.swappiness": "1"}}}
    families = {
        "a": ModeFamily.model_validate(family),
        "b": ModeFamily.model_validate({"family": "b", "title": "b", "modes": {"on": booted}}),
    }
    assert wanted_by("a/on", families).at_runtime
    assert not wanted_by("a/on+b/on", families).at_runtime


def test_the_boot_that_is_shared_may_be_of_either_way() -> None:
    for loader in (0x72, 0xD0):
        judged = judge_boot(BootProof(**{**PROOF, "loader_type": loader}), wanted())
        assert judged.state is BootState.EFFECTIVE


def test_a_setting_that_the_kernel_refused_is_said_with_its_words() -> None:
    judged = judge_boot(
        BootProof(**{**PROOF, "readings": {PATH: "0"}}), wanted(refused={PATH: "Permission denied"})
    )
    assert judged.state is BootState.NOT_EFFECTIVE
    assert f"writing /{PATH}: Permission denied" in judged.reason


def test_the_catalogue_has_such_families() -> None:
    found = [
        family.family for family in Catalog().families.values()
        if all(mode.applies == "at-runtime" for mode in family.modes.values())
    ]  # fmt: skip
    assert {"l1d-flush", "schedstats"} <= set(found)
