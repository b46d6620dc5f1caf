"""One host's QEMU process: start, stop, look."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lab import control, metal, ssh
from lab.errors import LabError
from lab.execution import PROGRAM, Execution
from lab.hosts import Host
from lab.image import Image
from lab.qemu import cleared_bytes, host_arguments
from mitigauge.core.clock import Clock

START_TIMEOUT_S = 30
GRACEFUL_S = 45.0
# Colours and cursor movements; a log is text.
_TERMINAL_CONTROL = re.compile(r"\x1b\[[0-9;?!]*[A-Za-z]")


@dataclass(frozen=True)
class Started:
    """How the running process was started; kept beside it."""

    accel: str
    image: str
    kernel: str
    started_at: float
    ssh_port: int | None = None
    clock: Clock = Clock.REAL
    plugin: str | None = None

    @property
    def execution(self) -> Execution:
        """How the host's instructions are run."""
        plugin = Path(self.plugin) if self.plugin else None
        return Execution(self.accel, Clock(self.clock), plugin)


def pid(host: Host) -> int | None:
    """Process id of the host's QEMU; None if it does not run."""
    try:
        number = int(host.pidfile.read_text().strip())
        program = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError, ValueError):
        return None
    # The number may have gone to another process since.
    ours = str(host.pidfile).encode() in program
    return number if ours and program[0].endswith(PROGRAM.encode()) else None


def power_state(host: Host) -> str:
    """``on``, ``off`` (process alive, machine powered off) or ``down`` (no process)."""
    if pid(host) is None:
        return "down"
    return "on" if control.run_state(host.control_socket) == "running" else "off"


def started(host: Host) -> Started | None:
    """How the host was started last; None if never."""
    try:
        told = json.loads(host.state.read_text("utf-8"))
        # A version before or after this one may have started it, and told more.
        return Started(**{name: told[name] for name in Started.__annotations__ if name in told})
    except (FileNotFoundError, json.JSONDecodeError, TypeError):
        return None


def require_port(host: Host) -> None:
    """Raise LabError if the host runs with another SSH port than these settings give it."""
    began = started(host)
    if began is None or began.ssh_port is None or pid(host) is None:
        return
    if began.ssh_port == host.ssh_port:
        return
    base = began.ssh_port - host.spec.port_offset
    raise LabError(
        f"{host.name} runs with SSH on port {began.ssh_port}, not {host.ssh_port}.",
        hint=f"Set MITIGAUGE_LAB_PORT_BASE={base} as when it was started, or stop it first: "
        "`mitigauge lab down`.",
    )


def require_clock(host: Host, asked: Clock | None) -> None:
    """Raise LabError if the host runs by another clock than the one asked for."""
    began = started(host)
    if asked is None or began is None or pid(host) is None:
        return
    if began.execution.clock is not asked:
        raise LabError(
            f"{host.name} runs by {began.execution.clock} time, not {asked}.",
            hint=f"Stop it first: `mitigauge lab down {host.name}`.",
        )


def ensure_disk(host: Host, image: Image, fresh: bool) -> None:
    """Give the host its overlay on ``image``; an overlay on another image is made anew."""
    host.directory.mkdir(parents=True, exist_ok=True)
    if host.disk.exists() and not fresh and _backing_file(host.disk) == image.disk:
        return
    overlays = {host.disk: image.disk}
    if host.spec.system.is_server:
        overlays[host.second_disk] = image.second_disk
        metal.ensure_variables(host, image)
    for overlay, base in overlays.items():
        overlay.unlink(missing_ok=True)
        _qemu_img("create", "-q", "-f", "qcow2", "-F", "raw", "-b", str(base), str(overlay))


def backing_files(hosts: Iterable[Host]) -> set[Path]:
    """The base disks that the hosts' overlays need."""
    disks = (_backing_file(host.disk) for host in hosts if host.disk.exists())
    return {disk for disk in disks if disk}


def start(host: Host, image: Image, execution: Execution) -> None:
    """Start the detached process. It is up when QEMU says so; the guest then boots."""
    for stale in (
        host.qmp_socket,
        host.control_socket,
        host.nmi_socket,
        host.serial_socket,
        host.pidfile,
    ):
        stale.unlink(missing_ok=True)
    shutil.rmtree(host.windows, ignore_errors=True)
    host.windows.mkdir(parents=True)
    host.zeros.touch()
    os.truncate(host.zeros, cleared_bytes(host.spec))
    with host.qemu_log.open("wb") as log:
        try:
            done = subprocess.run(
                host_arguments(host, execution),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                timeout=START_TIMEOUT_S,
                start_new_session=True,
                cwd=host.directory,
                check=False,
            )
        except FileNotFoundError as error:
            raise LabError(
                f"{PROGRAM} is not installed.", hint="Install what lab/packages.txt lists."
            ) from error
        except subprocess.TimeoutExpired as error:
            raise LabError(
                f"QEMU of {host.name} was not ready within {START_TIMEOUT_S} s.",
                hint=f"{host.qemu_log} has what it said.",
            ) from error
    if done.returncode:
        said = host.qemu_log.read_text("utf-8", errors="replace")
        raise LabError(
            f"QEMU did not start {host.name}: {_without_warnings(said)}",
            hint=f"If port {host.ssh_port} is taken, set MITIGAUGE_LAB_PORT_BASE.",
        )
    state = Started(
        execution.accel,
        image.digest,
        image.release,
        time.time(),
        host.ssh_port,
        execution.clock,
        str(execution.plugin) if execution.plugin else None,
    )
    host.state.write_text(json.dumps(vars(state), indent=2) + "\n", "utf-8")


def stop(host: Host) -> bool:
    """Power off through the guest, then end the process; False if it was not running."""
    number = pid(host)
    if number is None:
        return False
    try:
        if control.run_state(host.control_socket) == "running":
            _ask_to_power_off(host)
        control.quit_machine(host.control_socket)
    except LabError:
        # A process that no longer listens has to go all the same.
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    deadline = time.monotonic() + START_TIMEOUT_S
    while pid(host) is not None:
        if time.monotonic() > deadline:
            raise LabError(f"QEMU of {host.name} (pid {number}) does not end.")
        time.sleep(0.1)
    return True


def _ask_to_power_off(host: Host) -> None:
    """Let a guest that can be reached write its disk back; one that cannot is cut off."""
    if not ssh.banner(host):
        return
    try:
        # The connection may well end before the command does.
        ssh.run(host, "systemctl --no-block poweroff 2>/dev/null", timeout_s=GRACEFUL_S)
    except subprocess.TimeoutExpired:
        return
    deadline = time.monotonic() + GRACEFUL_S
    while time.monotonic() < deadline:
        if control.run_state(host.control_socket) != "running":
            return
        time.sleep(0.2)


def serial_tail(host: Host, lines: int) -> str:
    """The last lines of the serial log."""
    try:
        size = host.serial_log.stat().st_size
        with host.serial_log.open("rb") as file:
            # Boot messages seldom pass this length; a few lines less do no harm.
            file.seek(max(0, size - 200 * lines))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
    plain = _TERMINAL_CONTROL.sub("", text).replace("\r", "")
    return "\n".join(plain.splitlines()[-lines:])


def _backing_file(disk: Path) -> Path | None:
    described = json.loads(_qemu_img("info", "-U", "--output=json", str(disk)))
    name = described.get("backing-filename")
    return Path(name) if name else None


def _qemu_img(*arguments: str) -> str:
    try:
        done = subprocess.run(["qemu-img", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise LabError(
            "qemu-img is not installed.", hint="Install what lab/packages.txt lists."
        ) from error
    if done.returncode:
        raise LabError(f"qemu-img {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout


def _without_warnings(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if ": warning: " not in line)
