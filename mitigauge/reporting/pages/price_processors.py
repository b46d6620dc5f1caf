"""Processors as their files have them. Files do not change while a service runs: read once."""

from __future__ import annotations

from functools import cache

from mitigauge.analysis.prices.definitions import (
    FAR,
    INSTRUCTION,
    NEAR,
    TRUSTED_SHARE,
    Aftermath,
    HeldOut,
    Identity,
    Machine,
    Price,
    Processor,
    WorkingSet,
)
from mitigauge.analysis.prices.processors import is_like
from mitigauge.analysis.prices.trust import trust_of, trust_of_machine
from mitigauge.analysis.profiles.exact.price_list import price_list
from mitigauge.reporting.pages.price_schemas import (
    AftermathView,
    HeldOutView,
    IdentityView,
    MachineView,
    NsInterval,
    PriceView,
    ProcessorPrices,
    RefillView,
    RefusedEvent,
    TrustRule,
    WorkingSetView,
)

INSTRUCTION_TITLE = "any other instruction"
TRUST_RULE = TrustRule(
    share_percent=100 * TRUSTED_SHARE, near_percent=100 * NEAR, far_percent=100 * FAR
)


def processors_like(model: str) -> list[ProcessorPrices]:
    """Those with *model* in what they are called; empty: all."""
    known = price_list().processors
    return [view for name, view in _every().items() if is_like(known[name], model)]


@cache
def _every() -> dict[str, ProcessorPrices]:
    return {name: processor_view(each) for name, each in price_list().processors.items()}


def processor_view(of: Processor) -> ProcessorPrices:
    """One file as a page shows it."""
    return ProcessorPrices(
        processor=of.processor,
        title=of.title,
        microarchitecture=of.microarchitecture,
        microcode=of.microcode,
        identity=_identity(of.identity) if of.identity else None,
        trusted=trust_of(of),
        misfit_percent=of.misfit_percent,
        machines=[_machine(each) for each in of.machines],
        prices=[_price(each, of) for each in of.prices],
    )


def _identity(of: Identity) -> IdentityView:
    return IdentityView(**{name: getattr(of, name) for name in IdentityView.model_fields})


def _machine(of: Machine) -> MachineView:
    return MachineView(
        machine=of.machine,
        at=of.at,
        microcode=of.microcode,
        kernel=of.kernel,
        is_virtual=of.is_virtual,
        cycle_ns=of.cycle_ns,
        trusted=trust_of_machine(of),
        refused=[
            RefusedEvent(event=event, title=_title(event), why=why)
            for event, why in of.refused.items()
        ],
        checks=[_held_out(each) for each in of.checks],
        aftermaths=[_aftermath(each) for each in of.aftermaths],
    )


def _held_out(of: HeldOut) -> HeldOutView:
    return HeldOutView(
        check=of.check,
        what=of.what,
        bill=of.bill,
        predicted=of.predicted,
        measured=_measured(of),
        off_percent=100 * of.off,
    )


def _aftermath(of: Aftermath) -> AftermathView:
    return AftermathView(
        event=of.event,
        title=_title(of.event),
        once=of.once,
        refills=[
            RefillView(
                branches=each.branches,
                cost=NsInterval(ns=each.ns, low=each.low, high=each.high),
                ceiling=each.ceiling,
            )
            for each in of.refills
        ],
        working_sets=[
            WorkingSetView(
                branches=each.branches,
                predicted=each.predicted,
                measured=_measured(each),
                off_percent=100 * each.off,
            )
            for each in of.working_sets
        ],
    )


def _measured(of: HeldOut | WorkingSet) -> NsInterval:
    return NsInterval(ns=of.measured, low=of.low, high=of.high)


def _price(price: Price, of: Processor) -> PriceView:
    return PriceView(
        event=price.event,
        title=_title(price.event),
        ns=price.ns,
        low=price.low,
        high=price.high,
        kind=price.kind,
        source=price.source.title,
        url=price.source.url,
        machines=[
            machine.machine
            for machine in of.machines
            if any(own.event == price.event for own in machine.prices)
        ],
    )


def _title(event: str) -> str:
    """Its name where no file of modes/events/ has it, as with those that a machine refused."""
    if event == INSTRUCTION:
        return INSTRUCTION_TITLE
    known = price_list().events.get(event)
    return known.title if known else event
