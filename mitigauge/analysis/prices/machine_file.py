"""The file of a processor with what a machine of its gave: made, or added to. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

import yaml

from mitigauge.analysis.prices.definitions import (
    DIGITS,
    Aftermath,
    HeldOut,
    Machine,
    Price,
    PriceKind,
    Processor,
    combined,
)
from mitigauge.analysis.prices.identity import Recognised
from mitigauge.analysis.prices.prediction import BEHIND
from mitigauge.analysis.prices.probe import HELPERS, ListedEvent, ProbedEvent, prices_of
from mitigauge.core.errors import Conflict

LINE_WIDTH = 96
MOST_REFUSED = 300


def machine_of(
    name: str,
    found: Recognised,
    probed: Sequence[ProbedEvent],
    listed: Sequence[ListedEvent],
    *,
    at: date,
    kernel: str,
    program: str,
    cycle_ns: float,
    aftermaths: Sequence[Aftermath] = (),
) -> Machine:
    """What the processes of one machine say, as its file has it."""
    prices = tuple(prices_of(probed, f"`price measure`, machine {name}, {at}"))
    machine = Machine(
        machine=name,
        at=at,
        microcode=found.microcode,
        kernel=kernel[:200],
        is_virtual=found.is_virtual,
        program=program,
        cycle_ns=cycle_ns,
        prices=prices,
        refused={**_refused(probed, listed), **dict(_unusable(aftermaths))},
        checks=tuple(held_out(probed, listed, prices)),
        aftermaths=tuple(each for each in aftermaths if each.is_usable),
    )
    return machine.model_copy(update={"digest": machine.own_digest()})


def _refused(probed: Sequence[ProbedEvent], listed: Sequence[ListedEvent]) -> dict[str, str]:
    return {
        each.event: (each.refused or f"not usable: {each.unusable}")[:MOST_REFUSED]
        for each, of in zip(probed, listed, strict=True)
        if not each.is_usable and not of.bill and each.event not in HELPERS
    }


def _unusable(aftermaths: Sequence[Aftermath]) -> Iterator[tuple[str, str]]:
    """Aftermaths that do not tell the mixed sets, with the reason."""
    for each in aftermaths:
        if not each.is_usable:
            off = ", ".join(f"{100 * of.off:+.0f} %" for of in each.working_sets)
            why = f"not usable: mixed sets of branches are off by {off}"
            yield f"{each.event}{BEHIND}", why[:MOST_REFUSED]


def held_out(
    probed: Sequence[ProbedEvent], listed: Sequence[ListedEvent], prices: Sequence[Price]
) -> list[HeldOut]:
    """Usable checks whose events all have a price."""
    known = {price.event: price.ns for price in prices}
    return [
        HeldOut(
            check=each.event,
            what=each.pair,
            bill=of.parts,
            predicted=round(sum(known[e] * times for e, times in of.parts.items()), DIGITS),
            measured=round(each.price.mean, DIGITS),
            low=round(each.price.low, DIGITS),
            high=round(each.price.high, DIGITS),
        )
        for each, of in zip(probed, listed, strict=True)
        if of.bill and each.is_usable and each.price and known.keys() >= of.parts.keys()
    ]


def misfit_percent(machines: Sequence[Machine]) -> float:
    """Root mean square of what predictions of held-out operations are off, in percent."""
    off = [check.off for machine in machines for check in machine.checks]
    return round(100 * math.sqrt(sum(each**2 for each in off) / len(off)), 1) if off else 0.0


def require_alike(before: Processor | None, found: Recognised) -> None:
    """Raise :class:`Conflict` where the file *before* is of a processor with other flags."""
    if before and before.identity and before.identity.flags != found.identity.flags:
        raise Conflict(
            f"{before.processor} has other flags than this machine, though the same number",
            hint="Its hypervisor hides some, or adds some. Give a file of its own: --name.",
        )


def with_machine(
    before: Processor | None, machine: Machine, found: Recognised, source: str
) -> Processor:
    """The processor's file with *machine* in it; one of the same name is replaced.

    Published prices stay. Raises :class:`Conflict` where the file is of a processor with other
    flags, and ValidationError where no price is left.
    """
    require_alike(before, found)
    others = [m for m in before.machines if m.machine != machine.machine] if before else []
    machines = (*others, machine)
    told = combined(machines)
    newest = {price.event: price for each in machines for price in each.prices}
    from_several = {"title": source} if len(machines) > 1 else {}
    prices = [
        Price(event=event, ns=ns, low=low, high=high, kind=newest[event].kind,
              source=newest[event].source.model_copy(update=from_several))
        for event, (ns, low, high) in told.items()
    ]  # fmt: skip
    published = [
        price
        for price in (before.prices if before else ())
        if price.kind is PriceKind.PUBLISHED and price.event not in told
    ]
    return Processor(
        processor=before.processor if before else found.identity.file_name,
        title=before.title if before else found.identity.name or found.identity.file_name,
        microarchitecture=found.microarchitecture,
        microcode=machine.microcode,
        misfit_percent=misfit_percent(machines),
        identity=found.identity,
        machines=machines,
        prices=(*prices, *published),
    )


class _Indented(yaml.SafeDumper):  # type: ignore[misc]
    """Writes a list two spaces to the right of its key, as the project's files have it."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """As PyYAML's, with an indent whatever *indentless* says."""
        super().increase_indent(flow, indentless and False)


def as_yaml(processor: Processor) -> str:
    """The file's text."""
    body: Mapping[str, object] = processor.model_dump(mode="json", exclude_defaults=True)
    text = yaml.dump(body, Dumper=_Indented, sort_keys=False, width=LINE_WIDTH, allow_unicode=True)
    return str(text)
