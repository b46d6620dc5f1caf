"""Running a playbook against one host through ansible-runner.

Our modules return what they learned under ``mitigauge``; a play's answer is all of
that, merged. Each task's event is handed on as it happens. Plays of different hosts
may run in different threads at once.
"""

from __future__ import annotations

import math
import os
import shutil
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ansible_runner
from ansible_runner.exceptions import AnsibleRunnerException

from mitigauge.core.errors import MitigaugeError
from mitigauge.core.hostile_text import clean, quoted
from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.measurement.fleet.inventory import INVENTORY_READING, inventory_sources
from mitigauge.measurement.fleet.inventory_values import names_one_host
from pipelines.adapters.ansible_variables import write_variables

ANSIBLE = REPOSITORY / "ansible"
MESSAGE_LIMIT = 2000
# How often a play in progress asks whether it may go on.
PULSE_S = 1
# What ssh says of a host's key that it does not trust, in this order: what it means, what to do.
KNOWN_HOSTS = (
    "UserKnownHostsFile in the host's ansible_ssh_common_args names the file of known keys; "
    "`ssh-keyscan -p PORT ADDRESS` asks for the key, to be compared with the host's console."
)
UNTRUSTED = (
    (
        "IDENTIFICATION HAS CHANGED",
        "the host's SSH key is not the known one: another machine answers there, or the host was "
        "installed anew",
        "Look at the host first. Was it installed anew, replace its line.",
    ),
    ("REVOKED HOST KEY", "the host's SSH key is marked as revoked", "Give the host a new key."),
    (
        "Host key verification failed",
        "no SSH key of the host is known, so that nobody can tell who answers",
        "Put its key in once.",
    ),
)
# A process that the kernel cannot end at once (in uninterruptible sleep) is not waited for longer.
ENDING_S = 5
STATUS_OF_EVENT = {
    "runner_on_ok": "ok",
    "runner_on_failed": "failed",
    "runner_on_unreachable": "unreachable",
    "runner_on_skipped": "skipped",
}


@dataclass(frozen=True, slots=True)
class PlayEvent:
    """One task's end on the host; *message* is shortened."""

    task: str
    status: str
    duration_s: float
    message: str = ""


@dataclass(frozen=True, slots=True)
class PlayResult:
    """What a play did: its modules' answers merged, and how many tasks changed something."""

    returned: Mapping[str, Any]
    ok: int
    changed: int
    duration_s: float


class PlayFailure(MitigaugeError):
    """A play did not get to its end."""


class PlayUnreachable(PlayFailure):
    """The host did not answer over SSH."""


class PlayUntrusted(PlayUnreachable):
    """Something answers for the host with a key that is not its own, or not known."""


class PlayTimedOut(PlayFailure):
    """The play took longer than it may."""


class PlayCancelled(PlayFailure):
    """The play was stopped because whoever wanted it said so, or has lost its lease."""


class _Caught:
    """Keeps what was raised inside, so that the play can be ended before it is raised on."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        self.error = self.error or error
        return error is not None


@dataclass(slots=True)
class _Listener:
    """Gathers a play's events as ansible-runner hands them over."""

    on_event: Callable[[PlayEvent], None]
    check_alive: Callable[[], bool]
    caught: _Caught = field(default_factory=_Caught)
    returned: dict[str, Any] = field(default_factory=dict)
    ok: int = 0
    changed: int = 0
    failure: PlayEvent | None = None

    def __call__(self, event: Mapping[str, Any]) -> bool:
        status = STATUS_OF_EVENT.get(event.get("event", ""))
        if status and not self.caught.error:
            with self.caught:
                self._take(status, event.get("event_data", {}))
        return False  # ansible-runner need not keep the event on disk

    def must_stop(self) -> bool:
        """Whether the play is to be ended now."""
        alive = False
        if not self.caught.error:
            with self.caught:
                alive = self.check_alive()
        return not alive

    def _take(self, status: str, data: Mapping[str, Any]) -> None:
        result = data.get("res") or {}
        if not isinstance(result, Mapping):
            result = {"msg": str(result)[:MESSAGE_LIMIT]}
        if status == "ok":
            self.ok += 1
            _merge(self.returned, _answer(result))
            if result.get("changed"):
                self.changed += 1
                status = "changed"
        said = _message(result) if status in ("failed", "unreachable") else ""
        event = PlayEvent(
            clean(str(data.get("task", ""))), status, float(data.get("duration") or 0), said
        )
        if status in ("failed", "unreachable") and not data.get("ignore_errors"):
            self.failure = event
        self.on_event(event)


def run_playbook(
    playbook: str,
    *,
    environment: str,
    host: str,
    variables: Mapping[str, Any],
    on_event: Callable[[PlayEvent], None] = lambda _: None,
    timeout_s: float = 300.0,
    check_alive: Callable[[], bool] = lambda: True,
) -> PlayResult:
    """Run ``ansible/playbooks/<playbook>`` on one host of an environment.

    *check_alive* is asked about every second; the play is stopped once it says no, and
    when *on_event* or *check_alive* raises, which is then raised here.

    Raises :class:`PlayUnreachable`, :class:`PlayTimedOut`, :class:`PlayCancelled` or
    plain :class:`PlayFailure`, each naming host, task and what was said.
    """
    if not names_one_host(host):
        raise PlayFailure(
            f"{playbook}: {host[:80]!r} is no host's name but a pattern",
            hint="A play reaches one host, by the name that the inventory gives it.",
        )
    listener = _Listener(on_event, check_alive)
    sources = inventory_sources(environment)
    started = time.monotonic()
    with _scratch() as scratch, _ended_with_us(scratch):
        write_variables(scratch, variables)
        runner = ansible_runner.run(
            private_data_dir=str(scratch),
            ident=uuid.uuid4().hex,
            project_dir=str(ANSIBLE),
            playbook=str(ANSIBLE / "playbooks" / playbook),
            inventory=[str(source) for source in sources],
            limit=host,
            envvars=_environment(scratch),
            event_handler=listener,
            cancel_callback=listener.must_stop,
            settings={"pexpect_timeout": PULSE_S},
            timeout=math.ceil(timeout_s),
            quiet=True,
        )
        status = str(runner.status)
        said = "" if listener.failure else _stdout_tail(runner)
    if listener.caught.error:
        raise listener.caught.error
    _raise_unless_fine(status, said, listener, f"{playbook} on {host}", timeout_s)
    return PlayResult(listener.returned, listener.ok, listener.changed, time.monotonic() - started)


@contextmanager
def _scratch() -> Iterator[Path]:
    """A directory of one play's own: what is in it may be secret, and goes away."""
    root = get_settings().home / "ansible-runner"
    root.mkdir(parents=True, exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix="run-", dir=root))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _ended_with_us(scratch: Path) -> Iterator[None]:
    """No process of the play outlives the block.

    ansible-runner kills the process group of ansible-playbook, but the workers, which
    lead sessions of their own, would go on with their task on a host that is no longer ours.
    """
    try:
        yield
    finally:
        # Again until none is found: what is killed may have started another meanwhile.
        patience = time.monotonic() + ENDING_S
        while (left := _processes_of(scratch)) and time.monotonic() < patience:
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)


def _processes_of(scratch: Path) -> list[int]:
    """Processes that inherited the play's environment, less SSH's shared connection."""
    mark = f"ANSIBLE_LOCAL_TEMP={scratch}/".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is another user's
            ours = mark in (process / "environ").read_bytes()
            if ours and b"[mux]" not in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


def _environment(scratch: Path) -> dict[str, str]:
    return {
        "ANSIBLE_CONFIG": str(ANSIBLE / "ansible.cfg"),
        "ANSIBLE_LOCAL_TEMP": f"{scratch}/tmp",
        **INVENTORY_READING,
        # ansible-playbook stands beside the Python that runs us.
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "LC_ALL": "C.UTF-8",
        # Else ansible-runner turns it off, before whatever an inventory says of it.
        "ANSIBLE_HOST_KEY_CHECKING": "True",
    }


def _raise_unless_fine(
    status: str, said: str, listener: _Listener, what: str, timeout_s: float
) -> None:
    failure = listener.failure
    if failure and failure.status == "unreachable":
        _raise_if_untrusted(failure.message, what)
        raise PlayUnreachable(
            f"{what}: unreachable: {failure.message}", hint="Is the host up, and its key known?"
        )
    if status == "timeout":
        raise PlayTimedOut(f"{what}: not done within {timeout_s:.0f} s", hint="See its events.")
    if status == "canceled":
        raise PlayCancelled(f"{what}: stopped, the lease was lost", hint="Another worker goes on.")
    if failure:
        raise PlayFailure(
            f"{what}: task {failure.task!r} failed: {failure.message}", hint="See its events."
        )
    if status != "successful":
        raise PlayFailure(f"{what}: {status}: {said}", hint="Run the play by hand.")


def _raise_if_untrusted(said: str, what: str) -> None:
    """Raise :class:`PlayUntrusted` where ssh refused the host's key."""
    for sign, reason, way_out in UNTRUSTED:
        if sign in said:
            raise PlayUntrusted(f"{what}: {reason}", hint=f"{way_out} {KNOWN_HOSTS}")


def _answer(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a module of ours says. Raises :class:`PlayFailure` for what none of them would say."""
    said = result.get("mitigauge") or {}
    if not isinstance(said, Mapping):
        raise PlayFailure(
            f"a module answered {quoted(said)} where facts by name belong",
            hint="No module of ours answers so; look at the host.",
        )
    cleaned: Mapping[str, Any] = clean(said)
    return cleaned


def _merge(into: dict[str, Any], answer: Mapping[str, Any]) -> None:
    """Two modules may each add to one key, as both of restore.yml's do."""
    for key, value in answer.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            into[key] = {**into[key], **value}
        else:
            into[key] = value


def _message(result: Mapping[str, Any]) -> str:
    parts = [str(result.get(key, "")).strip() for key in ("msg", "stderr", "module_stderr")]
    return str(clean("; ".join(part for part in parts if part)[:MESSAGE_LIMIT]))


def _stdout_tail(runner: Any) -> str:
    try:
        with runner.stdout as stream:
            return str(clean(stream.read()[-MESSAGE_LIMIT:].strip()))
    except (OSError, AttributeError, AnsibleRunnerException):
        return "no output"
