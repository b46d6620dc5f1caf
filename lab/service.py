"""Bringing the whole lab up and down, and saying how it stands."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from lab import acceleration, inventory, machine, ssh
from lab.errors import LabError
from lab.exact.plugin import NoPluginError, ensure_plugin
from lab.execution import Execution, execution_of
from lab.hosts import Host, LabPaths, System
from lab.image import Image, ensure_image, prune
from lab.progress import Progress
from lab.recipe import recipe_for
from mitigauge.core.clock import Clock

UP_TIMEOUT_S = 600
_TAIL_LINES = 25


@dataclass(frozen=True)
class HostStatus:
    """How one host stands."""

    name: str
    power: str
    pid: int | None
    ssh_port: int
    accel: str | None
    clock: str | None
    cpu: str
    kernel: str | None
    uptime_s: float | None
    image: str | None


def up(
    paths: LabPaths,
    progress: Progress,
    *,
    fresh: bool = False,
    names: Sequence[str] = (),
    clock: Clock | None = None,
    exact: bool = True,
) -> list[str]:
    """Build what is missing, start what does not run, wait until every host lets us in.

    Returns the names of the hosts this call started. ``fresh`` gives the hosts
    new disks; ``names`` limits the call to some hosts, without them it is all but those that
    are started on demand. ``clock`` is what the hosts' time is to
    be; None: counted where they are emulated. ``exact`` has the emulator of counted hosts count
    every block; where it cannot, the hosts start without, and that is said; ``data_lines`` has it
    count accesses to lines of data as well. Raises LabError where a host cannot be started, or
    runs already by another clock than ``clock``, or without the lines of data that are asked for.
    """
    chosen = [paths.host(name) for name in names] or [
        host for host in paths.hosts() if not host.spec.on_demand
    ]
    clocks = {host.name: _clock(host, clock) for host in chosen}
    with _exclusive(paths):
        for host in chosen:
            machine.require_port(host)
            if not fresh:
                machine.require_clock(host, clocks[host.name])
        ssh.ensure_keys(paths)
        images = {
            system: ensure_image(
                recipe_for(system, paths.key, paths.host_key), paths.images, progress
            )
            for system in dict.fromkeys(host.spec.system for host in chosen)
        }
        progress.stage("Choosing the acceleration")
        execution = {
            host.name: _execution(host, images, paths, clocks.get(host.name, host.spec.clock))
            for host in paths.hosts()
        }
        if exact and any(each.counted for each in execution.values()):
            execution = _with_plugin(execution, paths, progress)
        if fresh:
            progress.stage("Powering off for new disks")
            for host in chosen:
                machine.stop(host)
        progress.stage("Starting hosts")
        begun = [
            host
            for host in chosen
            if _ensure_on(host, images[host.spec.system], execution[host.name], fresh)
        ]
        used = {image.disk for image in images.values()}
        prune(paths.images, {*used, *machine.backing_files(paths.hosts())})
        inventory.write(paths, execution | _running(paths))
        _wait_for_logins(chosen, progress)
    return [host.name for host in begun]


def down(
    paths: LabPaths, progress: Progress, *, delete: bool = False, names: Sequence[str] = ()
) -> list[str]:
    """Power hosts off and end their processes; ``delete`` removes their disks too.

    Returns the names of the hosts that were running.
    """
    stopped = []
    with _exclusive(paths):
        for host in [paths.host(name) for name in names] or paths.hosts():
            progress.stage(f"Powering off {host.name}")
            if machine.stop(host):
                stopped.append(host.name)
            if delete:
                host.disk.unlink(missing_ok=True)
    return stopped


def status(paths: LabPaths) -> list[HostStatus]:
    """How every host stands, without touching any."""
    return [_host_status(host) for host in paths.hosts()]


def _host_status(host: Host) -> HostStatus:
    power = machine.power_state(host)
    began = machine.started(host) if power != "down" else None
    kernel = uptime = None
    if power == "on" and ssh.banner(host):
        answer = ssh.run(host, "uname -r; cat /proc/uptime")
        if answer.returncode == 0:
            kernel, seconds = answer.stdout.split()[:2]
            uptime = float(seconds)
    return HostStatus(
        name=host.name,
        power=power,
        pid=machine.pid(host),
        ssh_port=(began.ssh_port if began else None) or host.ssh_port,
        accel=began.accel if began else None,
        clock=str(began.clock) if began else None,
        cpu=host.spec.cpu,
        kernel=kernel,
        uptime_s=uptime,
        image=began.image if began else None,
    )


def _clock(host: Host, asked: Clock | None) -> Clock | None:
    always = host.spec.clock
    if asked is not None and always is not None and asked is not always:
        raise LabError(
            f"{host.name} has {always} time only, not {asked}.",
            hint=f"Name the other hosts, or leave --clock {asked} out.",
        )
    return always or asked


def _execution(
    host: Host, images: Mapping[System, Image], paths: LabPaths, asked: Clock | None
) -> Execution:
    # A host that is to count is emulated whatever the machine can: no trial is needed. Nor has one
    # that is not started, or stands for a server.
    image = images.get(host.spec.system)
    if asked is Clock.COUNTED or image is None or host.spec.system.is_server:
        return execution_of("tcg", asked)
    return execution_of(acceleration.choose(host.spec, image, paths.acceleration).name, asked)


def _with_plugin(
    execution: dict[str, Execution], paths: LabPaths, progress: Progress
) -> dict[str, Execution]:
    """The same with the emulator's plugin where time is counted, if there can be one."""
    progress.stage("Compiling the plugin that counts")
    try:
        plugin = ensure_plugin(paths.plugins)
    except NoPluginError as error:
        progress.warn(f"No exact counts: {error}. The hosts start without them.")
        return execution
    return {
        name: replace(each, plugin=plugin) if each.counted else each
        for name, each in execution.items()
    }


def _running(paths: LabPaths) -> dict[str, Execution]:
    """How the hosts that run were started, which may be another way than this call's."""
    found = {
        host.name: machine.started(host) for host in paths.hosts() if machine.pid(host) is not None
    }
    return {name: began.execution for name, began in found.items() if began}


def _ensure_on(host: Host, image: Image, execution: Execution, fresh: bool) -> bool:
    """Start the host unless it is on; True if it had to be started."""
    state = machine.power_state(host)
    if state == "on":
        return False
    if state == "off":
        # Powered off from inside or through its power interface: begin again.
        machine.stop(host)
    machine.ensure_disk(host, image, fresh)
    machine.start(host, image, execution)
    return True


def _wait_for_logins(hosts: Sequence[Host], progress: Progress) -> None:
    progress.stage("Waiting for SSH")
    began = time.monotonic()
    waiting = list(hosts)
    while waiting:
        for host in list(waiting):
            if ssh.banner(host, timeout_s=2) and ssh.logs_in(host):
                waiting.remove(host)
            elif machine.pid(host) is None:
                raise _not_up(host, "its QEMU process ended")
        if waiting and time.monotonic() - began > UP_TIMEOUT_S:
            raise _not_up(waiting[0], f"no SSH login within {UP_TIMEOUT_S} s")
        progress.detail(_boot_detail(waiting))
        if waiting:
            time.sleep(0.5)


def _boot_detail(waiting: Sequence[Host]) -> str:
    latest = (f"{host.name}: {machine.serial_tail(host, 1).strip()[:60]}" for host in waiting)
    return "  ".join(latest)


def _not_up(host: Host, what: str) -> LabError:
    tail = machine.serial_tail(host, _TAIL_LINES) or "(nothing)"
    return LabError(
        f"{host.name} did not come up: {what}. The end of its serial line:\n{tail}",
        hint=f"`mitigauge lab console {host.name}` shows more; `mitigauge lab up --fresh` "
        "starts from a new disk.",
    )


@contextmanager
def _exclusive(paths: LabPaths) -> Iterator[None]:
    """One ``up`` or ``down`` at a time; a second one waits."""
    paths.home.mkdir(parents=True, exist_ok=True)
    with (paths.home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
