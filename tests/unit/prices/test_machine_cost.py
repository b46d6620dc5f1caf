"""What mitigations cost a machine: states × rates × prices, and a row for what is not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from mitigauge.analysis.prices.definitions import Price, Processor, Source, paced
from mitigauge.analysis.prices.kernel_events import KernelEvent, Rate, counted_rate, sum_rates
from mitigauge.analysis.prices.machine_cost import (
    Basis,
    CostRow,
    Knowledge,
    cost_rows,
    events_in_force,
    total,
)
from mitigauge.analysis.prices.processors import bills_of_questions
from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.catalog import Catalog
from tests.unit.modes.test_texts import KERNELS, texts

CATALOG = Catalog()
KNOWLEDGE = Knowledge(
    CATALOG.families, bills_of_questions(CATALOG), CATALOG.events, CATALOG.known_states
)
SWAPGS = "Mitigation: usercopy/swapgs barriers and __user pointer sanitization"
# Of a server with MDS, as Linux 6.12 prints it.
SKYLAKE = {
    "gather_data_sampling": "Mitigation: Microcode",
    "itlb_multihit": "KVM: Mitigation: Split huge pages",
    "l1tf": "Mitigation: PTE Inversion; VMX: conditional cache flushes, SMT vulnerable",
    "mds": "Mitigation: Clear CPU buffers; SMT vulnerable",
    "meltdown": "Mitigation: PTI",
    "mmio_stale_data": "Mitigation: Clear CPU buffers; SMT vulnerable",
    "retbleed": "Mitigation: IBRS",
    "spec_store_bypass": "Mitigation: Speculative Store Bypass disabled via prctl",
    "spectre_v1": SWAPGS,
    "spectre_v2": "Mitigation: IBRS; IBPB: conditional; STIBP: conditional; RSB filling; "
    "PBRSB-eIBRS: Not affected; BHI: Not affected",
    "srbds": "Not affected",
    "tsx_async_abort": "Mitigation: Clear CPU buffers; SMT vulnerable",
}
# The same with mitigations=off.
OFF = {
    "gather_data_sampling": "Vulnerable",
    "itlb_multihit": "KVM: Vulnerable",
    "l1tf": "Mitigation: PTE Inversion; VMX: vulnerable",
    "mds": "Vulnerable; SMT vulnerable",
    "meltdown": "Vulnerable",
    "mmio_stale_data": "Vulnerable",
    "retbleed": "Vulnerable",
    "spec_store_bypass": "Vulnerable",
    "spectre_v1": "Vulnerable: __user pointer sanitization and usercopy barriers only; no swapgs "
    "barriers",
    "spectre_v2": "Vulnerable; IBPB: disabled; STIBP: disabled; PBRSB-eIBRS: Not affected; "
    "BHI: Not affected",
    "srbds": "Not affected",
    "tsx_async_abort": "Vulnerable",
}
ALL = {event: counted_rate(1000.0, "made") for event in KernelEvent}
ZERO = {event: counted_rate(0.0, "made") for event in KernelEvent}


def processor(**prices: float) -> Processor:
    """Each price known to a tenth."""
    return Processor(
        processor="p", title="P",
        prices=tuple(
            Price(event=event.replace("_", "-"), ns=ns, low=0.9 * ns, high=1.1 * ns,
                  source=Source(title="made"))
            for event, ns in prices.items()
        ),
    )  # fmt: skip


def rows(states: dict[str, str], rates: dict[KernelEvent, Rate], *of: Processor) -> list[CostRow]:
    return cost_rows(states, rates, of, KNOWLEDGE)


def named(table: list[CostRow], word: str) -> CostRow:
    [row] = [row for row in table if word in row.mitigation or any(word in s for s in row.states)]
    return row


def test_a_share_is_the_rate_times_the_price() -> None:
    """30,000 returns a second, 10 ns each: 0.03 % of a processor, to a tenth."""
    rates = {
        **ZERO, KernelEvent.SYSTEM_CALL: counted_rate(20_000, "made"),
        KernelEvent.USER_FAULT: counted_rate(9_000, "made"),
        KernelEvent.USER_INTERRUPT: counted_rate(1_000, "made"),
    }  # fmt: skip
    row = named(rows(SKYLAKE, rates, processor(verw=10)), "VERW on each return")
    assert row.basis is Basis.PREDICTED
    assert row.rate
    assert row.rate.value == 30_000
    assert row.percent.value == pytest.approx(0.03)
    assert (row.percent.low, row.percent.high) == pytest.approx((0.027, 0.033))


def test_one_instruction_against_two_bugs_is_one_row() -> None:
    row = named(rows(SKYLAKE, ALL, processor(verw=10)), "VERW on each return")
    assert row.states == (
        "mds: Mitigation: Clear CPU buffers", "tsx_async_abort: Mitigation: Clear CPU buffers",
    )  # fmt: skip


def test_page_table_isolation_switches_both_ways() -> None:
    row = named(rows(SKYLAKE, {**ALL}, processor(cr3_switch=50)), "page table isolation")
    assert row.percent.value == pytest.approx(100 * 3000 * 2 * 50e-9)


def test_what_has_no_price_is_unknown_with_the_reason() -> None:
    """As beside a hypervisor that keeps the control from its guests."""
    refused = {"ibpb": "Operation not permitted (PR_SET_SPECULATION_CTRL)"}
    table = cost_rows(SKYLAKE, ALL, [processor(verw=10)], KNOWLEDGE, refused)
    row = named(table, "IBPB for tasks")
    assert row.basis is Basis.UNKNOWN
    assert row.percent.value is None
    assert row.why == (
        "no price of ibpb here: Operation not permitted (PR_SET_SPECULATION_CTRL)"
    )  # fmt: skip


def test_what_does_not_happen_costs_nothing_though_it_has_no_price() -> None:
    table = rows(SKYLAKE, ZERO, processor(verw=10))
    billed = [row for row in table if row.rate]
    assert billed
    assert {row.basis for row in billed} == {Basis.NOTHING}
    assert all(row.percent.value == 0 for row in billed)
    assert events_in_force(SKYLAKE, ZERO, KNOWLEDGE) == set()


def test_a_rate_that_nothing_bounds_is_unknown_and_says_what_one_percent_would_be() -> None:
    unknown = {**ALL, KernelEvent.SYSTEM_CALL: Rate(why="system calls: not counted")}
    row = named(rows(SKYLAKE, unknown, processor(verw=10)), "VERW on each return")
    assert row.basis is Basis.UNKNOWN
    assert row.why == "system calls: not counted; 1,000,000 a second would be 1 % of a processor"


def test_a_rate_that_is_a_range_gives_a_share_that_is_one() -> None:
    bounded = {**ZERO, KernelEvent.SYSTEM_CALL: Rate(high=1e6, why="only bounded")}
    row = named(rows(SKYLAKE, bounded, processor(verw=10)), "VERW on each return")
    assert row.basis is Basis.PREDICTED
    assert row.percent.value is None
    assert (row.percent.low, row.percent.high) == pytest.approx((0.0, 1.1))
    assert row.why == "only bounded"


def test_cores_of_two_kinds_give_the_range_over_both_and_no_price_is_one() -> None:
    table = rows(SKYLAKE, ALL, processor(verw=10), processor(verw=30))
    row = named(table, "VERW on each return")
    assert row.ns.value is None
    assert (row.ns.low, row.ns.high) == pytest.approx((9.0, 33.0))
    assert row.percent.value is None
    assert "all kinds of core" in row.why
    lacking = named(rows(SKYLAKE, ALL, processor(verw=10), processor(lfence=3)), "VERW on each")
    assert lacking.basis is Basis.UNKNOWN


def test_with_all_mitigations_off_every_row_costs_nothing_and_says_so() -> None:
    table = rows(OFF, ALL, processor(verw=10, lfence=3))
    assert {row.basis for row in table} == {Basis.NOTHING}
    assert {state.partition(":")[0] for row in table for state in row.states} == set(OFF)
    assert named(table, "meltdown").why == "it is off"
    assert total(table).high == 0


def test_words_of_the_kernel_that_nobody_knows_are_a_row() -> None:
    table = rows({"next_bug": "Mitigation: Prayer", "mds": "Not affected"}, ALL, processor(verw=10))
    row = named(table, "next_bug")
    assert row.basis is Basis.UNKNOWN
    assert row.why == "the kernel's words are not known here"
    assert row.states == ("next_bug: Mitigation: Prayer",)


def test_a_bit_that_stays_set_is_unknown_since_it_depends_on_the_program() -> None:
    row = named(rows(SKYLAKE, ALL, processor(verw=10)), "gather_data_sampling")
    assert row.basis is Basis.UNKNOWN
    assert "depends on how often a program gathers" in row.why


def test_hostile_words_of_the_kernel_are_cleaned() -> None:
    table = rows({"mds": "Mitigation: \x1b[2J" + "x" * 10_000}, ALL, processor(verw=10))
    [row] = table
    assert "\x1b" not in row.states[0]
    assert len(row.states[0]) < 400


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_each_text_that_a_kernel_can_print_ends_in_rows_that_are_known(kernel: str) -> None:
    """No text of a kernel since 6.12 is unknown, and none gets lost."""
    every = [
        (file, text) for file, forms in KERNELS[kernel].items() for form in forms
        for text in texts(form)
    ]  # fmt: skip
    lost = [of for of in every if not rows(dict([of]), ALL, processor(verw=10))]
    assert lost == []
    if kernel in {"6.12", "7.2.13", "7.3-rc7"}:
        unknown = [
            (file, text) for file, text in every
            for row in rows({file: text}, ALL, processor(verw=10)) if "not known here" in row.why
        ]  # fmt: skip
        assert unknown == []


@pytest.mark.parametrize(
    ("file", "text", "free"),
    [
        ("meltdown", "Vulnerable", True),
        ("meltdown", "Mitigation: PTI", False),
        ("spectre_v2", "Mitigation: Enhanced / Automatic IBRS; BHI: BHI_DIS_S", False),
        ("spec_rstack_overflow", "Vulnerable: Safe RET, no microcode", False),
        ("mds", "Vulnerable: Clear CPU buffers attempted, no microcode; SMT disabled", False),
        ("vmscape", "Mitigation: IBPB before exit to userspace", False),
        ("tsa", "Vulnerable: No microcode", True),
        ("old_microcode", "Unknown: running under hypervisor", True),
        ("spectre_v2", "Vulnerable: LFENCE", False),
        ("srbds", "Mitigation: Microcode", False),
        ("next_bug", "Vulnerable", True),
    ],
)
def test_what_does_work_is_never_said_to_cost_nothing(file: str, text: str, free: bool) -> None:
    table = rows({file: text}, ALL, processor(verw=10))
    assert all(row.basis is Basis.NOTHING for row in table) == free


def test_states_of_kernels_before_6_9_are_parted_by_commas() -> None:
    text = (
        "Mitigation: Full generic retpoline, IBPB: conditional, IBRS_FW, STIBP: conditional, "
        "RSB filling"
    )
    table = rows({"spectre_v2": text}, ALL, processor(rsb_fill=30))
    assert named(table, "return stack").percent.value == pytest.approx(100 * 1000 * 30e-9)
    assert named(table, "retpolines").basis is Basis.UNKNOWN


def test_the_sum_is_of_what_is_predicted_alone() -> None:
    table = rows(SKYLAKE, ALL, processor(verw=10, lfence=5, rsb_fill=30))
    shares = [row.percent.value for row in table if row.basis is Basis.PREDICTED]
    assert total(table).value == pytest.approx(sum(shares))
    assert [row.percent.high for row in table][: len(shares)] == sorted(
        (row.percent.high or 0 for row in table if row.basis is Basis.PREDICTED), reverse=True
    )


def test_only_what_is_in_force_and_happens_needs_a_price() -> None:
    rates = {**ZERO, KernelEvent.CONTEXT_SWITCH: counted_rate(5, "made")}
    assert events_in_force(SKYLAKE, rates, KNOWLEDGE) == {"rsb-fill"}
    assert events_in_force(OFF, ALL, KNOWLEDGE) == set()


def test_a_sum_with_an_unbounded_part_is_not_bounded() -> None:
    both = sum_rates(
        [KernelEvent.SYSTEM_CALL, KernelEvent.INTERRUPT],
        {KernelEvent.INTERRUPT: counted_rate(7, "made")},
    )
    assert (both.value, both.low, both.high) == (None, 7, None)


def test_prices_beside_other_load_are_as_many_times_dearer() -> None:
    [price] = paced(processor(verw=10), 1.5).prices
    assert (price.ns, price.low, price.high) == pytest.approx((15, 13.5, 16.5))


def test_a_bill_of_a_mode_that_is_none_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "prices" / "bills"
    folder.mkdir(parents=True)
    (folder / "x.yml").write_text(
        "bills: x\noperation: o\nsource: s\nper: [system-call]\nmodes:\n"
        "- {mode: a, title: a, events: {}}\n"
        "- {mode: b, title: b, events: {}, in_force: [mds/never]}\n"
    )
    with pytest.raises(InvalidInput, match="no mode 'mds/never'"):
        bills_of_questions(Catalog(tmp_path))
