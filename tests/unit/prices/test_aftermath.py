"""What runs behind an event: made timings whose costs are known."""

from __future__ import annotations

import random

import pytest
from pydantic import ValidationError

from mitigauge.analysis.prices.aftermath import MIXED, Followed, aftermath_of, followed
from mitigauge.analysis.prices.definitions import (
    Aftermath,
    BranchKind,
    Machine,
    Price,
    Processor,
    Refill,
    Source,
    WorkingSet,
)
from mitigauge.analysis.prices.prediction import BEHIND, predicted

TRUE = {"indirect": 5.5, "taken": 2.5, "returns": 9.0}


def timed(
    scatter: float = 0.03, *, ceiling: int = 1 << 20, mixed: float = 1.0, n: int = 6
) -> dict[Followed, list[float]]:
    """Processes of every working set; *mixed*: how much more mixed sets cost than their parts."""
    draw = random.Random(3)

    def once(kind: str, size: int) -> float:
        if kind != MIXED:
            return 40.0 + TRUE[kind] * min(size, ceiling)
        return mixed * (40.0 + sum(cost * min(size // 3, ceiling) for cost in TRUE.values()))

    return {
        (kind, size): [once(kind, size) * draw.gauss(1.0, scatter) for _ in range(n)]
        for kind, size in followed()
    }


def of(event: str, data: dict[Followed, list[float]]) -> Aftermath:
    told = aftermath_of(event, data)
    assert told
    return told


def test_the_cost_of_a_branch_is_found_with_its_interval() -> None:
    told = of("branch-eviction", timed())
    for refill in told.refills:
        true = TRUE[refill.branches.value]
        assert refill.ns == pytest.approx(true, rel=0.05)
        assert refill.low < true < refill.high
        assert refill.high - refill.low < 0.2 * true
    assert told.once == pytest.approx(40.0, rel=0.2)
    assert told.is_usable


def test_a_ceiling_is_found() -> None:
    told = of("branch-eviction", timed(ceiling=1024))
    assert {refill.ceiling for refill in told.refills} == {1024}
    few, many = (told.of({BranchKind.TAKEN: n})[0] for n in (1024, 100_000))
    assert few == many


def test_an_aftermath_that_does_not_tell_mixed_sets_is_not_usable() -> None:
    assert not of("branch-eviction", timed(mixed=1.4)).is_usable
    assert of("branch-eviction", timed(mixed=1.15)).is_usable


def test_too_few_processes_tell_none() -> None:
    data = timed()
    data["taken", 64] = data["taken", 64][:4]
    assert aftermath_of("branch-eviction", data) is None


def test_an_event_is_called_as_bills_call_it() -> None:
    assert of("ibpb-msr", timed()).event == "ibpb"


SET = WorkingSet(branches={BranchKind.TAKEN: 10}, predicted=1.0, measured=1.0, low=0.9, high=1.1)


def processor(*aftermaths: Aftermath) -> Processor:
    source = Source(title="here")
    price = Price(event="ibpb", ns=1000, low=980, high=1020, source=source)
    machine = Machine(
        machine="m", at="2026-11-28", program="0" * 64, cycle_ns=0.25, prices=(price,),
        aftermaths=aftermaths,
    )  # fmt: skip
    machine = machine.model_copy(update={"digest": machine.own_digest()})
    return Processor(processor="p", title="P", machines=(machine,), prices=(price,))


def refill(kind: BranchKind, ns: float, half: float) -> Refill:
    return Refill(branches=kind, ns=ns, low=ns - half, high=ns + half, ceiling=4096)


def test_a_prediction_has_what_an_event_makes_forget() -> None:
    behind = {BranchKind.TAKEN: 300.0, BranchKind.RETURNS: 10.0}
    refills = (refill(BranchKind.TAKEN, 2.0, 0.5), refill(BranchKind.RETURNS, 10.0, 1.0))
    told = Aftermath(event="ibpb", once=0, refills=refills, working_sets=(SET,))
    alone = predicted({"ibpb": 2}, processor(), behind)
    with_it = predicted({"ibpb": 2}, processor(told), behind)
    assert alone.ns == 2000
    assert with_it.ns == 2000 + 2 * (300 * 2.0 + 10 * 10.0)
    assert with_it.parts[1].event == f"ibpb{BEHIND}"
    assert with_it.high - with_it.low > alone.high - alone.low
    assert predicted({"ibpb": 2}, processor(told)).ns == 2000


def test_an_aftermath_of_another_event_changes_nothing() -> None:
    told = Aftermath(
        event="branch-eviction", once=0, refills=(refill(BranchKind.TAKEN, 2.0, 0.5),),
        working_sets=(SET,),
    )  # fmt: skip
    assert predicted({"ibpb": 1}, processor(told), {BranchKind.TAKEN: 300.0}).ns == 1000


def test_a_changed_aftermath_is_noticed() -> None:
    machine = processor(
        Aftermath(event="ibpb", once=0, refills=(refill(BranchKind.TAKEN, 2.0, 0.5),))
    ).machines[0]
    forged = machine.model_dump(mode="json")
    forged["aftermaths"][0]["refills"][0]["ns"] = 2.1
    with pytest.raises(ValidationError, match="digest"):
        Machine.model_validate(forged)
