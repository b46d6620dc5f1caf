"""Processors as pages and files have them, of made machines that no file of ours has."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from mitigauge.analysis.prices.definitions import (
    HeldOut,
    Identity,
    Machine,
    Price,
    PriceKind,
    Processor,
    Source,
)
from mitigauge.analysis.prices.trust import Trust, trust_of
from mitigauge.core.documents.csv_text import as_csv
from mitigauge.reporting.pages.price_processors import processor_view
from mitigauge.reporting.tables.downloads import PRICE_COLUMNS, price_rows

DIGEST = 64 * "0"
FORMULA = '=HYPERLINK("http://x")'


def price(event: str, ns: float = 100.0, **more: Any) -> Price:
    return Price(event=event, ns=ns, low=ns - 1, high=ns + 1, source=Source(title="x"), **more)


def held_out(predicted: float) -> HeldOut:
    """Of an operation that took 100 ns."""
    return HeldOut(
        check="check-made", what="made", bill={"verw": 1}, predicted=predicted, measured=100,
        low=99, high=101,
    )  # fmt: skip


def machine(
    name: str, *predicted: float, events: tuple[str, ...] = ("verw",), **more: Any
) -> Machine:
    made = Machine(
        machine=name, at=date(2026, 11, 28), program=DIGEST, cycle_ns=0.25,
        prices=tuple(price(event) for event in events),
        checks=tuple(held_out(each) for each in predicted), **more,
    )  # fmt: skip
    return made.model_copy(update={"digest": made.own_digest()})


def processor(*machines: Machine, **more: Any) -> Processor:
    told = dict.fromkeys(each.event for of in machines for each in of.prices)
    prices = tuple(price(event) for event in told) or (price("verw"),)
    return Processor(
        **{"processor": "p", "title": "P", "machines": machines, "prices": prices} | more
    )


@pytest.mark.parametrize(
    ("machines", "word"),
    [
        ([], Trust.CANNOT_TELL),
        ([machine("a")], Trust.CANNOT_TELL),
        ([machine("a", 100, 110, 114, 86, 129)], Trust.TRUSTED),
        ([machine("a", 100, 110, 114, 86, 131)], Trust.NOT_TRUSTED),
        ([machine("a", 100, 110, 114, 84, 116)], Trust.NOT_TRUSTED),
        ([machine("a", 100), machine("b", 150)], Trust.NOT_TRUSTED),
        ([machine("a", 150), machine("b", 100)], Trust.NOT_TRUSTED),
        ([machine("a", 100), machine("b")], Trust.TRUSTED),
    ],
)
def test_trust_is_told_by_what_no_price_is_made_of(machines: list[Machine], word: Trust) -> None:
    of = processor(*machines)
    assert trust_of(of) == processor_view(of).trusted == word


def test_each_machine_has_a_word_of_its_own() -> None:
    view = processor_view(processor(machine("a", 100), machine("b", 150), machine("c")))
    assert [each.trusted for each in view.machines] == ["trusted", "not_trusted", "cannot_tell"]


def test_a_machine_is_virtual_or_it_is_not() -> None:
    view = processor_view(processor(machine("a", is_virtual=True), machine("b")))
    assert [each.is_virtual for each in view.machines] == [True, False]


def test_a_price_is_of_the_machines_that_gave_it() -> None:
    both = processor(machine("a"), machine("b", events=("verw", "lfence")))
    view = processor_view(both)
    assert {each.event: each.machines for each in view.prices} == {
        "verw": ["a", "b"],
        "lfence": ["b"],
    }
    assert [row["machines"] for row in price_rows([view])] == ["a, b", "b"]


def test_what_is_refused_has_the_words_that_the_machine_gave() -> None:
    refused = {"ibpb": "Operation not permitted (prctl)", "no-such-event": "not usable: it varies"}
    view = processor_view(processor(machine("a", refused=refused)))
    [told] = view.machines
    assert [(each.event, each.title, each.why) for each in told.refused] == [
        ("ibpb", "IBPB", "Operation not permitted (prctl)"),
        ("no-such-event", "no-such-event", "not usable: it varies"),
    ]


@pytest.mark.parametrize(("masked", "cell"), [("says Zen 2, has AMX", "yes"), ("", "no")])
def test_a_masked_model_is_said(masked: str, cell: str) -> None:
    identity = Identity(
        vendor="AuthenticAMD", family=25, model=1, stepping=1, name="AMD", flags=DIGEST,
        masked=masked,
    )  # fmt: skip
    view = processor_view(processor(identity=identity))
    assert view.identity is not None
    assert view.identity.masked == masked
    assert f",AuthenticAMD,25,1,1,{cell},cannot_tell," in "".join(
        as_csv(PRICE_COLUMNS, price_rows([view]))
    )


def test_no_cell_of_the_csv_is_a_formula() -> None:
    source = Source(title=FORMULA, url="+1")
    prices = (Price(event="verw", ns=7, low=6, high=8, kind=PriceKind.PUBLISHED, source=source),)
    view = processor_view(processor(title=FORMULA, microarchitecture="@SUM(A1)", prices=prices))
    _, line = "".join(as_csv(PRICE_COLUMNS, price_rows([view]))).splitlines()
    assert line == (
        'p,"\'=HYPERLINK(""http://x"")",\'@SUM(A1),,,,,,cannot_tell,verw,7.0,6.0,8.0,published,,'
        '"\'=HYPERLINK(""http://x"")",\'+1'
    )
