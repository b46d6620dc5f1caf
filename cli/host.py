"""`mitigauge host`: the fleet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import host_keep
from cli.held_host import HeldHost, host_of, kept_out
from cli.output import (
    Json,
    console,
    echo_json,
    errors,
    harmless,
    print_json,
    print_table,
    remark,
    say,
)
from cli.remote.choice import chosen_server
from cli.source import answer
from cli.stored import stored
from mitigauge.core.clock import Clock
from mitigauge.core.errors import MitigaugeError
from mitigauge.core.natural_order import natural_order

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from mitigauge.measurement.fleet.check import Item
    from mitigauge.reporting.pages.host_schemas import HostSummary

app = typer.Typer(no_args_is_help=True)
app.command("reserve")(host_keep.reserve)
app.command("release")(host_keep.release)
app.command("set-aside")(host_keep.set_aside)
app.command("queue")(host_keep.queue)


@app.command("list")
def list_hosts(
    find: Annotated[str, typer.Option(help="Words, each in name, class or capabilities.")] = "",
    state: Annotated[
        list[str] | None, typer.Option(help="free, in-use, reserved, set-aside; repeated: any.")
    ] = None,
    json: Json = False,
) -> None:
    """Hosts that took part in experiments."""
    from cli.choices import chosen
    from cli.remote.client import client
    from mitigauge.reporting.pages import host_list
    from mitigauge.reporting.pages.host_schemas import HostSummary

    states = chosen(state, host_list.HostState, "--state")
    if chosen_server():
        words = list(map(str, states))
        hosts = client().get("/api/hosts", list[HostSummary], find=find, state=words)
    else:
        hosts = host_list.listed(host_list.HostFilter(find, states))
    if json:
        print_json(hosts)
        return
    print_table(
        ["host", "environment", "class", "boots", "lab faults", "state"],
        [
            [h.name, h.environment, h.host_class, str(h.boots), str(h.lab_faults), _state(h)]
            for h in hosts
        ],
        empty="No hosts yet: a host appears with its first experiment, "
        "`mitigauge experiment submit FILE`. "
        "`mitigauge host check NAME` looks at a host of theirs.",
    )


@app.command()
def show(
    name: str,
    environment: Annotated[
        str | None, typer.Option(help="The environment, where several have the name.")
    ] = None,
    json: Json = False,
) -> None:
    """One host: what it was when it ran."""
    from cli.host_lines import host_lines
    from mitigauge.core.documents.parts import counted

    host = host_keep.host_view(name, environment)
    if json:
        print_json(host)
        return
    mark = "  EMULATED" if host.emulated else ""
    if host.clock is Clock.COUNTED:
        mark += ", counted time"
    say(f"{host.name} ({host.environment}){mark}")
    say(host.host_class)
    if host.power == "none":
        say("nothing can switch its power: a hang needs its watchdog or a person")
    if host.set_aside_at or host.reserved_until:
        say(_state(host))
    for rate in host.doubled:
        say(
            f"{rate.spec}, {rate.workload} {rate.metric}: {rate.sentence} "
            f"({rate.rate_percent:.1f} %, 95 % [{rate.ci_low_percent:.1f}, "
            f"{rate.ci_high_percent:.1f}] by {counted(rate.days, 'day')})"
        )
    for line in host_lines(host):
        say(line)
    for fingerprint in host.fingerprints:
        say("")
        say(f"fingerprint {fingerprint.digest[:12]}, {fingerprint.boots} boots")
        for fact, value in sorted(fingerprint.facts.items(), key=lambda of: natural_order(of[0])):
            say(f"  {fact}: {'absent' if value is None else value}")


def _state(host: HostSummary) -> str:
    from mitigauge.measurement.fleet.recorded_hosts import is_recorded

    if is_recorded(host.environment):
        return "recorded"
    if host.set_aside_by:
        return f"set aside by {host.set_aside_by}: {host.set_aside_reason}"
    if host.reserved_until:
        until = f"{host.reserved_until:%Y-%m-%d %H:%M}"
        return f"reserved by {host.reserved_by} until {until} UTC: {host.reserved_reason}"
    if host.leased_by:
        return f"held by {host.leased_by}"
    if host.set_aside_at is None:
        return "free"
    probe = f", next probe {host.probe_at:%Y-%m-%d %H:%M} UTC" if host.probe_at else ""
    return f"set aside{probe}: {host.set_aside_reason}"


@app.command()
def resume(
    name: str,
    environment: Annotated[str, typer.Option(help="Environment.")] = "lab",
) -> None:
    """Use a host again that was set aside, before its next probe.

    A host is set aside when it does not answer, could not be restored or was lost, or when a
    person said so. Its runs wait; look at it first with `mitigauge host check`.
    """
    from mitigauge.measurement.runs import service

    was_aside = answer(
        lambda session: service.bring_back(session, environment, name),
        lambda client: host_keep.changed(client, environment, name, "resume"),
    )
    word = "is in use again" if was_aside else "was not set aside"
    say(f"{environment}/{name} {word}")


@app.command()
def add(
    name: str,
    environment: Annotated[
        str, typer.Option(help="Environment; its folder is made where it is not there.")
    ],
    address: Annotated[str, typer.Option(help="Name or address of its SSH server.")] = "",
    port: Annotated[int, typer.Option(help="Of its SSH server.", min=1, max=65535)] = 22,
    power: Annotated[str, typer.Option(help="Power driver; docs/hosts.md lists them.")] = "",
    line: Annotated[str, typer.Option("--console", help="Kind of serial console.")] = "",
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="power.NAME=VALUE or console.NAME=VALUE, as often as needed."),
    ] = None,
    look: Annotated[
        bool, typer.Option(help="Read processor and capabilities from the host itself.")
    ] = True,
) -> None:
    """Write a host into an inventory, asking for what was not given.

    A password is never written: give the path of a file that holds it. How Ansible gets in (user,
    key, known hosts) stands in the environment's group_vars/all.yml.
    """
    from cli.host_entry import ask, power_and_console
    from mitigauge.core.settings import get_settings
    from mitigauge.measurement.fleet.inventory import SHIPPED, load_hosts
    from mitigauge.measurement.fleet.inventory_entry import EXAMPLE, write_host

    variables: dict[str, Any] = {"ansible_host": address or ask("address of its SSH server")}
    if port != 22:
        variables["ansible_port"] = port
    variables |= dict(power_and_console(power, line, setting or [], ask))
    file = write_host(
        get_settings().own_environments,
        environment,
        name,
        variables,
        example=SHIPPED / EXAMPLE,
        check=lambda: load_hosts(environment),
    )
    say(f"{name} is in {file}")
    if look:
        _look_for_entry(environment, name)
    say(f"next: mitigauge host check {name} --environment {environment}")


def _look_for_entry(environment: str, name: str) -> None:
    """Add to the entry what the host shows of itself; a host that does not answer is only told."""
    from cli.host_entry import read_of
    from mitigauge.core.settings import get_settings
    from mitigauge.measurement.fleet.inventory import SHIPPED
    from mitigauge.measurement.fleet.inventory_entry import EXAMPLE, write_host
    from pipelines.adapters.ansible_host import SilentLog

    try:
        with errors().status("looking at the host, over Ansible"):
            found = read_of(host_of(environment, name, SilentLog()))
    except MitigaugeError as error:
        remark(f"the host could not be asked what it is: {error.message}")
        remark("mitigauge_class and mitigauge_capabilities are left to you")
        return
    environments = get_settings().own_environments
    write_host(environments, environment, name, found, example=SHIPPED / EXAMPLE, replace=True)
    for variable, value in found.items():
        say(f"  {variable}: {', '.join(value) if isinstance(value, list) else value}")


@app.command()
def check(
    name: str,
    environment: Annotated[str, typer.Option(help="Environment.")] = "lab",
    try_it: Annotated[
        bool,
        typer.Option(
            "--try",
            help="Then boot it once through the one-shot entry, and back. It reboots twice.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Look whether a host has what a run needs; changes nothing, unless with --try.

    Each item is ok, missing (with the way to put it right) or a note. Ends with 1 where
    something is missing.
    """
    from dataclasses import asdict

    from orjson import dumps

    from mitigauge.measurement.catalog import Catalog
    from mitigauge.measurement.fleet.check import Item, State
    from pipelines.adapters.ansible_host import SilentLog
    from pipelines.host_check import checked

    host = host_of(environment, name, SilentLog())
    if try_it:
        with stored():
            pass  # the trial keeps runs off the host there: say now whether it can
    with errors().status("looking") as status:

        def tell(what: str) -> None:
            status.update(f"looking at {harmless(what)}")

        items = list(checked(host, Catalog(), tell))
        if try_it and all(item.state is not State.MISSING for item in items):
            items += _tried(environment, name, tell)
        elif try_it:
            items.append(Item("trial", State.NOTE, "not made: first mend what is missing"))
    if json:
        echo_json(dumps([asdict(item) for item in items]).decode())
    else:
        for item in items:
            _print_item(item)
    missing = [item.name for item in items if item.state is State.MISSING]
    if missing:
        remark(f"{environment}/{name}: missing: {', '.join(missing)}")
        raise typer.Exit(1)


@app.command()
def restore(
    name: str,
    environment: Annotated[str, typer.Option(help="Environment.")] = "lab",
    json: Json = False,
) -> None:
    """Put back everything that was ever changed on a host, item by item.

    Boot entries, packages, files, units and network links go; a host that runs a boot of an
    experiment is rebooted into its own kernel first. Refused while a run holds the host. Done
    again it finds nothing to do.
    """
    from dataclasses import asdict

    from orjson import dumps

    from pipelines.host_restore import put_back

    host = host_of(environment, name, HeldHost(environment, name))
    items = []
    with (
        kept_out(environment, name, "mitigauge host restore"),
        errors().status("putting back") as status,
    ):
        for item in put_back(
            host,
            lambda what: status.update(f"putting back: {what}"),
            boot_timeout_s=host.host.boot_timeout_s,
        ):
            items.append(item)
            if not json:
                word = "left" if item.left else "put back"
                console().print(
                    harmless(f"{word:<9} {item.name:<36} {item.what}"), markup=False, soft_wrap=True
                )
    if json:
        echo_json(dumps([asdict(item) for item in items]).decode())
    elif not items:
        say(f"{environment}/{name}: nothing of ours is on this host")


def _tried(environment: str, name: str, tell: Callable[[str], None]) -> list[Item]:
    """One proven boot and the way back, while no run can begin on the host."""
    from pipelines.host_trial import tried

    host = host_of(environment, name, HeldHost(environment, name))
    has_power = host.host.power.get("driver", "none") != "none"
    with kept_out(environment, name, "mitigauge host check --try"):
        return list(tried(host, tell, boot_timeout_s=host.host.boot_timeout_s, has_power=has_power))


def _print_item(item: Item) -> None:
    from rich.text import Text

    from mitigauge.measurement.fleet.check import State

    style = {State.OK: "green", State.MISSING: "bold red", State.NOTE: ""}[item.state]
    lines = [f"{item.state:<8} {item.name:<24} {item.found}"]
    if item.mend and item.state is not State.OK:
        lines.append(f"{'':<33} → {item.mend}")
    for line in lines:
        # A terminal folds a long line; a file keeps it whole.
        console().print(Text(harmless(line), style=style), soft_wrap=True)
