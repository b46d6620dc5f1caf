"""The bill of an operation, out of the code that ran."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from mitigauge.analysis.profiles.exact.bill import bill_of
from mitigauge.analysis.profiles.exact.ledger import Footprint, Ledger, LedgerFunction, Line, Window
from mitigauge.analysis.profiles.exact.operation import operation_of
from mitigauge.analysis.profiles.exact.reading import read_ledger
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.modes.families import Finding
from tests.unit.exact.ledgers import OPERATIONS
from tests.unit.exact.test_reading import REAL

EVENTS = Catalog().events
PRED_CMD, SPEC_CTRL, WRITE = "b949000000", "b948000000", "0f30"


def billed(
    name: str, *code: str, runs: float = 1, taken: float = 0, module: str = "kernel"
) -> dict[str, int | None]:
    """What is on the bill of an operation that runs a function with this code."""
    each = round(runs * OPERATIONS)
    lines = [
        Line(4 * place, one, "jne +0x0" if taken else "?", "?", [each, each],
             round(taken * 2 * OPERATIONS))
        for place, one in enumerate(code)
    ]  # fmt: skip
    total = each * len(code)
    function = LedgerFunction(
        name=name, module=module, is_kernel=module != "user", runs=[total, total], lines=lines
    )
    window = Window(instructions=total, left_out=0, unresolved=0, seconds=0)
    ledger = Ledger(
        operations=OPERATIONS, windows=[window, window], functions=[function],
        footprint=Footprint(lines=1, pages=1),
    )  # fmt: skip
    found = bill_of(operation_of([ledger]), EVENTS)
    return {name: entry.steady for name, entry in found.items() if entry.times}


@pytest.mark.parametrize(
    ("code", "event"),
    [
        (("0faee8",), "lfence"),
        (("0f002d44332211",), "verw"),
        (("3e0f006c2408",), "verw"),
        (("0f22d8",), "cr3-switch"),
        (("410f22dc",), "cr3-switch"),
        ((PRED_CMD, "8b05aabbccdd", "31d2", WRITE), "ibpb"),
        ((SPEC_CTRL, "48c1ea20", WRITE), "msr-write"),
        (("b90b010000", WRITE), "l1d-flush"),
        (("0f01d8",), "guest-entry"),
        (("0f01c3",), "guest-entry"),
    ],
)
def test_an_event_is_known_by_its_bytes(code: tuple[str, ...], event: str) -> None:
    assert billed("f", *code) == {event: 1}


@pytest.mark.parametrize(
    "code",
    [
        (WRITE,),
        ("b910000000", WRITE),
        (PRED_CMD, *["90"] * 8, WRITE),
        ("0f20d8",),
        ("0f22c0",),
        ("0f00d0",),
        ("0faef8",),
    ],
)
def test_what_only_looks_like_one_is_none(code: tuple[str, ...]) -> None:
    assert billed("f", *code) == {}


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("clear_bhb_loop", "bhb-loop"),
        ("clear_bhb_loop_nofence", "bhb-loop"),
        ("__x86_indirect_thunk_rax", "retpoline"),
        ("its_return_thunk", "return-thunk"),
        ("entry_SYSCALL_64", "system-call"),
        ("asm_exc_page_fault", "page-fault"),
        ("try_to_wake_up", "wake-up"),
        ("__switch_to_asm", "context-switch"),
        ("kvm_arch_vcpu_ioctl_run", "guest-exit-to-user"),
    ],
)
def test_an_event_is_a_call_of_its_function(name: str, event: str) -> None:
    assert billed(name, "90", "c3") == {event: 1}


def test_the_branches_of_the_clearing_loop_are_counted() -> None:
    assert billed("clear_bhb_loop", "75fe", taken=84) == {"bhb-loop": 1, "bhb-branch": 84}


def test_a_programs_own_code_is_not_the_kernels() -> None:
    assert billed("main", "0faee8", module="user") == {}


def test_what_happens_now_and_then_is_no_whole_number() -> None:
    assert billed("try_to_wake_up", "90", runs=0.5) == {"wake-up": None}


def test_the_bill_of_a_real_system_call() -> None:
    found = bill_of(operation_of([read_ledger(REAL)]), EVENTS)
    assert {name: entry.steady for name, entry in found.items() if entry.steady} == {
        "system-call": 1, "verw": 1, "return-thunk": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    "finding",
    [
        {},
        {"instruction": "^0f30$", "entry": ["f"]},
        {"after": "^90$", "entry": ["f"]},
        {"instruction": "("},
    ],
)
def test_a_finding_says_one_way(finding: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Finding.model_validate(finding)
