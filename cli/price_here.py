"""`mitigauge price measure --here`: prices of this machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import count_off, print_table, say

if TYPE_CHECKING:
    from mitigauge.analysis.prices.definitions import Machine, Processor
    from mitigauge.analysis.prices.identity import Recognised

CPUINFO = Path("/proc/cpuinfo")
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
# Of the time of a measurement: what the aftermaths of barriers get.
AFTERMATHS = 0.3


def measure(
    here: Annotated[
        bool, typer.Option("--here", help="On this machine; it needs no root and no reboot.")
    ] = False,
    seconds: Annotated[float, typer.Option(help="For all of it.", min=5, max=3600)] = 60.0,
    processes: Annotated[
        int, typer.Option(help="Of each event; each has a layout of its own.", min=5, max=200)
    ] = 12,
    machine: Annotated[
        str, typer.Option(help="What this machine is called in the file.")
    ] = "first",
    name: Annotated[
        str, typer.Option(help="Of the processor's file; else by family and model.")
    ] = "",
    output: Annotated[
        Path | None, typer.Option("-o", help="Write or extend the processor's file in this folder.")
    ] = None,
) -> None:
    """Time what events of the processor and the kernel cost on this machine, in a minute.

    A program is compiled once and runs in many short processes. It needs no root, changes nothing
    and leaves nothing behind. An event that this machine does not give (a hypervisor keeps an IBPB
    from its guests) is refused by name. Operations that no price is made of are predicted and
    measured too: a processor whose prices do not tell them is marked.

    Example: mitigauge price measure --here -o prices/processors
    """
    from mitigauge.analysis.prices.identity import recognised
    from mitigauge.analysis.prices.machine_file import require_alike
    from mitigauge.core.errors import InvalidInput

    if not here:
        raise InvalidInput(
            "say where: --here measures on this machine",
            hint="`mitigauge price plan HOST` plans boots of a host that tell its prices.",
        )
    found = recognised(CPUINFO.read_text(errors="replace"), _caches())
    for word in (machine, name or found.identity.file_name):
        _require_name(word)
    before = _before(output, name or found.identity.file_name)
    require_alike(before, found)
    told = _timed(found, machine, seconds, processes)
    called = found.identity.name or found.identity.file_name
    say(f"{called}, {found.microarchitecture or 'of a microarchitecture that is not known here'}")
    if found.identity.masked:
        say(f"masked model: {found.identity.masked}")
    _print_prices(told)
    _print_aftermaths(told)
    _print_checks(told)
    if output is not None:
        _write(output, before, told, found, name)


def _timed(found: Recognised, machine: str, seconds: float, processes: int) -> Machine:
    """What the program says of this machine, within some *seconds*."""
    from datetime import UTC, datetime
    from random import SystemRandom

    from mitigauge.analysis.prices.aftermath import EVENTS, aftermath_of
    from mitigauge.analysis.prices.machine_file import machine_of
    from mitigauge.analysis.prices.probe import FEWEST, summarised
    from mitigauge.core.settings import get_settings
    from pipelines.adapters.price_probe import compiled, time_aftermaths, time_all

    probe = compiled(get_settings().home / "tools")
    seed = SystemRandom().getrandbits
    listed, runs = time_all(
        probe, seconds=(1 - AFTERMATHS) * seconds, processes=processes, seed=seed(31),
        progress=partial(count_off, "process"),
    )  # fmt: skip
    behind = time_aftermaths(
        probe, EVENTS, seconds=AFTERMATHS * seconds, processes=FEWEST, seed=seed(31),
        progress=partial(count_off, "process of an aftermath"),
    )  # fmt: skip
    probed = [summarised(each, runs[each.event]) for each in listed]
    cycles = [c for of in runs.values() for run in of for c in run.cycle_ns if c > 0]
    told = [aftermath_of(event, timed) for event, timed in behind.items()]
    return machine_of(
        machine, found, probed, listed, at=datetime.now(UTC).date(), kernel=_kernel(),
        program=probe.digest, cycle_ns=round(min(cycles, default=1.0), 5),
        aftermaths=[each for each in told if each],
    )  # fmt: skip


def _require_name(word: str) -> None:
    """Raise InvalidInput for what no file and no machine in it may be called."""
    from pydantic import TypeAdapter, ValidationError

    from mitigauge.core.errors import InvalidInput
    from mitigauge.core.field_types import Name
    from mitigauge.core.hostile_text import quoted

    try:
        TypeAdapter(Name).validate_python(word)
    except ValidationError:
        raise InvalidInput(
            f"{quoted(word)} is no name", hint="At most 63 letters, digits and . _ -."
        ) from None


def _before(output: Path | None, name: str) -> Processor | None:
    """What the file says already; None where there is none. Read before anything is measured."""
    from mitigauge.analysis.prices.definitions import Processor
    from mitigauge.core.errors import InvalidInput
    from mitigauge.measurement.catalog import read_definition

    if output is None:
        return None
    if not output.is_dir():
        raise InvalidInput(f"{output} is no folder", hint="Give prices/processors, or make it.")
    file = output / f"{name}.yml"
    return read_definition(file, Processor, output) if file.exists() else None


def _caches() -> str:
    """``L1d 48K, L2 1024K, L3 32768K``; empty where the kernel does not say."""
    said = []
    for folder in sorted(CACHES.glob("index*")):
        level, kind, size = (
            (folder / each).read_text().strip() if (folder / each).exists() else ""
            for each in ("level", "type", "size")
        )
        suffix = {"Data": "d", "Instruction": "i"}.get(kind, "")
        said.append(f"L{level}{suffix} {size}")
    return ", ".join(said)


def _kernel() -> str:
    import platform

    return platform.release()


def _print_prices(machine: Machine) -> None:
    print_table(
        ["event", "ns", "95 %", "known how"],
        [
            [of.event, f"{of.ns:.4g}", f"{of.low:.4g} to {of.high:.4g}", of.kind.value]
            for of in machine.prices
        ],
        empty="No event has a usable price here.",
    )
    for event, why in machine.refused.items():
        say(f"{event}: {why}" if why.startswith("not usable") else f"{event}: refused: {why}")


def _print_aftermaths(machine: Machine) -> None:
    """What an event costs those behind it, and whether that tells mixed sets of branches."""
    for of in machine.aftermaths:
        costs = ", ".join(
            f"{each.ns:.3g} [{each.low:.3g}, {each.high:.3g}] {each.branches.value}"
            for each in of.refills
        )
        say(f"behind {of.event}, ns for each branch that runs first: {costs}")
        sets = "; ".join(
            f"{sum(each.branches.values())} branches {each.predicted:.4g} predicted, "
            f"{each.measured:.4g} measured ({100 * each.off:+.0f} %)"
            for each in of.working_sets
        )
        say(f"  mixed sets that it was not made of, ns: {sets}")


def _print_checks(machine: Machine) -> None:
    from mitigauge.analysis.prices.definitions import FAR, NEAR

    if not machine.checks:
        say("No operation could be predicted and measured, so these prices are not trusted.")
        return
    print_table(
        ["operation that no price is made of", "predicted, ns", "measured, ns", "off"],
        [
            [of.what, f"{of.predicted:.4g}", f"{of.measured:.4g} [{of.low:.4g}, {of.high:.4g}]",
             f"{100 * of.off:+.1f} %"]
            for of in machine.checks
        ],
        empty="",
    )  # fmt: skip
    near = sum(abs(of.off) <= NEAR for of in machine.checks)
    rule = f"{near} of {len(machine.checks)} within {100 * NEAR:.0f} %"
    word = "Trusted" if machine.is_trusted else "NOT TRUSTED"
    say(f"{word}: {rule}; asked for are 80 %, and all within {100 * FAR:.0f} %.")


def _write(
    output: Path, before: Processor | None, machine: Machine, found: Recognised, name: str
) -> None:
    from mitigauge.analysis.prices.machine_file import as_yaml, with_machine
    from mitigauge.core.errors import InvalidInput

    if not machine.prices:
        raise InvalidInput(
            "nothing was written: no event has a usable price",
            hint="Run it when the machine is calmer, or with more --processes.",
        )
    processor = with_machine(before, machine, found, "`price measure`, the machines of this file")
    if name:
        processor = processor.model_copy(update={"processor": name})
    file = output / f"{processor.processor}.yml"
    partial = file.with_suffix(".partial")
    partial.write_text(as_yaml(processor), encoding="utf-8")
    partial.replace(file)
    say(f"{file}: {len(processor.prices)} prices, {len(processor.machines)} machine(s)")
