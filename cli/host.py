"""`mitigauge host`: the fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, console, print_json, print_table, say
from cli.stored import stored
from mitigauge.clock import Clock
from mitigauge.errors import NotFound

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from mitigauge.views.host_schemas import HostSummary

app = typer.Typer(no_args_is_help=True)


@app.command("list")
def list_hosts(json: Json = False) -> None:
    """Hosts that took part in experiments."""
    from mitigauge.views import hosts as host_views

    with stored() as session:
        hosts = host_views.list_hosts(session)
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
        "`mitigauge experiment submit FILE`. Inventories are in ansible/envs/; "
        "`mitigauge host check NAME` looks at a host of theirs.",
    )


@app.command()
def show(name: str, json: Json = False) -> None:
    """One host: what it was when it ran."""
    from mitigauge.views import hosts as host_views

    with stored() as session:
        host = host_views.show_host(session, name)
    if json:
        print_json(host)
        return
    mark = "  EMULATED" if host.emulated else ""
    if host.clock is Clock.COUNTED:
        mark += ", counted time"
    say(f"{host.name} ({host.environment}){mark}")
    say(host.host_class)
    if host.set_aside_at:
        say(_state(host))
    for rate in host.aa:
        say(
            f"false alarms, {rate.workload} {rate.metric}: {rate.alarms} of {rate.comparisons} "
            f"({rate.rate_percent:.1f} %, 95 % [{rate.ci_low_percent:.1f}, "
            f"{rate.ci_high_percent:.1f}])"
        )
    for fingerprint in host.fingerprints:
        say("")
        say(f"fingerprint {fingerprint.digest[:12]}, {fingerprint.boots} boots")
        for fact, value in sorted(fingerprint.facts.items()):
            say(f"  {fact}: {'absent' if value is None else value}")


def _state(host: HostSummary) -> str:
    from mitigauge.fleet.recorded import is_recorded

    if is_recorded(host.environment):
        return "recorded"
    if host.leased_by:
        return f"held by {host.leased_by}"
    if host.set_aside_at is None:
        return "free"
    probe = f", next probe {host.probe_at:%Y-%m-%d %H:%M} UTC" if host.probe_at else ""
    return f"set aside{probe}: {host.set_aside_reason}"


@app.command()
def resume(
    name: str,
    environment: Annotated[str, typer.Option(help="Folder of ansible/envs/.")] = "lab",
) -> None:
    """Use a host again that was set aside, before its next probe.

    A host is set aside when it does not answer, could not be restored or was lost. Its runs
    wait; look at it first with `mitigauge host check`.
    """
    from mitigauge.runs import service

    with stored() as session:
        was_aside = service.bring_back(session, environment, name)
    word = "is in use again" if was_aside else "was not set aside"
    say(f"{environment}/{name} {word}")


@app.command()
def check(
    name: str,
    environment: Annotated[str, typer.Option(help="Folder of ansible/envs/.")] = "lab",
) -> None:
    """Reach a host over Ansible and its power interface; changes nothing."""
    from mitigauge.fleet.inventory import load_hosts
    from pipelines.adapters.ansible_host import AnsibleHost, SilentLog

    hosts = load_hosts(environment)
    if name not in hosts:
        raise NotFound(
            f"environment {environment!r} has no host {name!r}", hint=f"Known: {', '.join(hosts)}."
        )
    host = AnsibleHost(hosts[name], SilentLog())
    with console().status("reaching it"):
        proof = host.look()
        powered = host.is_on()
    say(f"{name}: kernel {proof['kernel_release']}, boot {proof['boot_id']}")
    say(f"power: {'on' if powered else 'off'}")
    for file, text in sorted(proof["vulnerabilities"].items()):
        say(f"  {file}: {text}")
