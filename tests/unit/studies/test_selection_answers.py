"""What a selection study says."""

from __future__ import annotations

from mitigauge.measurement.selection.findings import FindingKind
from mitigauge.measurement.selection.views import SelectionCell
from mitigauge.tracking.studies.answers import answer_of, looks_worse
from mitigauge.tracking.studies.schemas import KernelSet, SelectionGroup, Selections

BASE, THIS = "7.2.12-mg1", "7.2.12-mg2"
KERNELS = [
    KernelSet(name="base", patches=[], release=BASE),
    KernelSet(name="this", patches=[1], release=THIS),
]


def cell(*, unproven: str = "") -> SelectionCell:
    return SelectionCell(
        kernel=THIS, processor="Zen 2", mitigations="", option="", state="Vulnerable", log=[],
        code="ab", unproven=unproven, findings=[],
    )  # fmt: skip


def selections(*groups: SelectionGroup) -> Selections:
    return Selections(
        spec="vmscape", title="VMSCAPE", kernels=KERNELS, asked=2,
        cells=[cell(), cell(unproven="its program did not end")], groups=list(groups),
    )  # fmt: skip


def group(kind: FindingKind, kernel: str = THIS, cells: int = 5) -> SelectionGroup:
    return SelectionGroup(
        finding=kind, kernel=kernel, why="Vulnerable, but IBPB without it",
        cells=[f"vmscape=force on Zen {number}" for number in range(cells)],
    )  # fmt: skip


def test_what_is_worse_stands_first_with_its_kernel_and_its_places() -> None:
    body = selections(group(FindingKind.WORSE_THAN_ASKED), group(FindingKind.CHANGED))
    assert looks_worse(body)
    first, last = answer_of(body)
    assert first == (
        "worse than asked, this revision: Vulnerable, but IBPB without it: vmscape=force on Zen 0; "
        "vmscape=force on Zen 1; vmscape=force on Zen 2; and 2 more"
    )
    assert last == "VMSCAPE: 1 of 2 cells proven on emulated processors"


def test_cells_that_were_told_are_counted_where_they_are_weaker_too() -> None:
    worse, weaker = group(FindingKind.WORSE_THAN_ASKED), group(FindingKind.WEAKER, cells=3)
    _, second, *_ = answer_of(selections(worse, weaker))
    assert second.endswith("Vulnerable, but IBPB without it: in 3 of those too")
    one = group(FindingKind.WEAKER, cells=1)
    assert answer_of(selections(worse, one))[1].endswith("IBPB without it: there too")
    # Another kernel's cells are others.
    other = group(FindingKind.WEAKER, BASE, cells=1)
    assert answer_of(selections(worse, other))[1].endswith(": vmscape=force on Zen 0")
    # One that is new stands before those that are not.
    more = group(FindingKind.WEAKER, cells=7)
    assert answer_of(selections(worse, more))[1].endswith(
        ": vmscape=force on Zen 5; vmscape=force on Zen 6; vmscape=force on Zen 0; and 4 more"
    )


def test_a_changed_choice_is_no_fault() -> None:
    body = selections(group(FindingKind.CHANGED))
    assert not looks_worse(body)
    assert "nothing is worse than asked" in answer_of(body)[-1]


def test_cells_without_proof_are_said() -> None:
    assert answer_of(selections(group(FindingKind.NO_PROOF, BASE, 1)))[0].startswith(
        "1 cell without proof: "
    )


def test_the_base_is_called_so() -> None:
    body = selections(group(FindingKind.WORSE_THAN_ASKED, BASE))
    assert answer_of(body)[0].startswith("worse than asked, the base: ")
