"""Each rule about a matrix, with the change that it must notice and the one that it must not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mitigauge.measurement.selection.cells import Cell
from mitigauge.measurement.selection.console import Shown
from mitigauge.measurement.selection.documentation import Documentation
from mitigauge.measurement.selection.findings import (
    Finding,
    FindingKind,
    findings,
    grouped,
    is_protected,
)
from mitigauge.measurement.selection.views import selection_cells
from tests.unit.selection.test_console import RELEASE, SPEC, cell, shown

NO_GUEST = "mitigations=auto,no_guest_host"
NEWER = "7.2.13-mg0"


def of(asked: Cell, said: Shown, **more: object) -> Shown:
    """*said* as if it were the boot of that cell."""
    return replace(said, release=asked.kernel, command_line=asked.words, **more)  # type: ignore[arg-type]


def matrix_of(*pairs: tuple[Cell, Shown]) -> dict[Cell, Shown]:
    return {asked: of(asked, said) for asked, said in pairs}


def kinds(matrix: dict[Cell, Shown]) -> list[FindingKind]:
    return [each.kind for each in findings(SPEC, matrix)]


REAL = {
    cell("vmscape=force"): shown("forced"),
    cell("vmscape=force", NO_GUEST): shown("forced-no-guest-host"),
    cell("vmscape=off"): shown("off"),
}


def test_protection_that_other_words_take_away_is_found_without_being_told() -> None:
    [found] = findings(SPEC, REAL)
    assert found == Finding(
        FindingKind.WORSE_THAN_ASKED,
        cell("vmscape=force", NO_GUEST),
        "Vulnerable, but Mitigation: IBPB before exit to userspace with vmscape=force",
    )
    [view] = [each for each in selection_cells(SPEC, REAL, [found]) if each.findings]
    assert (view.mitigations, view.option) == (NO_GUEST, "vmscape=force")


def test_what_asks_for_nothing_may_be_vulnerable() -> None:
    assert kinds({each: said for each, said in REAL.items() if each.mitigations == ""}) == []


def test_a_processor_that_nothing_protects_is_told_apart() -> None:
    alone = {cell("vmscape=force", NO_GUEST): shown("forced-no-guest-host")}
    assert kinds(alone) == [FindingKind.CANNOT]


def test_sysfs_that_says_another_thing_than_the_code_is_found() -> None:
    lies = replace(shown("off"), state="Mitigation: IBPB before exit to userspace")
    for said in (lies, replace(shown("forced"), state="Vulnerable")):
        matrix = matrix_of((cell("vmscape=force"), shown("forced")), (cell("vmscape=off"), said))
        assert kinds(matrix) == [FindingKind.CONTRADICTS]


def test_what_is_done_in_vain_is_code_of_its_own() -> None:
    """As mds does: VERW without microcode that makes it clear anything."""
    vain = replace(shown("forced"), state="Vulnerable: Clear CPU buffers attempted, no microcode")
    off = replace(shown("off"), state="Vulnerable; SMT disabled")
    assert kinds(matrix_of((cell(""), off), (cell("vmscape=off"), vain))) == []
    same = replace(vain, code=off.code)
    lies = matrix_of((cell(""), off), (cell("vmscape=off"), same))
    assert kinds(lies) == [FindingKind.CONTRADICTS]


def test_two_states_without_a_mitigation_run_the_same_code() -> None:
    safe = replace(shown("off"), state="Not affected")
    assert kinds(matrix_of((cell(""), safe), (cell("vmscape=off"), shown("off")))) == []


def test_other_mitigations_may_move_the_code() -> None:
    other = replace(shown("forced"), code={"do_syscall_64": "0" * 64})
    beside = cell("", "mitigations=auto,no_user_user")
    assert kinds(matrix_of((cell(""), shown("forced")), (beside, other))) == []


def test_an_ignored_option_is_told_by_the_kernel_s_line_and_is_no_broken_promise() -> None:
    matrix = {cell("vmscape=on"): shown("unknown")}
    [found] = findings(SPEC, matrix)
    assert found.kind is FindingKind.UNKNOWN_OPTION
    assert "Ignoring unknown vmscape=on" in found.why


def test_a_later_kernel_is_held_against_the_first() -> None:
    old, new = cell("vmscape=force"), cell("vmscape=force", kernel=NEWER)

    def against(said: Shown) -> list[FindingKind]:
        return kinds(matrix_of((old, shown("forced")), (new, said)))

    assert FindingKind.WEAKER in against(shown("forced-no-guest-host"))
    assert against(shown("forced")) == []
    clears = replace(shown("forced"), state="Mitigation: Clear BHB before exit to userspace")
    assert against(clears) == [FindingKind.CHANGED]


def test_what_proves_nothing_takes_part_in_no_other_rule() -> None:
    matrix = {**REAL, cell("vmscape=force", NO_GUEST): Shown(tail="panic")}
    [found] = findings(SPEC, matrix)
    assert found.kind is FindingKind.NO_PROOF
    assert found.cell.kernel == RELEASE


def test_one_reason_is_told_once_and_the_worst_first() -> None:
    more = REAL | matrix_of(
        (cell("vmscape=ibpb", NO_GUEST), shown("forced-no-guest-host")),
        (cell("vmscape=on"), shown("unknown")),
    )
    groups = grouped(findings(SPEC, more))
    assert [kind for kind, _, _ in groups] == [
        FindingKind.WORSE_THAN_ASKED, FindingKind.UNKNOWN_OPTION,
    ]  # fmt: skip
    assert len(groups[0][2]) == 2


def test_states_that_protect() -> None:
    assert is_protected("Mitigation: IBPB on VMEXIT")
    assert is_protected("Not affected")
    assert not is_protected("Vulnerable: no microcode")
    assert not is_protected("Mitigation: Clear CPU buffers; SMT vulnerable")
    assert not is_protected("Mitigation: Retpolines; IBPB: conditional; BHI: Vulnerable")
    assert not is_protected("Unknown: No mitigations")
    assert not is_protected(None)


def test_a_state_that_is_not_known_is_no_longer_told_and_not_worse_than_asked() -> None:
    unknown = replace(shown("forced"), state="Unknown: No mitigations")
    old, new = cell("vmscape=force"), cell("vmscape=force", kernel=NEWER)
    assert kinds(matrix_of((old, shown("forced")), (new, unknown))) == [FindingKind.NO_LONGER_TOLD]
    assert kinds(matrix_of((old, unknown))) == []
    assert kinds(matrix_of((old, unknown), (new, shown("forced")))) == [FindingKind.CHANGED]


@pytest.mark.parametrize(
    ("before", "now", "kind"),
    [
        ("Mitigation: Clear CPU buffers; SMT vulnerable", "Vulnerable", "weaker than before"),
        ("Mitigation: Clear CPU buffers", "Mitigation: Clear CPU buffers; SMT vulnerable",
         "weaker than before"),
        ("KVM: Mitigation: Split huge pages", "KVM: Vulnerable", "weaker than before"),
        ("Mitigation: Clear CPU buffers", None, "no longer told"),
        ("Mitigation: Clear CPU buffers", "", "no longer told"),
        ("Vulnerable", "Vulnerable: Clear CPU buffers attempted, no microcode", "changed"),
        ("Not affected", "Mitigation: IBPB", "changed"),
        ("Vulnerable", "Unknown: Dependent on hypervisor status", "changed"),
    ],
)  # fmt: skip
def test_less_protection_is_weaker_in_parts_and_for_guests_too(
    before: str, now: str | None, kind: str
) -> None:
    old, new = cell("vmscape=force"), cell("vmscape=force", kernel=NEWER)
    states = [replace(shown("forced"), state=state) for state in (before, now)]
    found = findings(SPEC, matrix_of((old, states[0]), (new, states[1])))
    between = (FindingKind.WEAKER, FindingKind.NO_LONGER_TOLD, FindingKind.CHANGED)
    told = [each.kind for each in found if each.kind in between]
    assert told == [FindingKind(kind)]


def test_two_that_contradict_each_other_are_found_though_neither_contradicts_the_first() -> None:
    """The first says one thing and runs one code; the others say another, in two codes."""
    one = replace(shown("forced"), state="Mitigation: A", code={"f": "1" * 64})
    two = replace(shown("forced"), state="Mitigation: B", code={"f": "2" * 64})
    three = replace(shown("forced"), state="Mitigation: B", code={"f": "3" * 64})
    matrix = matrix_of(
        (cell("vmscape=force"), one), (cell("vmscape=ibpb"), two), (cell("vmscape=on"), three)
    )
    found = findings(SPEC, matrix)
    assert [each.kind for each in found] == [FindingKind.CONTRADICTS]
    assert found[0].cell == cell("vmscape=on")
    assert "as with vmscape=ibpb, but runs other code" in found[0].why


LISTS = "\tvmscape=\t[X86] Controls it.\n\n\t\t\toff\t- disable\n\t\t\tibpb\t- IBPB (default)\n"
LISTS_ON = f"{LISTS}\t\t\ton\t\t- auto\n\n\tvsyscall=\t[X86-64]\n\t\t\tforce\t- all\n"


def test_a_word_that_is_documented_and_not_known_is_found() -> None:
    matrix = {cell("vmscape=on"): shown("unknown")}
    kinds_of = [each.kind for each in findings(SPEC, matrix, {RELEASE: Documentation(LISTS_ON)})]
    assert kinds_of == [FindingKind.DOCUMENTED_OTHERWISE, FindingKind.UNKNOWN_OPTION]
    [found, _] = findings(SPEC, matrix, {RELEASE: Documentation(LISTS_ON)})
    assert "has vmscape=ibpb, off, on, but the kernel says: VMSCAPE: Ignoring unknown" in found.why


def test_a_word_that_the_kernel_takes_and_nobody_documents_is_found_once() -> None:
    matrix = {each: said for each, said in REAL.items() if each.option == "vmscape=force"}
    found = findings(SPEC, matrix, {RELEASE: Documentation(LISTS_ON)})
    told = [each.why for each in found if each.kind is FindingKind.DOCUMENTED_OTHERWISE]
    assert told == ["its list of parameters has vmscape=ibpb, off, on, but the kernel takes force"]


def test_what_is_documented_as_it_is_or_not_at_all_is_no_finding() -> None:
    unknown = {cell("vmscape=on"): shown("unknown")}
    taken = {cell("vmscape=off"): shown("off")}
    no_file = {cell("vmscape=force"): replace(shown("forced"), state=None)}
    for matrix, text in (
        (unknown, LISTS),
        (taken, LISTS),
        (taken, "\tvsyscall=\t[X86]\n\t\t\tnone\t- none\n"),
        (no_file, LISTS),
    ):
        found = findings(SPEC, matrix, {RELEASE: Documentation(text)})
        assert FindingKind.DOCUMENTED_OTHERWISE not in [each.kind for each in found]
    assert FindingKind.DOCUMENTED_OTHERWISE not in kinds(unknown)


FILE = "Documentation/admin-guide/hw-vuln/vmscape.rst"
PAGE = """
 * 'Not affected':
 * 'Vulnerable':
 * 'Mitigation: IBPB before exit to userspace':
 * ``vmscape=off``:
 * ``vmscape=ibpb``:
"""


def documented_otherwise(page: str) -> list[str]:
    found = findings(SPEC, REAL, {RELEASE: Documentation(page=page)})
    return [each.why for each in found if each.kind is FindingKind.DOCUMENTED_OTHERWISE]


def test_a_page_of_the_vulnerability_is_held_against_words_and_states() -> None:
    lacks = PAGE.replace("before exit", "on exit")
    state = "Mitigation: IBPB before exit to userspace"
    assert documented_otherwise(lacks) == [
        f"{FILE} has vmscape=ibpb, off, but the kernel takes force",
        f"{FILE} does not list the state {state!r}",
    ]
    assert documented_otherwise(f"{PAGE} * ``vmscape=force``:") == []
    assert documented_otherwise("no list") == []


def test_what_a_state_says_besides_is_not_held_against_the_page() -> None:
    smt = {each: replace(said, state=f"{said.state}; SMT disabled") for each, said in REAL.items()}
    page = {RELEASE: Documentation(page=f"{PAGE} * ``vmscape=force``:")}
    assert FindingKind.DOCUMENTED_OTHERWISE not in [each.kind for each in findings(SPEC, smt, page)]
