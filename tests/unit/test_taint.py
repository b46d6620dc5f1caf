"""A kernel that is not sound measures nothing: what follows from each bit of its taint."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mitigauge.core.wire import kernel_log
from mitigauge.measurement.runs.boot_evidence import BootProof
from mitigauge.measurement.runs.taint import TAINTS, Follows, is_the_arms, of_proof, unsound
from tests.commands import CASES
from tests.loading import load

MODULE = load("ansible/roles/boot_mode/library/boot_proof.py")
D, W, S, M = 1 << 7, 1 << 9, 1 << 2, 1 << 4


def test_the_table_has_the_letters_that_the_module_shows() -> None:
    assert "".join(TAINTS[bit].letter for bit in sorted(TAINTS)) == MODULE.TAINT_LETTERS


@pytest.mark.parametrize(
    ("letters", "follows"),
    [("DWLB", Follows.KERNEL), ("FRMS", Follows.HOST), ("PUACIOEKXTNJ", Follows.NOTHING)],
)
def test_what_follows_from_each_letter(letters: str, follows: Follows) -> None:
    of = {taint.letter: taint for taint in TAINTS.values()}
    assert {of[letter].follows for letter in letters} == {follows}
    assert all(of[letter].why for letter in letters)


def test_every_letter_has_what_follows() -> None:
    assert {taint.letter for taint in TAINTS.values()} == set("DWLBFRMSPUACIOEKXTNJ")


def test_a_kernel_that_oopsed_before_measuring_is_not_sound() -> None:
    case = json.loads((CASES / "metal-taint-oops.json").read_text())
    found = of_proof(BootProof(**case["proof"]), emulated=case["emulated"])
    assert found is not None
    assert "the kernel oopsed (taint D)" in found.reason
    assert "the kernel warned (taint W)" in found.reason
    assert found.by_kernel


def test_forced_processor_features_are_expected_in_the_lab_only() -> None:
    assert of_proof(BootProof(tainted=S), emulated=True) is None
    found = of_proof(BootProof(tainted=S), emulated=False)
    assert found is not None
    assert not found.by_kernel
    assert "update it" in found.reason


def test_a_machine_check_is_the_hosts_fault_everywhere() -> None:
    found = of_proof(BootProof(tainted=M | D), emulated=True)
    assert found is not None
    assert "a machine check was logged (taint M)" in found.reason
    assert not found.by_kernel


@pytest.mark.parametrize("bit", [bit for bit, of in TAINTS.items() if of.letter in "PUACIOEKXTNJ"])
def test_what_says_nothing_of_the_kernel_changes_nothing(bit: int) -> None:
    assert of_proof(BootProof(tainted=1 << bit), emulated=False) is None


def test_the_reason_has_two_short_lines_of_the_kernels_log() -> None:
    log = ["BUG: unable to handle page fault\x1b[2J " + "x" * 200, "Oops: 0002", "Oops: 0003"]
    proof = BootProof.model_validate({"tainted": D, "kernel_log": log})
    found = of_proof(proof, emulated=False)
    assert found is not None
    assert "BUG: unable to handle page fault" in found.reason
    assert "Oops: 0002" in found.reason
    assert "Oops: 0003" not in found.reason
    assert "\x1b" not in found.reason
    assert len(found.reason) < 600


@pytest.mark.parametrize(
    ("earlier", "expected"),
    [
        ([], False),
        ([{"tainted": 0}], False),
        ([{"tainted": S}], False),
        ([{"tainted": D}], True),
        ([{"tainted": 0, "tainted_while_measuring": W}], True),
    ],
)
def test_twice_is_the_arm_and_once_is_chance(
    earlier: list[dict[str, Any]], *, expected: bool
) -> None:
    own = unsound(D, emulated=False)
    assert own is not None
    proofs = [BootProof(**facts) for facts in earlier]
    assert is_the_arms(own, proofs, emulated=False) is expected


def test_lines_of_the_log_that_explain_a_taint_are_told_from_others() -> None:
    log = [
        "Linux version 7.2.12",
        "BUG: kernel NULL pointer dereference, address: 0000000000000008",
        "#PF: supervisor read access in kernel mode",
        "Oops: Oops: 0000 [#1] SMP NOPTI",
        "WARNING: CPU: 1 PID: 1 at kernel/fork.c:1 x+0x1/0x2",
        "mce: [Hardware Error]: CPU 0: Machine Check: 0 Bank 5",
        "x86/CPU: Running old microcode " + "y" * 400,
    ]
    found = kernel_log.explaining(log)
    assert [line.split()[0] for line in found] == ["BUG:", "Oops:", "WARNING:", "mce:", "x86/CPU:"]
    assert max(map(len, found)) == kernel_log.LONGEST_TEXT


def test_a_host_without_a_log_has_no_lines() -> None:
    assert list(kernel_log.kernel_log("/no/such/file")) == []
