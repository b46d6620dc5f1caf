"""`mitigauge host`: the fleet."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.output import Json, console, print_json, print_table, say
from mitigauge.database import get_engine, require_head, transaction
from mitigauge.errors import NotFound
from mitigauge.experiments import host_views
from mitigauge.fleet.inventory import load_hosts
from pipelines.adapters.ansible_host import AnsibleHost, SilentLog

app = typer.Typer(help="Hosts: list, show, check.", no_args_is_help=True)


@app.command("list")
def list_hosts(json: Json = False) -> None:
    """Hosts that took part in experiments."""
    require_head(get_engine())
    with transaction() as session:
        hosts = host_views.list_hosts(session)
    if json:
        print_json(hosts)
        return
    print_table(
        ["host", "environment", "class", "boots", "lab faults", "held by"],
        [
            [h.name, h.environment, h.host_class, str(h.boots), str(h.lab_faults), h.leased_by]
            for h in hosts
        ],
        empty="No hosts yet: a host appears with its first experiment. "
        "Inventories are in ansible/envs/.",
    )


@app.command()
def show(name: str, json: Json = False) -> None:
    """One host: what it was when it ran."""
    require_head(get_engine())
    with transaction() as session:
        host = host_views.show_host(session, name)
    if json:
        print_json(host)
        return
    mark = "  EMULATED" if host.emulated else ""
    say(f"{host.name} ({host.environment}){mark}")
    say(host.host_class)
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


@app.command()
def check(
    name: str,
    environment: Annotated[str, typer.Option(help="Folder of ansible/envs/.")] = "lab",
) -> None:
    """Reach a host over Ansible and its power interface; changes nothing."""
    hosts = load_hosts(environment)
    if name not in hosts:
        raise NotFound(
            f"environment {environment!r} has no host {name!r}", hint=f"Known: {', '.join(hosts)}."
        )
    host = AnsibleHost(hosts[name], SilentLog())
    with console.status("reaching it"):
        proof = host.look()
        powered = host.is_on()
    say(f"{name}: kernel {proof['kernel_release']}, boot {proof['boot_id']}")
    say(f"power: {'on' if powered else 'off'}")
    for file, text in sorted(proof["vulnerabilities"].items()):
        say(f"  {file}: {text}")
