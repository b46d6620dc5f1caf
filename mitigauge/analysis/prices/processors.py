"""Processors with prices, and modes with bills: the files of ``prices/``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mitigauge.analysis.claims.files import ClaimFile, read_claims
from mitigauge.analysis.prices.claim_prediction import Rates
from mitigauge.analysis.prices.definitions import INSTRUCTION, Identity, Processor
from mitigauge.analysis.prices.ranking import Bills
from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.catalog import Catalog, in_natural_order, read_definition, require_name


def processors_of(catalog: Catalog) -> dict[str, Processor]:
    """By name. Raises :class:`InvalidInput` naming file and line of a bad one."""
    found = {}
    for path in in_natural_order(catalog.root.glob("prices/processors/*.yml")):
        processor = read_definition(path, Processor, catalog.root)
        require_name(path, processor.processor, path.stem)
        _require_events(path, {price.event for price in processor.prices}, catalog)
        found[processor.processor] = processor
    _require_one_file_each(found)
    return found


def _require_one_file_each(found: dict[str, Processor]) -> None:
    by_identity: dict[str, str] = {}
    for name, processor in found.items():
        if processor.identity is None:
            continue
        identity = f"{processor.identity.file_name} {processor.identity.flags}"
        other = by_identity.setdefault(identity, name)
        if other != name:
            raise InvalidInput(
                f"{other}.yml and {name}.yml are of one processor",
                hint="Put the machines of both into one file.",
            )


def processors_with(identity: Identity, among: Iterable[Processor]) -> list[Processor]:
    """Those of *identity*'s number, kind of core and flags: one, or none."""
    key = (identity.file_name, identity.flags)
    return [
        each
        for each in among
        if each.identity and (each.identity.file_name, each.identity.flags) == key
    ]


def is_like(processor: Processor, word: str) -> bool:
    """Whether *word* stands in what the processor is called; letter case does not matter."""
    of = processor.identity
    names = [processor.processor, processor.title, processor.microarchitecture]
    return word.lower() in " ".join([*names, of.name if of else ""]).lower()


def bills_of_questions(catalog: Catalog) -> dict[str, Bills]:
    """The files of ``prices/bills/`` by name. Raises :class:`InvalidInput` for a bad one."""
    found = {}
    for path in in_natural_order(catalog.root.glob("prices/bills/*.yml")):
        bills = read_definition(path, Bills, catalog.root)
        require_name(path, bills.bills, path.stem)
        _require_events(path, {event for mode in bills.modes for event in mode.events}, catalog)
        _require_modes(path, bills, catalog)
        found[bills.bills] = bills
    return found


def _require_modes(path: Path, bills: Bills, catalog: Catalog) -> None:
    for name in (name for mode in bills.modes for name in mode.in_force):
        if name not in catalog.mode_names:
            raise InvalidInput(
                f"{path}: no mode {name!r}", hint="Modes are family/mode of the files of modes/."
            )


def rates_of_tables(catalog: Catalog) -> dict[str, Rates]:
    """The files of ``prices/rates/`` by name. Raises :class:`InvalidInput` for a bad one."""
    known = bills_of_questions(catalog)
    found = {}
    for path in in_natural_order(catalog.root.glob("prices/rates/*.yml")):
        rates = read_definition(path, Rates, catalog.root)
        require_name(path, rates.rates, path.stem)
        bills = known.get(rates.bills)
        modes = {mode.mode for mode in bills.modes} if bills else set()
        for mode in sorted(set(rates.modes.values()) - modes):
            raise InvalidInput(
                f"{path}: no mode {mode!r} in the bills {rates.bills!r}",
                hint=f"Known bills: {', '.join(known)}; their modes: {', '.join(modes) or 'none'}.",
            )
        found[rates.rates] = rates
    return found


def claims_of(rates: Rates, catalog: Catalog) -> ClaimFile:
    """The published table that *rates* are of. Raises :class:`InvalidInput`."""
    return read_claims(catalog.root / "experiments" / "claims" / f"{rates.claims}.yml")


def _require_events(path: Path, events: set[str], catalog: Catalog) -> None:
    known = {INSTRUCTION, *catalog.events}
    for event in sorted(events - known):
        raise InvalidInput(
            f"{path}: no event {event!r}", hint=f"Known: {', '.join(sorted(known))}."
        )
