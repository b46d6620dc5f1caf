"""Every reason for which a guest exits has a name."""

from __future__ import annotations

import pytest

from mitigauge.measurement.collectors import kernel_reasons, reasons
from tests.loading import load

script = load("scripts/kvm_reasons.py")


@pytest.mark.parametrize(
    ("number", "name"),
    [(19, "VMCLEAR"), (21, "VMPTRLD"), (23, "VMREAD"), (24, "VMRESUME"), (25, "VMWRITE")],
)
def test_a_guest_that_has_guests_exits_for_reasons_with_names_on_intel(
    number: int, name: str
) -> None:
    assert reasons.title(str(number), reasons.VMX) == name


@pytest.mark.parametrize(
    ("number", "name"),
    [(0x80, "VMRUN"), (0x82, "VMLOAD"), (0x83, "VMSAVE"), (0x84, "STGI"), (0x85, "CLGI"),
     (0x41, "exception 1"), (0x4E, "page fault")],
)  # fmt: skip
def test_a_guest_that_has_guests_exits_for_reasons_with_names_on_amd(
    number: int, name: str
) -> None:
    assert reasons.title(str(number), reasons.SVM) == name


def test_plainer_names_are_of_reasons_that_the_headers_have() -> None:
    assert reasons.TO_USERSPACE.keys() == kernel_reasons.TO_USERSPACE.keys()
    assert reasons.VMX.keys() == kernel_reasons.VMX.keys()
    exceptions = set(range(0x40, 0x60))
    assert reasons.SVM.keys() == kernel_reasons.SVM.keys() | exceptions


def test_what_no_header_has_is_shown_by_its_number() -> None:
    assert reasons.title("5", reasons.VMX) == "reason 5"
    assert reasons.title("x", reasons.VMX) == "reason x"


def test_a_header_is_read_without_what_is_no_reason() -> None:
    text = (
        "#define SVM_EXIT_READ_CR0      0x000\n"
        "#define SVM_EXIT_EXCP_BASE     0x040\n"
        "#define SVM_EXIT_LAST_EXCP     0x05f\n"
        "#define SVM_EXIT_SW\t\t\t\t0xf0000000ull\n"
        "#define SVM_EXIT_ERR           -1ull\n"
        "#define SVM_EXIT_IDLE_HLT      0x0a6 /* comment */\n"
    )
    assert script.reasons(text, r"SVM_EXIT_(\w+)") == {0: "READ_CR0", 0xA6: "IDLE_HLT"}
