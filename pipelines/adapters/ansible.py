"""Running a playbook against one host through ansible-runner.

Our modules return what they learned under ``mitigauge``; a play's answer is all of
that, merged. Each task's event is handed on as it happens.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ansible_runner

from mitigauge.errors import MitigaugeError
from mitigauge.fleet.inventory import inventory_sources
from mitigauge.settings import REPOSITORY, get_settings

ANSIBLE = REPOSITORY / "ansible"
MESSAGE_LIMIT = 2000
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


class PlayTimedOut(PlayFailure):
    """The play took longer than it may."""


class PlayCancelled(PlayFailure):
    """The play was stopped because the lease was lost."""


@dataclass(slots=True)
class _Listener:
    """Gathers a play's events as ansible-runner hands them over."""

    on_event: Callable[[PlayEvent], None]
    returned: dict[str, Any] = field(default_factory=dict)
    ok: int = 0
    changed: int = 0
    failure: PlayEvent | None = None

    def __call__(self, event: Mapping[str, Any]) -> bool:
        status = STATUS_OF_EVENT.get(event.get("event", ""))
        if status:
            self._take(status, event.get("event_data", {}))
        return False  # ansible-runner need not keep the event on disk

    def _take(self, status: str, data: Mapping[str, Any]) -> None:
        result = data.get("res") or {}
        if status == "ok":
            self.ok += 1
            self.returned.update(result.get("mitigauge") or {})
            if result.get("changed"):
                self.changed += 1
                status = "changed"
        said = _message(result) if status in ("failed", "unreachable") else ""
        event = PlayEvent(str(data.get("task", "")), status, float(data.get("duration") or 0), said)
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

    Raises :class:`PlayUnreachable`, :class:`PlayTimedOut`, :class:`PlayCancelled` or
    plain :class:`PlayFailure`, each naming host, task and what was said.
    """
    listener = _Listener(on_event)
    scratch_root = get_settings().home / "ansible-runner"
    scratch_root.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    scratch = Path(tempfile.mkdtemp(prefix="run-", dir=scratch_root))
    try:
        runner = ansible_runner.run(
            private_data_dir=str(scratch),
            ident=uuid.uuid4().hex,
            project_dir=str(ANSIBLE),
            playbook=str(ANSIBLE / "playbooks" / playbook),
            inventory=[str(source) for source in inventory_sources(environment)],
            limit=host,
            extravars=dict(variables),
            envvars=_environment(),
            event_handler=listener,
            cancel_callback=lambda: not check_alive(),
            timeout=int(timeout_s),
            quiet=True,
        )
        status = str(runner.status)
        said = "" if listener.failure else _stdout_tail(runner)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    _raise_unless_fine(status, said, listener, f"{playbook} on {host}", timeout_s)
    return PlayResult(listener.returned, listener.ok, listener.changed, time.monotonic() - started)


def _environment() -> dict[str, str]:
    return {
        "ANSIBLE_CONFIG": str(ANSIBLE / "ansible.cfg"),
        # ansible-playbook stands beside the Python that runs us.
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "LC_ALL": "C.UTF-8",
    }


def _raise_unless_fine(
    status: str, said: str, listener: _Listener, what: str, timeout_s: float
) -> None:
    failure = listener.failure
    if failure and failure.status == "unreachable":
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


def _message(result: Mapping[str, Any]) -> str:
    parts = [str(result.get(key, "")).strip() for key in ("msg", "stderr", "module_stderr")]
    return "; ".join(part for part in parts if part)[:MESSAGE_LIMIT]


def _stdout_tail(runner: Any) -> str:
    try:
        with runner.stdout as stream:
            return str(stream.read())[-MESSAGE_LIMIT:].strip()
    except (OSError, AttributeError, ansible_runner.exceptions.AnsibleRunnerException):
        return "no output"
