"""What consoles of four real boots say, of one kernel and processor, and what is no proof."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.selection.cells import Cell, Processor, selection_spec
from mitigauge.measurement.selection.console import Shown, read_console, unproven

CONSOLES = REPOSITORY / "tests" / "fixtures" / "selection"
RELEASE = "7.2.12-mgfcf498f286b3262a391c57c262886f2c"
ZEN2 = Processor(name="Zen 2", cpu="EPYC-Rome,-hypervisor", options=("setcpuid=ibpb",))
SPEC = selection_spec("vmscape")


def console(name: str) -> str:
    return (CONSOLES / f"{name}.txt").read_text()


def shown(name: str) -> Shown:
    return read_console(console(name), SPEC)


def cell(option: str, mitigations: str = "", kernel: str = RELEASE) -> Cell:
    return Cell(kernel, ZEN2, mitigations, option)


def test_a_boot_is_read_and_proves_its_cell() -> None:
    said = shown("forced")
    assert said.state == "Mitigation: IBPB before exit to userspace"
    assert said.log == ("VMSCAPE: Mitigation: IBPB before exit to userspace",)
    assert set(said.code) == {"do_syscall_64"}
    assert unproven(SPEC, cell("vmscape=force"), said) == ""


def test_the_code_tells_choices_apart_and_not_options() -> None:
    assert shown("forced").code_digest == shown("unknown").code_digest
    assert shown("off").code_digest == shown("forced-no-guest-host").code_digest
    assert shown("off").code_digest != shown("forced").code_digest


def test_an_option_that_is_not_known_is_told_by_the_kernel_s_own_line() -> None:
    assert shown("unknown").ignored == "VMSCAPE: Ignoring unknown vmscape=on option."
    assert shown("forced").ignored == ""


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (cell("vmscape=ibpb"), "lacks vmscape=ibpb"),
        (cell("vmscape=force", "mitigations=off"), "lacks mitigations=off"),
        (cell("vmscape=force", kernel="7.2.13"), "another kernel ran"),
        (cell(""), "has vmscape=force besides"),
    ],
)
def test_another_cell_s_boot_proves_nothing(asked: Cell, words: str) -> None:
    assert words in unproven(SPEC, asked, shown("forced"))


def test_a_boot_that_was_cut_off_or_shows_no_code_proves_nothing() -> None:
    text = console("forced").replace("SAID end - -", "Kernel panic - not syncing")
    cut = read_console(text, SPEC)
    assert "did not end" in unproven(SPEC, cell("vmscape=force"), cut)
    assert "Kernel panic" in cut.tail
    assert "code" in unproven(SPEC, cell("vmscape=force"), replace(shown("forced"), code={}))


@pytest.mark.parametrize(
    "text",
    [
        "", "\0" * 1000, "SAID", "SAID code do_syscall_64 zz 00", "SAID sysfs vmscape",
        "SAID code do_syscall_64 1 0", "SAID log - \x1b[2J", "SAID release - " + "x" * 100_000,
        "SAID end - -\n" * 30_000, "SAID sysfs ../../etc/passwd Vulnerable",
    ],
)  # fmt: skip
def test_hostile_consoles_are_read_and_prove_nothing(text: str) -> None:
    said = read_console(text, SPEC)
    assert unproven(SPEC, cell("vmscape=force"), said)
    assert "\x1b" not in "".join(said.log)
    assert len(said.release) <= 4096


def test_code_of_functions_that_nobody_asked_for_is_left_out() -> None:
    more = console("forced") + "SAID code evil ff 00\nSAID code do_syscall_64 ff 90\n"
    said = read_console(more, SPEC)
    assert set(said.code) == {"do_syscall_64"}
    # A second function of the name counts too.
    assert said.code_digest != shown("forced").code_digest
