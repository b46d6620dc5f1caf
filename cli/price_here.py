"""`mitigauge price measure`: prices of this machine, or of a host."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from cli.output import count_off, print_table, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mitigauge.analysis.prices.aftermath import Followed
    from mitigauge.analysis.prices.definitions import Machine, Processor
    from mitigauge.analysis.prices.identity import Recognised
    from mitigauge.analysis.prices.probe import ListedEvent, ProbeRun

CPUINFO = Path("/proc/cpuinfo")
# Of a hybrid processor the kernel has one of these for each kind of core, with a list of them.
CORES = {"core": Path("/sys/devices/cpu_core/cpus"), "atom": Path("/sys/devices/cpu_atom/cpus")}
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
# Of the time of a measurement: what the aftermaths of barriers get.
AFTERMATHS = 0.3
# Half an interval beside other load, in parts of the figure.
WIDEST_TYPICAL = 0.3


def measure(
    here: Annotated[
        bool, typer.Option("--here", help="On this machine; it needs no root and no reboot.")
    ] = False,
    host: Annotated[str, typer.Option(help="On this host of your inventory instead.")] = "",
    environment: Annotated[str, typer.Option(help="The host's environment.")] = "lab",
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
    """Time what events of the processor and the kernel cost on a machine, in a minute.

    A program is compiled once and runs in many short processes. It needs no root, changes nothing
    and leaves nothing behind. An event that this machine does not give (a hypervisor keeps an IBPB
    from its guests) is refused by name. Operations that no price is made of are predicted and
    measured too: a processor whose prices do not tell them is marked. With --host the program is
    brought to a host and taken away again; no run begins there meanwhile.

    Example: mitigauge price measure --here -o prices/processors
    """
    from mitigauge.analysis.prices.machine_file import require_alike
    from mitigauge.core.errors import InvalidInput

    if here == bool(host):
        raise InvalidInput(
            "say where: --here, or --host NAME",
            hint="`mitigauge price estimate` makes a host's prices of its boots.",
        )
    _require_name(machine)
    if name:
        _require_name(name)
    asked = Asked(machine, seconds, processes)
    if host:
        found, told = _on_host(environment, host, asked, writes=output is not None)
        before = _before(output, name or found.identity.file_name)
        require_alike(before, found)
        _tell(found, told, before, output, name)
        return
    for kind, cpus in kinds_of_cores().items():
        found = recognised_here(kind)
        named = f"{name}-{kind}" if name and kind else name
        # Before anything is measured: whether there is a file for it.
        before = _before(output, named or found.identity.file_name)
        require_alike(before, found)
        with only_on(cpus):
            told = timed_here(found, asked)
        _tell(found, told, before, output, named)


def _tell(
    found: Recognised, told: Machine, before: Processor | None, output: Path | None, name: str
) -> None:
    """Print what was found, and write the file where one is asked for."""
    called = found.identity.name or found.identity.file_name
    kind = f", its cores of the kind {found.identity.cores}" if found.identity.cores else ""
    architecture = found.microarchitecture or "of a microarchitecture that is not known here"
    say(f"{called}{kind}, {architecture}")
    if found.identity.masked:
        say(f"masked model: {found.identity.masked}")
    _print_prices(told)
    _print_aftermaths(told)
    _print_checks(told)
    if output is not None:
        _write(output, before, told, found, name)


def kinds_of_cores() -> dict[str, set[int]]:
    """CPUs that may be used by kind of core; one kind without a name where all are alike."""
    import os

    allowed = os.sched_getaffinity(0)
    told = {kind: _numbers(file.read_text()) for kind, file in CORES.items() if file.exists()}
    kinds = {kind: cpus & allowed for kind, cpus in told.items() if cpus & allowed}
    return kinds if len(told) > 1 else {"": allowed}


def _numbers(text: str) -> set[int]:
    """``0-3,8``: five numbers."""
    pieces = [piece.partition("-") for piece in text.strip().split(",") if piece]
    return {n for first, _, last in pieces for n in range(int(first), int(last or first) + 1)}


@contextmanager
def only_on(cpus: set[int]) -> Iterator[None]:
    """What is started meanwhile runs on these alone."""
    import os

    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Asked(NamedTuple):
    """What the words of the command say."""

    machine: str
    seconds: float
    processes: int
    events: frozenset[str] | None = None
    """Of these alone; None: of all."""
    is_typical: bool = False
    """As they are beside the load of now, not as the processor can do them."""


def recognised_here(cores: str) -> Recognised:
    from mitigauge.analysis.prices.identity import recognised

    found = recognised(CPUINFO.read_text(errors="replace"), _caches(), cores)
    _require_name(found.identity.file_name)
    return found


def timed_here(found: Recognised, asked: Asked) -> Machine:
    """What the program says of this machine, within some seconds."""
    import platform
    from random import SystemRandom

    from mitigauge.analysis.prices.aftermath import EVENTS
    from mitigauge.analysis.prices.probe import BILLED, FEWEST
    from mitigauge.core.settings import get_settings
    from pipelines.adapters.price_probe import compiled, time_aftermaths, time_all

    probe = compiled(get_settings().home / "tools")
    seed = SystemRandom().getrandbits
    followed = [
        event
        for event in EVENTS
        if asked.events is None or BILLED.get(event, event) in asked.events
    ]
    share = AFTERMATHS if followed else 0.0
    listed, runs = time_all(
        probe, seconds=(1 - share) * asked.seconds, processes=asked.processes, seed=seed(31),
        progress=partial(count_off, "process"), events=asked.events,
    )  # fmt: skip
    behind = time_aftermaths(
        probe, followed, seconds=share * asked.seconds, processes=FEWEST, seed=seed(31),
        progress=partial(count_off, "process of an aftermath"),
    )  # fmt: skip
    return _machine(found, asked, probe.digest, platform.release(), listed, runs, behind)


def _on_host(
    environment: str, name: str, asked: Asked, *, writes: bool
) -> tuple[Recognised, Machine]:
    """What the program says of a host of the inventory. Raises what a play raises."""
    from random import SystemRandom

    from cli.held_host import HeldHost, host_of, kept_out
    from cli.remote.choice import require_local
    from mitigauge.analysis.prices.identity import recognised
    from mitigauge.core.errors import InvalidInput
    from mitigauge.core.settings import get_settings
    from pipelines.adapters.price_host import time_on_host
    from pipelines.adapters.price_probe import compiled

    require_local("price measure --host", "It reaches hosts with the keys of this machine.")
    host = host_of(environment, name, HeldHost(environment, name))
    if host.host.emulated:
        if writes:
            raise InvalidInput(
                f"{name} is emulated: what events cost there are costs of the emulator",
                hint="Without -o they are only printed.",
            )
        say("EMULATED: these are costs of the emulator, and of no processor", style="bold")
    probe = compiled(get_settings().home / "tools", is_static=True)
    say(f"{environment}/{name}: some {asked.seconds:.0f} s, and a few more for each play")
    with kept_out(environment, name, "mitigauge price measure"):
        told = time_on_host(
            probe, host, seconds=asked.seconds, processes=asked.processes,
            seed=SystemRandom().getrandbits(31),
        )  # fmt: skip
    found = recognised(told.cpuinfo, told.caches)
    _require_name(found.identity.file_name)
    return found, _machine(
        found, asked, probe.digest, told.kernel, told.listed, told.runs, told.behind
    )


def _machine(
    found: Recognised,
    asked: Asked,
    digest: str,
    kernel: str,
    listed: Sequence[ListedEvent],
    runs: Mapping[str, Sequence[ProbeRun]],
    behind: Mapping[str, Mapping[Followed, Sequence[float]]],
) -> Machine:
    from datetime import UTC, datetime

    from mitigauge.analysis.prices.aftermath import aftermath_of
    from mitigauge.analysis.prices.machine_file import machine_of
    from mitigauge.analysis.prices.probe import WIDEST, summarised

    widest = WIDEST_TYPICAL if asked.is_typical else WIDEST
    if asked.is_typical:
        runs = {event: [run.typical() for run in each] for event, each in runs.items()}
    probed = [summarised(each, runs[each.event], widest) for each in listed]
    cycles = [c for of in runs.values() for run in of for c in run.cycle_ns if c > 0]
    told = [aftermath_of(event, timed) for event, timed in behind.items()]
    return machine_of(
        asked.machine, found, probed, listed, at=datetime.now(UTC).date(), kernel=kernel,
        program=digest, cycle_ns=round(min(cycles, default=1.0), 5),
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
