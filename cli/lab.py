"""``mitigauge lab``: the emulated hosts."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from cli.output import echo
from lab import console as serial
from lab import machine, service
from lab.hosts import LabPaths
from lab.progress import ConsoleProgress
from mitigauge.settings import get_settings

app = typer.Typer(no_args_is_help=True, help="Emulated hosts: start, stop, look, console.")

Names = Annotated[list[str] | None, typer.Argument(help="Hosts; all if none is named.")]


@app.command()
def up(
    names: Names = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Give the hosts new disks.")] = False,
) -> None:
    """Build the image if need be, start the hosts, wait until SSH lets us in."""
    paths = LabPaths.of(get_settings())
    out = Console(stderr=True)
    with ConsoleProgress(out) as progress:
        started = service.up(paths, progress, fresh=fresh, names=names or ())
    for host in paths.hosts():
        if not names or host.name in names:
            word = "started" if host.name in started else "was up"
            out.print(f"{host.name}: {word}, SSH on 127.0.0.1:{host.ssh_port}", highlight=False)


@app.command()
def down(
    names: Names = None,
    delete: Annotated[bool, typer.Option("--delete", help="Remove the disks too.")] = False,
) -> None:
    """Power the hosts off and end their processes."""
    out = Console(stderr=True)
    with ConsoleProgress(out) as progress:
        stopped = service.down(
            LabPaths.of(get_settings()), progress, delete=delete, names=names or ()
        )
    out.print(f"Powered off: {', '.join(stopped) or 'none was running'}.", highlight=False)


@app.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """Say how every host stands."""
    hosts = service.status(LabPaths.of(get_settings()))
    if as_json:
        typer.echo(json.dumps([asdict(host) for host in hosts], indent=2))
        return
    table = Table(box=None)
    for column in ("host", "power", "pid", "SSH port", "accel", "CPU", "kernel", "up", "image"):
        table.add_column(column)
    for host in hosts:
        uptime = f"{host.uptime_s:.0f} s" if host.uptime_s is not None else None
        cells = (host.pid, host.ssh_port, host.accel, host.cpu, host.kernel, uptime, host.image)
        shown = ("-" if cell is None else str(cell) for cell in cells)
        table.add_row(host.name, host.power, *shown)
    Console().print(table)


@app.command()
def console(
    name: Annotated[str, typer.Argument(help="Host.")],
    log: Annotated[bool, typer.Option("--log", help="Print the end of the log instead.")] = False,
    lines: Annotated[int, typer.Option("-n", "--lines", min=1, help="With --log.")] = 50,
) -> None:
    """Join the host's serial line; Ctrl-] leaves."""
    host = LabPaths.of(get_settings()).host(name)
    if log:
        echo(machine.serial_tail(host, lines))
        return
    serial.join(host)
