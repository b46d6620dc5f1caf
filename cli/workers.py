"""`mitigauge worker`: the process that does what the service does by itself, and who runs."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, print_json, print_table, remark, say
from cli.remote.choice import chosen_server
from cli.remote.commands import require_local_command
from cli.source import answer
from cli.stored import stored
from mitigauge.core.settings import CODE, get_settings

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from mitigauge.jobs.states import Ability

app = typer.Typer()

BEGINS_WITHIN_S = 40.0


@app.callback(invoke_without_command=True)
def work(
    context: typer.Context,
    concurrency: Annotated[
        int | None, typer.Option(help="Steps of runs at the same time, at most.", min=1)
    ] = None,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End once there is nothing left to do.")
    ] = False,
    no_runs: Annotated[
        bool, typer.Option("--no-runs", help="Do jobs alone, and touch no host.")
    ] = False,
) -> None:
    """Do what the service does by itself. Start as many as wanted, on any machine.

    A worker advances runs (boot, verify, measure) on the hosts that its inventory and keys reach,
    builds kernels where its machine has the programs for it, takes bisections and revisions on, and
    looks at archives and mails where its settings say so. `mitigauge worker list` shows what each
    can do. It may be stopped or killed at any moment; another one, or the same started again, goes
    on where it was.
    """
    if context.invoked_subcommand is not None:
        return
    require_local_command("worker")
    from mitigauge.core.logs.setup import configure_logs
    from mitigauge.storage.database.engine import database_url, get_engine, require_head
    from pipelines.adapters.ansible_host import open_host
    from pipelines.adapters.ssh_watch import SshWatch
    from pipelines.advance import Advancer
    from pipelines.jobs import runners_of
    from pipelines.jobs.engine import JobAdvancer
    from pipelines.worker import CONCURRENCY, Worker, name_of_this

    settings = get_settings()
    configure_logs(settings)
    engine = get_engine()
    require_head(engine)
    name = name_of_this(settings)
    say(f"worker {name} waits for runs and jobs  (Ctrl-C stops after the step in hand)")
    Worker(
        Advancer(engine, open_host, watch=SshWatch()),
        database_url(),
        concurrency or CONCURRENCY,
        JobAdvancer(engine, runners_of(settings), name),
        name=name,
        until_idle=until_idle,
        no_runs=no_runs,
    ).run()


@app.command("list")
def list_workers(json: Json = False) -> None:
    """Workers of the last week: what each can do, what it lacks, when it was last seen."""
    from mitigauge.jobs import views
    from mitigauge.jobs.schemas import WorkerView

    found = answer(
        views.list_workers, lambda client: client.get("/api/workers", list[WorkerView]), reads=True
    )
    if json:
        print_json(found)
        return
    print_table(
        ["worker", "state", "version", "jobs", "hosts", "last seen"],
        [
            [w.name, "works" if w.alive else "stopped" if w.stopped else "gone",
             w.version, ", ".join(w.jobs),
             ", ".join(f"{place}: {len(hosts)}" for place, hosts in w.hosts.items()),
             f"{w.seen_at:%Y-%m-%d %H:%M:%S}"]
            for w in found
        ],
        empty="No worker has run yet: `mitigauge worker` starts one on this machine.",
    )  # fmt: skip
    for worker in (each for each in found if each.alive):
        for lack in worker.lacks:
            say(f"{worker.name} lacks {lack.what}: {lack.why}")


def missing_worker(need: Ability) -> str:
    """That no worker does what a job needs, in words; empty where one does, or elsewhere."""
    if chosen_server():
        return ""
    from mitigauge.jobs import views, worker_repository

    with stored() as session:
        able = worker_repository.able(session, need)
    return "" if able else f"no worker that runs now {views.IN_WORDS[need]}"


def require_served(need: Ability) -> None:
    """See that a worker does what a job needs: say so, and start one here, where none does.

    The worker that is started is no child of this command's: closing the terminal ends nothing.
    Of a service elsewhere workers are its operator's business: a job says what it waits for.
    """
    from mitigauge.jobs import worker_repository

    if not (missing := missing_worker(need)):
        return
    remark(f"{missing}: one is started on this machine")
    log = get_settings().home / "log" / "worker.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    options = ["--until-idle"]
    # Beside a team's database hosts are the team's workers' business.
    if get_settings().database_url:
        options.append("--no-runs")
    with log.open("ab") as file:
        subprocess.Popen(
            [sys.executable, "-m", "cli.main", "worker", *options],
            cwd=CODE,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    deadline = time.monotonic() + BEGINS_WITHIN_S
    while time.monotonic() < deadline:
        with stored() as session:
            if worker_repository.able(session, need):
                return
        time.sleep(0.5)
    remark(f"it cannot do that, or did not begin: see {log} and `mitigauge worker list`")
