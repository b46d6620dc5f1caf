"""``mitigauge lab``: the emulated hosts."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from cli.output import echo, print_table
from cli.output import errors as on_stderr
from mitigauge.core.clock import Clock

# What takes long to load is imported by the commands that need it.
app = typer.Typer(no_args_is_help=True)

Names = Annotated[list[str] | None, typer.Argument(help="Hosts; all if none is named.")]


@app.command()
def up(
    names: Names = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Give the hosts new disks.")] = False,
    clock: Annotated[
        Clock | None,
        typer.Option(
            "--clock",
            help="What the hosts' time is; unset: counted instructions where they are emulated.",
        ),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact/--no-exact",
            help="Have the emulator count every instruction of hosts in counted time.",
        ),
    ] = True,
) -> None:
    """Build the image if need be, start the hosts, wait until SSH lets us in."""
    from lab import service
    from lab.hosts import LabPaths
    from lab.progress import ConsoleProgress
    from mitigauge.core.settings import get_settings

    paths = LabPaths.of(get_settings())
    out = on_stderr()
    with ConsoleProgress(out) as progress:
        started = service.up(
            paths,
            progress,
            fresh=fresh,
            names=names or (),
            clock=clock,
            exact=exact,
        )
    for host in paths.hosts():
        if host.name in (names or started) or (not names and not host.spec.on_demand):
            word = "started" if host.name in started else "was up"
            out.print(f"{host.name}: {word}, SSH on 127.0.0.1:{host.ssh_port}")


@app.command()
def down(
    names: Names = None,
    delete: Annotated[bool, typer.Option("--delete", help="Remove the disks too.")] = False,
) -> None:
    """Power the hosts off and end their processes."""
    from lab import service
    from lab.hosts import LabPaths
    from lab.progress import ConsoleProgress
    from mitigauge.core.settings import get_settings

    out = on_stderr()
    with ConsoleProgress(out) as progress:
        stopped = service.down(
            LabPaths.of(get_settings()), progress, delete=delete, names=names or ()
        )
    out.print(f"Powered off: {', '.join(stopped) or 'none was running'}.")


@app.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """Say how every host stands."""
    from lab import service
    from lab.hosts import LabPaths
    from mitigauge.core.settings import get_settings

    hosts = service.status(LabPaths.of(get_settings()))
    if as_json:
        typer.echo(json.dumps([asdict(host) for host in hosts], indent=2))
        return
    rows = []
    for host in hosts:
        uptime = f"{host.uptime_s:.0f} s" if host.uptime_s is not None else None
        cells = (
            *(host.pid, host.ssh_port, host.accel, host.clock, host.cpu, host.kernel),
            *(uptime, host.image),
        )
        rows.append([host.name, host.power, *("-" if c is None else str(c) for c in cells)])
    print_table(
        ["host", "power", "pid", "SSH port", "accel", "clock", "CPU", "kernel", "up", "image"],
        rows,
        empty="No emulated host is known. `mitigauge lab up` makes and starts them.",
    )


@app.command()
def console(
    name: Annotated[str, typer.Argument(help="Host.")],
    log: Annotated[bool, typer.Option("--log", help="Print the end of the log instead.")] = False,
    lines: Annotated[int, typer.Option("-n", "--lines", min=1, help="With --log.")] = 50,
) -> None:
    """Join the host's serial line; Ctrl-] leaves."""
    from lab import console as serial
    from lab import machine
    from lab.hosts import LabPaths
    from mitigauge.core.settings import get_settings

    host = LabPaths.of(get_settings()).host(name)
    if log:
        echo(machine.serial_tail(host, lines))
        return
    serial.join(host)
