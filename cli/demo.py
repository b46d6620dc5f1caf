"""`mitigauge demo`: the main job, from an empty machine to a report."""

from __future__ import annotations

import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.addresses import is_loopback
from cli import lab
from cli.experiment import read_spec_file
from cli.experiment_end import print_report
from cli.export import take_in
from cli.output import echo, say
from cli.processes import prepare_database, print_stage, running, serving
from cli.serve import WITHOUT_LINK, login_link
from cli.stored import stored
from mitigauge.core.errors import MitigaugeError
from mitigauge.core.settings import REPOSITORY, get_settings

# What takes long to load is imported by what needs it.
if TYPE_CHECKING:
    from mitigauge.measurement.experiments.states import ExperimentState

RECORDED = REPOSITORY / "db" / "recorded" / "lab-demo.mitigauge.zst"


def demo(
    once: Annotated[bool, typer.Option("--once", help="End after the report.")] = False,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Show a demo that was recorded; runs nothing.")
    ] = False,
    series: Annotated[
        bool,
        typer.Option("--series", help="Build and measure a patch series, and answer its mail."),
    ] = False,
    spec: Annotated[Path, typer.Option(help="Which spec to run.")] = REPOSITORY
    / "experiments"
    / "lab-demo.yml",
) -> None:
    """Boot the emulated lab, run the ready-made experiment, print its report.

    Needs no hardware: both hosts are emulated, and everything says so. Takes some
    20 minutes on two cores. Serves the dashboard meanwhile, and afterwards unless
    --once is given. With --recorded it boots nothing and is there in a minute: it
    loads an experiment that was run before and serves that. With --series it builds a kernel
    from patches, boots it into three modes, and writes the answer to the series' thread.
    """
    started = time.monotonic()
    # Whoever ends the demo ends its processes with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if recorded:
        _show_recorded(once=once)
        return
    if series:
        from cli.demo_series import demo_series

        demo_series()
        return
    text = read_spec_file(spec)
    require_free_port(get_settings().bind, get_settings().port)
    prepare_database()
    print_stage("emulated hosts")
    lab.up(_hosts_to_start(text, str(spec)))
    _run(text, spec, started, once=once)


def _run(text: str, spec: Path, started: float, *, once: bool) -> None:
    """Run the experiment, with a service and a worker of its own."""
    from cli.progress import follow
    from mitigauge.measurement.experiments.states import ExperimentState
    from mitigauge.measurement.runs import submission
    from mitigauge.storage.database.engine import transaction

    with serving() as (address, key), running("worker"):
        with transaction() as session:
            experiment_id = submission.submit_text(session, text, name=str(spec))
        page = _page(address, f"/experiments/{experiment_id}", key)
        print_stage(f"experiment {experiment_id}, live at:")
        _show_address(page)
        state = follow(experiment_id)
        _report(experiment_id, state, time.monotonic() - started)
        if not once:
            echo(f"dashboard: {page}  (Ctrl-C stops it)")
            _serve_until_interrupted()
            return
    if state is not ExperimentState.FINISHED:
        sys.exit(1)
    say(
        f"dashboard: {address}/experiments/{experiment_id}  "
        "(after `.venv/bin/mitigauge serve`; the lab stops with `mitigauge lab down`)"
    )


def _show_recorded(*, once: bool) -> None:
    """Load the recorded experiment and serve it; with *once*, print its report."""
    if not once:
        require_free_port(get_settings().bind, get_settings().port)
    prepare_database()
    print_stage("recorded experiment")
    done = take_in(RECORDED)
    say(
        f"{done.header.name}: recorded {done.header.recorded_at:%Y-%m-%d} on "
        f"{done.header.recorded_from}. Nothing was measured here; `mitigauge demo` does that."
    )
    if once:
        print_report(done.experiment_id)
        say(f"`mitigauge serve` shows boots and flame graphs of experiment {done.experiment_id}")
        return
    with serving() as (address, key):
        print_stage(f"experiment {done.experiment_id}, at:  (Ctrl-C stops it)")
        _show_address(_page(address, _first_page(done.experiment_id), key))
        say(f"all of it: {address}/experiments/{done.experiment_id}")
        _serve_until_interrupted()


def _first_page(experiment_id: int) -> str:
    """What to look at first: an exact difference, where the experiment has one."""
    from mitigauge.reporting.pages.exact import first_difference

    with stored() as session:
        return first_difference(session, experiment_id) or f"/experiments/{experiment_id}"


def _show_address(page: str) -> None:
    echo(page)
    if not is_loopback(get_settings().bind):
        say(WITHOUT_LINK)


def _hosts_to_start(text: str, name: str) -> list[str]:
    """The lab's hosts that the spec names; the usual ones where it names none of them."""
    from lab.hosts import SPECS
    from mitigauge.core.yaml_file import parse_yaml

    wanted = named_hosts(parse_yaml(text, name).data)
    named = [host.name for host in SPECS if host.name in wanted]
    return named or [host.name for host in SPECS if not host.on_demand]


def named_hosts(spec: object) -> set[str]:
    """Every host that a spec names; what is no spec names none."""
    comparisons = spec.get("comparisons") if isinstance(spec, dict) else None
    lists = [
        one.get("hosts")
        for one in (comparisons if isinstance(comparisons, list) else [])
        if isinstance(one, dict)
    ]
    return {str(host) for hosts in lists if isinstance(hosts, list) for host in hosts}


def _page(address: str, path: str, key: str) -> str:
    """A page, by a link that lets a browser in where such links are taken."""
    if is_loopback(get_settings().bind):
        return login_link(address, key, path)
    return f"{address}{path}"


def require_free_port(address: str, port: int) -> None:
    """Raise MitigaugeError if something listens there already; we would follow the wrong one."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise MitigaugeError(
                f"the dashboard cannot listen on {address}:{port}: {error.strerror}",
                hint="Stop what listens there (perhaps `mitigauge serve`), or set "
                "MITIGAUGE_PORT to another port.",
            ) from error


def _report(experiment_id: int, state: ExperimentState, seconds: float) -> None:
    path = print_report(experiment_id)
    say(f"experiment {state} after {seconds / 60:.1f} min; as Markdown in {path}")


def _serve_until_interrupted() -> None:
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(3600)
