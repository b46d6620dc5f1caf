"""Options of a host's own command line beside a mode: told, and no kernel's own choice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.modes.base_options import base_options, known_options
from mitigauge.measurement.modes.crossing import wanted_by
from mitigauge.measurement.runs.boot_evidence import BootProof
from mitigauge.measurement.runs.proof import Judgement, Requested, judge_boot
from mitigauge.measurement.runs.states import BootState
from tests.commands import CASES

FAMILIES = Catalog().families
KNOWN = known_options(FAMILIES.values())
CASE: dict[str, Any] = json.loads((CASES / "metal-base-options.json").read_text())


def judged(mode: str, cmdline: str, vulnerabilities: dict[str, str]) -> Judgement:
    arm = wanted_by(mode, FAMILIES)
    proof = BootProof(
        boot_id="new", nonce="n1", kernel_release="7.2", build_id="b1", loader_type=0x72, tainted=0,
        cmdline=cmdline, vulnerabilities=vulnerabilities,
    )  # fmt: skip
    requested = Requested(
        nonce="n1", previous_boot_id="old", kernel_release="7.2", build_id="b1",
        kernel_version=None, expect=arm.expect, options=arm.settings.options(), known_options=KNOWN,
    )  # fmt: skip
    return judge_boot(proof, requested)


def test_a_hosts_own_options_are_no_choice_of_the_kernel() -> None:
    found = judged(CASE["mode"], CASE["cmdline"], CASE["vulnerabilities"])
    assert found.state is BootState.NOT_EFFECTIVE
    assert "nopti, mds=off, tsx_async_abort=off, mmio_stale_data=off take from it" in found.reason
    assert "l1tf" not in found.reason.split("the kernel says")[0]


def test_without_them_the_same_kernel_chooses() -> None:
    found = judged(CASE["mode"], "ro mitigations=auto mitigauge.nonce=n1", CASE["vulnerabilities"])
    assert found.state is BootState.EFFECTIVE
    assert "beside" not in found.observed


def test_another_mode_is_in_force_and_tells_them() -> None:
    files = {"spec_store_bypass": "Vulnerable"}
    found = judged("ssb/off", "ro nopti mds=off spec_store_bypass_disable=off", files)
    assert found.state is BootState.EFFECTIVE
    assert found.observed.endswith("beside the host's own nopti, mds=off")


@pytest.mark.parametrize(
    ("cmdline", "requested", "expected"),
    [
        ("ro quiet root=x audit=1 tsx=on console=ttyS0", ["mitigations=auto"], []),
        ("ro spectre_v2=retpoline", ["mitigations=auto"], ["spectre_v2=retpoline"]),
        ("ro pti=off mitigations=auto", ["mitigations=auto", "pti=off"], []),
        # A word that stands for an option which the arm sets itself.
        ("ro nopti pti=on", ["pti=on"], []),
        ("ro nospectre_v2", ["pti=on"], ["nospectre_v2"]),
        # The kernel takes - and _ for one another.
        ("ro spectre-bhi=off", ["pti=on"], ["spectre-bhi=off"]),
    ],
)
def test_which_words_are_the_hosts_own(
    cmdline: str, requested: list[str], expected: list[str]
) -> None:
    assert base_options(cmdline, requested, KNOWN) == expected


@pytest.mark.parametrize("value", ["auto", "auto,nosmt", "auto,no_user_kernel"])
def test_each_mode_that_leaves_the_choice_to_the_kernel_is_held_to_it(value: str) -> None:
    mode = {
        "auto": "mitigations/auto", "auto,nosmt": "mitigations/auto-nosmt",
        "auto,no_user_kernel": "user-kernel/off",
    }[value]  # fmt: skip
    found = judged(mode, f"ro mds=off mitigations={value}", CASE["vulnerabilities"])
    assert "mds=off take from it" in found.reason
    found = judged(mode, f"ro pti=auto mitigations={value}", CASE["vulnerabilities"])
    assert "take from it" not in found.reason
