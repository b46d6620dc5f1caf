"""What runs cost that wait: many hosts on one worker, their jobs awaited over real ssh.

Usage: python -m tests.load.waiting [--hosts 200]

As root, in a network namespace of its own, where a real SSH server answers at an address a host.
The hosts' other calls are simulated, and Ansible's memory while a step lasts is none of these
figures. It prints what the worker and its ssh calls take when all hosts measure, beside as many
plays that wait, of which it runs one. Its exit code is 1 over the limit, or where a job's end was
missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text

from mitigauge.jobs.abilities import Abilities
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.experiments.spec_faults import KnownHost
from mitigauge.measurement.fleet.service import HostVars, host_vars
from mitigauge.measurement.runs.submission import submit
from mitigauge.storage.database.embedded_server import stop
from mitigauge.storage.database.engine import new_engine, transaction
from pipelines.adapters import ansible
from pipelines.adapters.ssh_watch import SshWatch
from pipelines.advance import Advancer
from pipelines.host_control import Facts, RunLog
from pipelines.steps import boot
from pipelines.worker import Worker
from tests.crash.campaign import migrated_server
from tests.crash.simulated_host import SimulatedHost, write_world
from tests.load.fleet import proportional_mib
from tests.specs import CATALOG, SPEC, inventory

INSIDE = "LOAD_IN_NAMESPACE"
MOST_MIB = 1024.0
ALL_WAIT_WITHIN_S = 900.0
ALL_END_WITHIN_S = 300.0
HOSTS_A_COMPARISON = 50


@dataclass
class WaitingHost(SimulatedHost):
    """One whose job has a runner: a process that ends when the test says so."""

    jobs: Path = Path()
    runner: int = 0

    def start(self, job: str, *more: Any, **options: Any) -> Facts:
        """Start it; its runner is there."""
        said = super().start(job, *more, **options)
        directory = self.jobs / job
        directory.mkdir(exist_ok=True)
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        state = {"state": "running", "pid": self.runner, "boot_id": boot_id}
        (directory / "draft").write_text(json.dumps(state))
        (directory / "draft").replace(directory / "state.json")
        return said


@contextmanager
def server(place: Path) -> Iterator[int]:
    """An SSH server on all addresses of this namespace; its port."""
    program = shutil.which("dropbear") or "/usr/sbin/dropbear"
    keys = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f"]
    subprocess.run([*keys, place / "id"], check=True)
    subprocess.run(
        ["dropbearkey", "-t", "ed25519", "-f", place / "host"], check=True, capture_output=True
    )
    home = Path.home() / ".ssh"
    home.mkdir(mode=0o700, exist_ok=True)
    # In this mount namespace alone.
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=700", "none", home], check=True)
    shutil.copy(place / "id.pub", home / "authorized_keys")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    process = subprocess.Popen(
        [program, "-F", "-E", "-r", place / "host", "-p", str(port), "-P", place / "pid"],
        stderr=(place / "server.log").open("w"),
    )
    try:
        yield port
    finally:
        process.kill()
        process.wait()


def host_at(number: int, place: Path, port: int) -> HostVars:
    """Host *number* of the fleet, at an address of its own."""
    given: Mapping[str, Any] = {
        "ansible_host": f"127.0.{1 + number // 250}.{1 + number % 250}",
        "ansible_port": port,
        "ansible_user": "root",
        "ansible_ssh_private_key_file": str(place / "id"),
        "ansible_ssh_common_args": f"-F /dev/null -o UserKnownHostsFile={place}/known_hosts",
        "ansible_python_interpreter": "/usr/bin/python3",
        "workload_jobs": str(place / "jobs"),
        "mitigauge_class": "test",
        "mitigauge_emulated": True,
    }
    return host_vars(f"h{number}", "lab", given, boot_timeout_s=600)


def write_known_hosts(place: Path, hosts: Sequence[HostVars]) -> None:
    """The server's key under each host's address."""
    said = subprocess.run(
        ["dropbearkey", "-y", "-f", place / "host"], check=True, capture_output=True, text=True
    ).stdout
    key = next(line for line in said.splitlines() if line.startswith("ssh-ed25519"))
    lines = [f"[{host.address}]:{host.port} {' '.join(key.split()[:2])}\n" for host in hosts]
    (place / "known_hosts").write_text("".join(lines))


def submit_all(engine: Engine, names: Sequence[str]) -> None:
    """Experiments of one block, as few as serve all hosts."""
    for first in range(0, len(names), HOSTS_A_COMPARISON):
        submit_one(engine, names[first : first + HOSTS_A_COMPARISON])


def submit_one(engine: Engine, names: Sequence[str]) -> None:
    """An experiment of one block on these hosts."""
    known = {"lab": {name: KnownHost(name, frozenset()) for name in names}}
    spec_text = SPEC.replace("hosts: [alpha]", f"hosts: [{', '.join(names)}]").replace(
        "blocks: 2", "blocks: 1"
    )
    spec = read_spec(spec_text, name="spec", catalog=CATALOG, hosts=known)
    with transaction(engine) as session:
        submit(session, spec, spec_text, catalog=CATALOG, hosts=inventory(*names))


def ssh_processes() -> list[int]:
    """ssh calls and shared connections of this namespace."""
    own = os.readlink("/proc/self/ns/net")
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            name = (process / "comm").read_text().strip()
            if name == "ssh" and os.readlink(process / "ns/net") == own:
                found.append(int(process.name))
        except OSError:
            continue
    return found


def end_ssh() -> None:
    """End this namespace's connections."""
    for pid in ssh_processes():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def family_of(pid: int) -> list[int]:
    """The process and its children's children."""
    children: list[int] = []
    # Each thread has its own.
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            children += map(int, thread.read_text().split())
    return [pid, *(each for child in children for each in family_of(child))]


def play_mib(place: Path, host: HostVars) -> float:
    """What one play takes that waits for a job, as a run's step would without a watch, MiB."""
    sources = place / "inventory" / "hosts.yml"
    sources.parent.mkdir()
    sources.write_text(json.dumps({"all": {"hosts": {host.name: dict(host.variables)}}}))
    setattr(ansible, "inventory_sources", lambda _: [sources])  # noqa: B010
    job = next(path.name for path in (place / "jobs").iterdir())
    waiting = threading.Event()
    play = threading.Thread(
        target=_played,
        kwargs={
            "environment": "lab", "host": host.name, "check_alive": lambda: not waiting.is_set(),
            "variables": {
                "workload_job": job, "workload_fetch_dir": str(place), "workload_wait_s": 600
            },
        },
        daemon=True,
    )  # fmt: skip
    before = set(family_of(os.getpid()))
    play.start()
    largest, deadline = 0.0, time.monotonic() + 40
    while time.monotonic() < deadline:
        new = set(family_of(os.getpid())) - before
        largest = max(largest, sum(map(proportional_mib, new)))
        time.sleep(0.5)
    waiting.set()
    play.join(30)
    return largest


def _played(**options: Any) -> None:
    try:
        with suppress(ansible.PlayCancelled):
            ansible.run_playbook("poll.yml", **options)
    except ansible.PlayFailure as failure:
        print(failure)


def until(holds: Callable[[], bool], within_s: float, progress: Callable[[], str]) -> bool:
    """Whether it came to hold in time; says how far it is."""
    deadline, told = time.monotonic() + within_s, 0.0
    while not holds():
        if time.monotonic() > deadline:
            return False
        if time.monotonic() - told > 15:
            told = time.monotonic()
            print(progress(), flush=True)
        time.sleep(0.5)
    return True


def measuring(engine: Engine) -> int:
    """Boots whose job was begun and has not ended."""
    with transaction(engine) as session:
        return int(
            session.scalar(
                text("select count(*) from boot where state = 'measuring' and job_started_at"
                     " is not null")
            )
            or 0
        )  # fmt: skip


def over(engine: Engine) -> int:
    """Runs that are finished."""
    with transaction(engine) as session:
        return int(session.scalar(text("select count(*) from run where state = 'finished'")) or 0)


def deadlocks(engine: Engine) -> int:
    """How often the database ended a transaction that waited for one that waited for it."""
    asked = text("select deadlocks from pg_stat_database where datname = current_database()")
    with transaction(engine) as session:
        return int(session.scalar(asked) or 0)


def carry_out(hosts: int, home: Path) -> bool:
    """Let that many hosts wait at once; whether memory is within its limit and no end missed."""
    with ExitStack() as stack:
        place = home / "ssh"
        (place / "jobs").mkdir(parents=True)
        port = stack.enter_context(server(place))
        fleet = [host_at(number, place, port) for number in range(hosts)]
        write_known_hosts(place, fleet)
        by_name = {host.name: host for host in fleet}
        for name in by_name:
            write_world(home / f"{name}.json", boot_timeout_s=600)
        engine = new_engine(migrated_server(home, safe=False))
        stack.callback(engine.dispose)
        submit_all(engine, list(by_name))
        runner = subprocess.Popen(["sleep", "100000"])
        stack.callback(runner.kill)
        stack.callback(end_ssh)

        def open_host(_: str, name: str, log: RunLog) -> SimulatedHost:
            return WaitingHost(home / f"{name}.json", log, jobs=place / "jobs", runner=runner.pid)

        watch = SshWatch(lambda _, name: by_name.get(name))
        advancer = Advancer(engine, open_host, CATALOG, watch=watch)
        stop_work = threading.Event()
        look = partial(Abilities, hosts={"lab": list(by_name)})
        url = engine.url.render_as_string(hide_password=False)
        worker = threading.Thread(target=Worker(advancer, url, look=look).run, args=(stop_work,))
        before_mib = proportional_mib(os.getpid())
        worker.start()
        stack.callback(worker.join, 60)
        stack.callback(stop_work.set)
        began = time.monotonic()
        all_wait = until(
            lambda: watch.watched() == hosts and measuring(engine) == hosts,
            ALL_WAIT_WITHIN_S,
            lambda: f"{watch.watched():4d} of {hosts} hosts are waited for",
        )
        took_s = time.monotonic() - began
        time.sleep(5)
        own_mib = proportional_mib(os.getpid())
        calls = ssh_processes()
        ssh_mib = sum(map(proportional_mib, calls))
        threads = threading.active_count()
        print(f"{'all wait':32}{'yes' if all_wait else 'no'}, after {took_s:.0f} s")
        print(f"{'the worker itself':32}{own_mib:.0f} MiB, {before_mib:.0f} before; "
              f"{threads} threads")  # fmt: skip
        print(f"{'its ssh':32}{ssh_mib:.0f} MiB in {len(calls)} processes, "
              f"{ssh_mib / hosts:.1f} MiB a host")  # fmt: skip
        total = own_mib + ssh_mib
        print(f"{'together':32}{total:.0f} MiB (≤ {MOST_MIB:.0f})")
        peer = play_mib(place, fleet[0])
        print(f"{'a play that waits':32}{peer:.0f} MiB: {hosts} of them "
              f"{hosts * peer / (ssh_mib or 1):.1f} × as much as ssh", flush=True)  # fmt: skip
        runner.kill()
        runner.wait()
        ended = time.monotonic()
        # From here on jobs' runners are gone at once.
        good = until(
            lambda: over(engine) == hosts, ALL_END_WITHIN_S,
            lambda: f"{over(engine):4d} of {hosts} runs are over",
        )  # fmt: skip
        print(f"{'runs that ended':32}{over(engine)} of {hosts}, "
              f"{time.monotonic() - ended:.0f} s after their first jobs")  # fmt: skip
        print(f"{'deadlocks':32}{deadlocks(engine)}")
        return all_wait and good and total <= MOST_MIB and not deadlocks(engine)


def main(arguments: Sequence[str]) -> int:
    """Carry it out in namespaces of its own; the process's exit code."""
    parser = argparse.ArgumentParser(prog="waiting", description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=200)
    asked = parser.parse_args(arguments)
    if INSIDE not in os.environ:
        command = ["unshare", "--mount", "--net", sys.executable, "-m", "tests.load.waiting"]
        environment = {**os.environ, INSIDE: "1"}
        return subprocess.run([*command, *arguments], env=environment, check=False).returncode
    del os.environ[INSIDE]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    boot.GOING_DOWN_S = 0.0

    home = Path(tempfile.mkdtemp(prefix="mgwait-"))
    os.environ["MITIGAUGE_HOME"] = str(home)
    try:
        return 0 if carry_out(asked.hosts, home) else 1
    finally:
        stop(home, mode="immediate")
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
