"""A boot counts only when it is proven; the outcomes are told apart."""

from __future__ import annotations

from typing import Any

import pytest

from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.modes.families import Expectation
from mitigauge.measurement.modes.settings import Settings
from mitigauge.measurement.runs.boot_evidence import BootProof
from mitigauge.measurement.runs.proof import (
    INDISPENSABLE,
    Requested,
    judge_boot,
    missing_of,
)
from mitigauge.measurement.runs.states import BootState
from tests.commands import CASES

GRUB, KEXEC = 0x72, 0xD0
CLEAR = Expectation(file="vmscape", equals="Mitigation: Clear BHB before exit to userspace")
LOOP = Expectation(file="spectre_v2", field="BHI", equals="SW loop")


def wanted(**changes: Any) -> Requested:
    facts: dict[str, Any] = {
        "nonce": "n1",
        "previous_boot_id": "old",
        "kernel_release": "7.2",
        "build_id": "b1",
        "kernel_version": None,
        "expect": [CLEAR],
    }
    return Requested(**{**facts, **changes})


def proof(**changes: Any) -> BootProof:
    facts: dict[str, Any] = {
        "boot_id": "new",
        "nonce": "n1",
        "kernel_release": "7.2",
        "build_id": "b1",
        "loader_type": GRUB,
        "tainted": 0,
        "cmdline": "ro quiet mitigauge.nonce=n1 vmscape=on",
        "vulnerabilities": {"vmscape": "Mitigation: Clear BHB before exit to userspace"},
    }
    return BootProof(**{**facts, **changes})


def test_the_expected_string_proves_the_mode() -> None:
    judged = judge_boot(proof(), wanted())
    assert judged.state is BootState.EFFECTIVE
    assert judged.observed == "vmscape: Mitigation: Clear BHB before exit to userspace"


IGNORED = "VMSCAPE: Ignoring unknown vmscape=on option."


def test_a_state_beside_an_option_that_the_kernel_rejects_is_not_what_was_asked() -> None:
    rejections = [IGNORED]
    judged = judge_boot(proof(rejections=rejections), wanted(mode_options=["vmscape=on"]))
    assert judged.state is BootState.NOT_EFFECTIVE
    assert f"the kernel did not take vmscape=on: {IGNORED}" in judged.reason
    # Another's, as the host's own, is no matter of the mode.
    assert judge_boot(proof(rejections=rejections), wanted()).state is BootState.EFFECTIVE


def test_where_the_state_is_the_kernels_own_choice_it_counts_and_is_said() -> None:
    own_choice = CLEAR.model_copy(update={"even_without": "vmscape=on"})
    asked = wanted(expect=[own_choice], mode_options=["vmscape=on"])
    judged = judge_boot(proof(rejections=[IGNORED]), asked)
    assert judged.state is BootState.EFFECTIVE
    assert "by the kernel's own choice (the kernel did not take vmscape=on" in judged.observed
    other = {"vmscape": "Mitigation: IBPB before exit to userspace"}
    judged = judge_boot(proof(rejections=[IGNORED], vulnerabilities=other), asked)
    assert judged.state is BootState.NOT_EFFECTIVE


def test_an_ignored_mode_is_not_effective_and_quotes_the_kernel() -> None:
    said = {"vmscape": "Mitigation: IBPB before exit to userspace"}
    judged = judge_boot(proof(vulnerabilities=said), wanted())
    assert judged.state is BootState.NOT_EFFECTIVE
    assert "Mitigation: IBPB before exit to userspace" in judged.reason


def test_a_string_that_only_starts_alike_proves_nothing() -> None:
    said = {"vmscape": "Mitigation: Clear BHB before exit to userspace, sometimes"}
    assert judge_boot(proof(vulnerabilities=said), wanted()).state is BootState.NOT_EFFECTIVE


def test_a_fallback_with_a_new_boot_id_did_not_boot_the_arm() -> None:
    judged = judge_boot(proof(nonce=None), wanted())
    assert judged.state is BootState.DID_NOT_BOOT
    assert "fallback" in judged.reason


def test_an_unchanged_boot_id_did_not_boot() -> None:
    assert judge_boot(proof(boot_id="old"), wanted()).state is BootState.DID_NOT_BOOT


def test_a_boot_that_was_proven_before_is_not_another_one() -> None:
    asked = wanted(previous_boot_id=None, earlier_boot_ids={"older", "new"})
    assert judge_boot(proof(), asked).state is BootState.DID_NOT_BOOT
    asked = wanted(previous_boot_id=None, earlier_boot_ids={"older"})
    assert judge_boot(proof(), asked).state is BootState.EFFECTIVE


def test_an_option_that_is_not_on_the_command_line_is_not_effective() -> None:
    asked = wanted(options=["vmscape=on", "mitigauge.x=1"])
    judged = judge_boot(proof(), asked)
    assert judged.state is BootState.NOT_EFFECTIVE
    assert "expected mitigauge.x=1 on the command line" in judged.reason
    assert judge_boot(proof(), wanted(options=["vmscape=on"])).state is BootState.EFFECTIVE


@pytest.mark.parametrize("name", INDISPENSABLE)
def test_what_every_kernel_shows_may_not_be_missing(name: str) -> None:
    assert missing_of(proof()) == []
    assert missing_of(proof(**{name: None})) == [name]


def test_an_unknown_previous_boot_leaves_the_nonce_to_prove_it() -> None:
    assert judge_boot(proof(), wanted(previous_boot_id=None)).state is BootState.EFFECTIVE


@pytest.mark.parametrize("change", [{"kernel_release": "6.1"}, {"build_id": "b2"}])
def test_another_kernel_is_told_from_an_ignored_mode(change: dict[str, str]) -> None:
    assert judge_boot(proof(**change), wanted()).state is BootState.WRONG_KERNEL


def test_another_build_of_the_same_release_is_a_wrong_kernel() -> None:
    judged = judge_boot(proof(kernel_version="#2 SMP"), wanted(kernel_version="#1 SMP"))
    assert judged.state is BootState.WRONG_KERNEL
    assert "#2 SMP" in judged.reason


def test_an_unknown_build_id_leaves_the_release_to_prove_it() -> None:
    assert judge_boot(proof(), wanted(build_id=None)).state is BootState.EFFECTIVE


def test_a_missing_file_is_named() -> None:
    judged = judge_boot(proof(vulnerabilities={}), wanted())
    assert judged.state is BootState.NOT_EFFECTIVE
    assert "vmscape: no such file" in judged.observed


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("Mitigation: Retpolines; STIBP: disabled; BHI: SW loop", "SW loop"),
        ("Vulnerable; BHI: Vulnerable", "Vulnerable"),
        ("Mitigation: Retpolines; BHI: SW loop, KVM: SW loop", "SW loop, KVM: SW loop"),
        ("Mitigation: Retpolines", None),
    ],
)
def test_a_field_is_picked_out_of_the_text(text: str, state: str | None) -> None:
    assert LOOP.observed({"spectre_v2": text}) == state


BARE = Expectation(file="spectre_v2", field="Vulnerable", equals="Vulnerable")


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("Vulnerable; IBPB: disabled; STIBP: disabled; BHI: Vulnerable", "Vulnerable"),
        ("Vulnerable: LFENCE; IBPB: disabled", "LFENCE"),
        ("Mitigation: Retpolines; BHI: Vulnerable", None),
    ],
)
def test_a_part_that_is_a_word_alone_shows_itself(text: str, state: str | None) -> None:
    assert BARE.observed({"spectre_v2": text}) == state
    assert BARE.describe() == "spectre_v2: Vulnerable"


NX = "sys/module/kvm/parameters/nx_huge_pages"
SETTINGS = Settings.model_validate(
    {"module_parameters": {"kvm": {"nx_huge_pages": "N"}}, "sysctls": {"vm.swappiness": "10"}}
)


@pytest.mark.parametrize(
    ("read", "state", "said"),
    [
        ({NX: "N", "proc/sys/vm/swappiness": "10"}, BootState.EFFECTIVE, ""),
        ({NX: "N\n", "proc/sys/vm/swappiness": "\t10 "}, BootState.EFFECTIVE, ""),
        ({NX: "Y", "proc/sys/vm/swappiness": "10"}, BootState.NOT_EFFECTIVE, "nx_huge_pages: Y"),
        ({NX: None, "proc/sys/vm/swappiness": "10"}, BootState.NOT_EFFECTIVE, "no such file"),
        ({NX: "N"}, BootState.NOT_EFFECTIVE, "sysctl vm.swappiness: no such file"),
    ],
)
def test_all_settings_must_be_read_back(
    read: dict[str, str | None], state: BootState, said: str
) -> None:
    asked = wanted(expect=[], readings=SETTINGS.readings())
    judged = judge_boot(proof(readings=read), asked)
    assert judged.state is state
    assert said in judged.reason


def test_a_setting_that_is_read_back_does_not_stand_for_the_mitigation() -> None:
    read: dict[str, str | None] = {NX: "N", "proc/sys/vm/swappiness": "10"}
    said = {"vmscape": "Vulnerable"}
    judged = judge_boot(
        proof(readings=read, vulnerabilities=said), wanted(readings=SETTINGS.readings())
    )
    assert judged.state is BootState.NOT_EFFECTIVE
    assert judged.reason.startswith("expected vmscape: Mitigation: Clear BHB")


def test_each_place_must_show_one_of_its_own_states() -> None:
    asked = wanted(expect=[CLEAR, LOOP])
    both = {**proof().vulnerabilities, "spectre_v2": "Mitigation: x; BHI: SW loop"}
    assert judge_boot(proof(vulnerabilities=both), asked).state is BootState.EFFECTIVE
    one = {**both, "spectre_v2": "Mitigation: x; BHI: Vulnerable"}
    judged = judge_boot(proof(vulnerabilities=one), asked)
    assert judged.state is BootState.NOT_EFFECTIVE
    assert ", and spectre_v2: BHI: SW loop; the kernel says" in judged.reason


@pytest.mark.parametrize(
    ("method", "loader"),
    [
        (BootMethod.RESET, GRUB),
        (BootMethod.KEXEC, KEXEC),
    ],
)
def test_a_boot_by_the_method_that_was_asked_for_counts(
    method: BootMethod, loader: int | None
) -> None:
    judged = judge_boot(proof(loader_type=loader), wanted(method=method))
    assert judged.state is BootState.EFFECTIVE


@pytest.mark.parametrize(
    ("method", "loader", "reason"),
    [
        (BootMethod.RESET, KEXEC, "a reset was asked for: set LOAD_KEXEC=false"),
        (BootMethod.KEXEC, GRUB, "boot loader type 0x72 started the kernel, and kexec was asked"),
    ],
)
def test_a_boot_by_another_method_did_not_boot(
    method: BootMethod, loader: int, reason: str
) -> None:
    judged = judge_boot(proof(loader_type=loader), wanted(method=method))
    assert judged.state is BootState.DID_NOT_BOOT
    assert reason in judged.reason


def test_a_fallback_after_a_kexec_is_told_by_its_nonce() -> None:
    judged = judge_boot(proof(loader_type=GRUB, nonce=None), wanted(method=BootMethod.KEXEC))
    assert judged.state is BootState.DID_NOT_BOOT
    assert "the fallback entry came up" in judged.reason


def test_the_crash_kernel_of_kdump_is_the_arms_panic() -> None:
    cmdline = (CASES / "metal-kdump-cmdline.txt").read_text()
    for method in (BootMethod.RESET, BootMethod.KEXEC):
        judged = judge_boot(proof(loader_type=KEXEC, cmdline=cmdline), wanted(method=method))
        assert judged.state is BootState.DID_NOT_BOOT
        assert "the arm panicked: the crash kernel of kdump came up (elfcorehdr=" in judged.reason
