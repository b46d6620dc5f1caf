"""Prices for `mitigauge cost`: out of this processor's file, or measured beside the load of now."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cli.output import remark

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from mitigauge.analysis.prices.definitions import Machine, Processor
    from mitigauge.analysis.prices.identity import Recognised
    from mitigauge.analysis.prices.trust import Trust

SYSTEM_CALL = "system-call"
# Processes of all events together, and of each.
PROCESSES, FEWEST, MOST = 350, 12, 60
# For the pace of now, where prices are stored.
PACE_S = 4.0
# How far predictions lie off what loads are measured to lose, percent, root mean square of what
# `make bench-cost` can tell (docs/prices.md): prices are made in short loops, loads run colder.
OFF_IN_LOADS = 26.0


class Prices(NamedTuple):
    """What is known of this machine's events."""

    processors: Sequence[Processor]
    """One for each kind of core; empty: no prices."""
    refused: Mapping[str, str]
    """Why events have no price."""
    source: str
    trust: Trust
    title: str
    notes: Sequence[str]


def stored_prices(name: str) -> Prices | None:
    """Those of a file; None where no file is of each kind of core that this machine has."""
    from cli.price_here import kinds_of_cores, recognised_here
    from cli.price_predict import require_known
    from mitigauge.analysis.prices.processors import processors_of, processors_with
    from mitigauge.measurement.catalog import Catalog

    known = processors_of(Catalog())
    if name:
        require_known([name], known)
        note = "the prices are of a processor that was named, not of this one's file"
        return _prices([known[name]], [], f"prices/processors/{name}.yml", [note])
    kinds = [recognised_here(kind) for kind in kinds_of_cores()]
    stored = [processors_with(kind.identity, known.values()) for kind in kinds]
    if not all(stored):
        return None
    files = ", ".join(f"prices/processors/{each.processor}.yml" for [each] in stored)
    return _prices([each for [each] in stored], kinds, files, [])


def measured_prices(seconds: float, events: Collection[str]) -> Prices:
    """Of *events*, each kind of core by itself, beside whatever runs now.

    Where they cannot be measured there are none, with a note that says why.
    """
    from cli.price_here import kinds_of_cores, recognised_here
    from mitigauge.analysis.prices.machine_file import with_machine
    from mitigauge.core.errors import NotReady

    kinds = [recognised_here(kind) for kind in kinds_of_cores()]
    if not seconds or not events:
        return _prices([], kinds, "none are stored, and none were measured", [])
    remark(f"prices of this processor are in no file: measuring them, {seconds:.0f} s")
    try:
        machines = _timed(seconds, {*events, SYSTEM_CALL})
    except NotReady as error:
        return _prices([], kinds, "none", [f"no prices: {error.message}"])
    refused = {event: why for machine in machines for event, why in machine.refused.items()}
    if not all(machine.prices for machine in machines):
        return _prices([], kinds, "none", ["no event has a usable price here"], refused)
    processors = [
        with_machine(None, machine, kind, "measured now")
        for kind, machine in zip(kinds, machines, strict=True)
    ]
    return _prices(processors, kinds, "measured now, beside what runs", [], refused)


def at_pace_of_now(prices: Prices, seconds: float) -> Prices:
    """Stored *prices*, as much dearer as a system call is now: they are of a calm processor.

    Where that cannot be measured they stay, with a note.
    """
    from mitigauge.analysis.prices.definitions import paced
    from mitigauge.core.errors import NotReady

    seconds = min(seconds, PACE_S)
    unpaced = prices._replace(
        notes=[*prices.notes, "prices are those of a calm processor: a busy one takes longer"]
    )
    if not seconds:
        return unpaced
    try:
        machines = _timed(seconds, {SYSTEM_CALL})
    except NotReady:
        return unpaced
    paces = [_pace(*both) for both in zip(prices.processors, machines, strict=True)]
    if not all(paces):
        return unpaced
    factors = ", ".join(f"{pace:.2f}" for pace in paces)
    return prices._replace(
        processors=[paced(of, pace) for of, pace in zip(prices.processors, paces, strict=True)],
        notes=[*prices.notes, f"prices × {factors}: as much longer a system call takes now"],
    )


def _timed(seconds: float, events: Collection[str]) -> list[Machine]:
    from cli.price_here import Asked, kinds_of_cores, only_on, recognised_here, timed_here

    kinds = kinds_of_cores()
    processes = min(MOST, max(FEWEST, PROCESSES // len(events)))
    asked = Asked("here", seconds / len(kinds), processes, frozenset(events), is_typical=True)
    machines = []
    for kind, cpus in kinds.items():
        with only_on(cpus):
            machines.append(timed_here(recognised_here(kind), asked))
    return machines


def _pace(stored: Processor, machine: Machine) -> float:
    """How often the stored price of a system call goes into that of now; 0: cannot tell."""
    before = stored.price_of(SYSTEM_CALL)
    now = [price.ns for price in machine.prices if price.event == SYSTEM_CALL]
    return now[0] / before.ns if before and now else 0.0


def _prices(
    processors: Sequence[Processor],
    kinds: Sequence[Recognised],
    source: str,
    notes: Sequence[str],
    refused: Mapping[str, str] | None = None,
) -> Prices:
    """*kinds*: what this machine's cores are, where that is asked."""
    from mitigauge.analysis.prices.trust import Trust, trust_of

    trusts = {trust_of(each) for each in processors}
    trust = next(
        (word for word in (Trust.NOT_TRUSTED, Trust.CANNOT_TELL) if word in trusts),
        Trust.TRUSTED if trusts else Trust.CANNOT_TELL,
    )
    names = [kind.identity.name or kind.identity.file_name for kind in kinds]
    if len(kinds) > 1:
        kinds_of = ", ".join(kind.identity.cores for kind in kinds)
        notes = [*notes, f"cores of several kinds ({kinds_of}): figures are ranges over them"]
    if any(kind.identity.masked for kind in kinds):
        notes = [*notes, f"masked model: {kinds[0].identity.masked}"]
    own = {
        event: why
        for each in processors
        for machine in each.machines
        for event, why in machine.refused.items()
    }
    title = ", ".join(dict.fromkeys(names or [each.title for each in processors]))
    processors = [widened(each) for each in processors]
    return Prices(processors, {**own, **(refused or {})}, source, trust, title, notes)


def widened(processor: Processor) -> Processor:
    """With the error that its prices have in loads."""
    misfit = max(processor.misfit_percent, OFF_IN_LOADS)
    return processor.model_copy(update={"misfit_percent": misfit})


def call_ns(prices: Prices) -> float:
    """The least that a system call takes here; 0: not known."""
    calls = [of.low for each in prices.processors if (of := each.price_of(SYSTEM_CALL))]
    return min(calls, default=0.0)
