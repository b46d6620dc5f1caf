"""A processor's file with the machines that were measured."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
import yaml

from mitigauge.analysis.prices.definitions import (
    HeldOut,
    Machine,
    Price,
    PriceKind,
    Processor,
    Source,
)
from mitigauge.analysis.prices.identity import recognised
from mitigauge.analysis.prices.machine_file import as_yaml, misfit_percent, with_machine
from mitigauge.analysis.prices.processors import processors_of
from mitigauge.core.errors import Conflict, InvalidInput
from mitigauge.measurement.catalog import Catalog, read_definition
from tests.unit.prices.test_identity import cpuinfo

FOUND = recognised(cpuinfo("AuthenticAMD", 26, 2, "fpu avx512f"))


def price(event: str, ns: float, half: float, kind: PriceKind = PriceKind.MEASURED) -> Price:
    return Price(
        event=event, ns=ns, low=ns - half, high=ns + half, kind=kind, source=Source(title="here")
    )


def machine(name: str, *prices: Price, off: tuple[float, ...] = (0.01,)) -> Machine:
    made = Machine(
        machine=name, at=date(2026, 11, 28), program="a" * 64, cycle_ns=0.25, prices=prices,
        checks=tuple(
            HeldOut(check=f"check-{i}", what="x", bill={"verw": 1}, predicted=100 * (1 + each),
                    measured=100, low=99, high=101)
            for i, each in enumerate(off)
        ),
    )  # fmt: skip
    return made.model_copy(update={"digest": made.own_digest()})


def written(tmp_path: Path, processor: Processor) -> Path:
    file = tmp_path / f"{processor.processor}.yml"
    file.write_text(as_yaml(processor))
    return file


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    processor = with_machine(None, machine("one", price("verw", 7.0, 0.5)), FOUND, "the file")
    file = written(tmp_path, processor)
    assert read_definition(file, Processor, tmp_path) == processor
    assert processor.processor == "amd-26-2-1"
    assert processor.microarchitecture == "Zen 5"


def test_the_spread_of_several_machines_is_part_of_the_price() -> None:
    first = with_machine(None, machine("one", price("verw", 7.0, 0.5)), FOUND, "all")
    both = with_machine(first, machine("two", price("verw", 9.0, 0.5)), FOUND, "all")
    [verw] = both.prices
    assert (verw.ns, verw.low, verw.high) == (8.0, 6.5, 9.5)
    again = with_machine(both, machine("two", price("verw", 7.0, 0.5)), FOUND, "all")
    assert [(p.ns, p.low, p.high) for p in again.prices] == [(7.0, 6.5, 7.5)]
    assert len(again.machines) == 2


def test_a_published_price_stays_until_it_is_measured() -> None:
    told = price("ibpb", 2000.0, 500.0, PriceKind.PUBLISHED)
    before = Processor(processor="p", title="P", prices=(told,))
    after = with_machine(before, machine("one", price("verw", 7.0, 0.5)), FOUND, "all")
    assert after.price_of("ibpb") == told
    measured = with_machine(after, machine("one", price("ibpb", 900.0, 5.0)), FOUND, "all")
    assert [p.kind for p in measured.prices] == [PriceKind.MEASURED]


def test_a_machine_with_other_flags_does_not_go_into_the_file() -> None:
    first = with_machine(None, machine("one", price("verw", 7.0, 0.5)), FOUND, "all")
    other = recognised(cpuinfo("AuthenticAMD", 26, 2, "fpu"))
    with pytest.raises(Conflict, match="other flags"):
        with_machine(first, machine("two", price("verw", 7.0, 0.5)), other, "all")


def changed(file: Path, change: str) -> None:
    body = yaml.safe_load(file.read_text())
    if change == "a figure of a machine":
        body["machines"][0]["prices"][0]["ns"] = 6.9
    elif change == "the price above it":
        body["prices"][0]["ns"] = 6.9
    elif change == "no digest":
        del body["machines"][0]["digest"]
    elif change == "a price of nothing":
        body["prices"][0].update(ns=0, low=0)
    elif change == "of another schema":
        body["format"] = 2
    elif change == "damaged":
        file.write_text(file.read_text()[:-40])
        return
    file.write_text(yaml.safe_dump(body))


CHANGES = (
    *("a figure of a machine", "the price above it", "no digest", "a price of nothing"),
    *("of another schema", "damaged"),
)


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_was_changed_is_refused(tmp_path: Path, change: str) -> None:
    file = written(
        tmp_path, with_machine(None, machine("one", price("verw", 7.0, 0.5)), FOUND, "all")
    )
    changed(file, change)
    with pytest.raises(InvalidInput):
        read_definition(file, Processor, tmp_path)


def test_two_files_of_one_processor_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "prices" / "processors"
    folder.mkdir(parents=True)
    events = tmp_path / "modes" / "events"
    events.mkdir(parents=True)
    (events / "verw.yml").write_text("event: verw\ntitle: VERW\nhelp: It flushes.\n")
    one = with_machine(None, machine("one", price("verw", 7.0, 0.5)), FOUND, "all")
    written(folder, one)
    assert list(processors_of(Catalog(tmp_path))) == ["amd-26-2-1"]
    written(folder, one.model_copy(update={"processor": "other"}))
    with pytest.raises(InvalidInput, match="are of one processor"):
        processors_of(Catalog(tmp_path))


@pytest.mark.parametrize(("off", "is_trusted"), [
    ((0.1, -0.1, 0.14, 0.1, 0.2), True),
    ((0.1, -0.1, 0.16, 0.1, 0.2), False),
    ((0.0, 0.0, 0.0, 0.0, -0.31), False),
    ((), False),
])  # fmt: skip
def test_prices_are_trusted_by_what_they_were_not_made_of(
    off: tuple[float, ...], is_trusted: bool
) -> None:
    assert machine("one", off=off).is_trusted is is_trusted


def test_how_far_checks_are_off_is_the_error_of_every_price() -> None:
    assert misfit_percent([machine("one", off=(0.1, -0.1))]) == 10.0
    assert misfit_percent([]) == 0.0
