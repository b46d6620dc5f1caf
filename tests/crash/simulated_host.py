"""A host whose world is a JSON file, so that it survives the workers acting on it.

It obeys :class:`pipelines.host_control.HostControl` exactly and counts every side effect, with
its boot's nonce or its job's name, so that a test can tell what was done twice. How it
misbehaves is said by the pieces of :mod:`tests.crash.behaviours` in its world.
"""

from __future__ import annotations

import fcntl
import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mitigauge.core.wire.case import Case
from mitigauge.measurement.fleet.boot_method import BootMethod
from pipelines.host_control import POWER_CYCLE, Facts, LeaseGone, Needs, RunLog, Unanswered
from tests.crash.behaviours import OF_THE_HOST, Behaviour, as_json, behaviours_of, said_by
from tests.crash.job_archive import RECORDED, packed

__all__ = ["JOB_LASTED_S", "RECORDED", "SimulatedHost", "new_world", "opener", "write_world"]

JOB_LASTED_S = 0.25
MITIGATED = {"knob=on": "Mitigation: Knob", "knob=off": "Vulnerable"}
WANTED_EVERY_S = 0.1
TAIL_BYTES = 16 << 10


@dataclass
class SimulatedHost:
    """One host; *world* is its file."""

    world: Path
    log: RunLog
    made: int = 0
    """What was done on the host by calls of this object."""

    def prepare(self, needs: Needs) -> Facts:
        where = " in the guest too" if needs.guest_profiled else ""

        def act(world: dict[str, Any]) -> dict[str, Any]:
            world["did"].append(f"prepare with perf{where}" if needs.profiled else "prepare")
            world["tuned"] = True
            return {"kernels": list(needs.kernels), "boot_timeout_s": world["boot_timeout_s"]}

        self._require_lease()
        return self._call("prepare", act)

    def arm(self, *, nonce: str, cmdline: str, kernel: str, method: BootMethod) -> Facts:
        def act(world: dict[str, Any]) -> dict[str, Any]:
            if world["nonce"] == nonce:
                return {"already_up": True, "kernel_release": "7.2", "previous_boot_id": None}
            world["did"].append(f"boot {nonce}")
            world["armed"] = nonce
            previous = world["boot_id"]
            knob = cmdline.rsplit(maxsplit=1)[-1] if cmdline else ""
            panics = world["panics"].get(knob, 0) > 0
            if panics:
                world["panics"][knob] -= 1
                come_up(world)
            else:
                come_up(world, nonce=nonce, cmdline=cmdline)
            return {"kernel_release": "7.2", "previous_boot_id": previous}

        self._require_lease()
        return self._call("arm", act)

    def answers(self) -> bool:
        try:
            return bool(self._call("answers", lambda _: {"answers": True})["answers"])
        except Unanswered:
            return False

    def verify(self, reads: Sequence[str] = (), writes: Mapping[str, str] | None = None) -> Facts:
        def act(world: dict[str, Any]) -> dict[str, Any]:
            if writes is not None:
                world["written"] = dict(writes)
                world["did"].append(f"apply {' '.join(writes.values()) or 'nothing'}")
            return _verified(world, reads)

        return self._call("verify", act)

    def start(
        self,
        job: str,
        cases: Sequence[Case],
        directory: Path,
        *,
        wait_s: float,
        wanted: Callable[[], bool],
    ) -> Facts:
        def act(world: dict[str, Any]) -> dict[str, Any]:
            if job not in world["jobs"]:
                world["did"].append(f"job {job}")
                world["jobs"][job] = [dict(case) for case in cases]
            return {"state": "running", "quick": world["quick"]}

        self._require_lease()
        started = self._call("start", act)
        # One that is not quick outlasts whoever starts it.
        if not started["quick"]:
            return {"state": started["state"]}
        return self.poll(job, directory, wait_s=wait_s, wanted=wanted)

    def poll(
        self, job: str, directory: Path, *, wait_s: float, wanted: Callable[[], bool]
    ) -> Facts:
        until = time.monotonic() + min(wait_s, self._outlasts())
        while time.monotonic() < until and wanted():
            time.sleep(min(WANTED_EVERY_S, max(until - time.monotonic(), 0.0)))
        if time.monotonic() < until:
            return {"state": "running"}
        return self._call("poll", lambda world: _polled(world, job, directory))

    def restore(self) -> Facts:
        def act(world: dict[str, Any]) -> dict[str, Any]:
            world["did"].append("restore")
            world["tuned"] = False
            return {}

        self._require_lease()
        return self._call("restore", act)

    def power_cycle(self) -> None:
        def act(world: dict[str, Any]) -> dict[str, Any]:
            world["did"].append("power-cycle")
            world["power_cycles"].append(world["armed"])
            if world["power"] != "dead":
                world["power"] = "up"
            come_up(world, power_cycled=True)
            return {}

        self.log.line("power", POWER_CYCLE)
        self._require_lease()
        self._call("power_cycle", act)

    def serial_offset(self) -> int | None:
        said = self._call("serial_offset", lambda world: {"offset": len(world["console"])})
        return int(said["offset"])

    def serial_log(self, since: int | None) -> str:
        return self.serial_tail(since)

    def serial_tail(self, since: int | None) -> str:
        def act(world: dict[str, Any]) -> dict[str, Any]:
            console = world["console"]
            # A log that is shorter than it was is another one.
            start = since if since is not None and since <= len(console) else 0
            return {"tail": console[start:][-TAIL_BYTES:]}

        return str(self._call("serial_tail", act)["tail"])

    def _require_lease(self) -> None:
        if not self.log.holds():
            raise LeaseGone("the lease was lost")

    def _outlasts(self) -> float:
        """Seconds for which a poll finds the job running."""
        with changed(self.world) as world:
            return float(world["job_s"])

    def _call(self, call: str, act: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
        """One call: what misbehaves before it, the call itself, what misbehaves after it."""
        with changed(self.world) as world:
            lasts_s = sum(piece.lasts_s(call) for piece in behaviours_of(world))
        time.sleep(lasts_s)
        with changed(self.world) as world, kept(world) as pieces:
            for piece in pieces:
                piece.before(call, world)
            if call in OF_THE_HOST and world["power"] != "up":
                raise Unanswered(f"{call}: unreachable:\nNo route to host")
            boot, had = world["boot_id"], len(world["did"])
            answer = act(world)
            self.made += len(world["did"]) - had
            if world["boot_id"] != boot:
                _settle(world, pieces)
            for piece in pieces:
                answer = piece.after(call, answer, world)
            return answer


def come_up(
    world: dict[str, Any], *, nonce: str = "", cmdline: str = "", power_cycled: bool = False
) -> None:
    """Another system is up: the one that was armed, or else the fallback."""
    world.update(
        nonce=nonce,
        cmdline=cmdline,
        previous_boot_id=world["boot_id"],
        boot_id=str(uuid.uuid4()),
        power_cycled=power_cycled,
        written=dict(_sysctl(word) for word in cmdline.split() if word.startswith("sysctl.")),
    )


def _sysctl(word: str) -> tuple[str, str]:
    """File and text of a word ``sysctl.NAME=VALUE``."""
    name, _, value = word.removeprefix("sysctl.").partition("=")
    return "proc/sys/" + name.replace(".", "/"), value


def _settle(world: dict[str, Any], pieces: Sequence[Behaviour]) -> None:
    """How the reboot went, once the pieces had their say."""
    for piece in pieces:
        piece.booted(world)
    if world["power"] != "up":
        world.update(nonce="", cmdline="")
    if not world["nonce"] and not world["power_cycled"]:
        world["fell_back"].append(world["armed"])
    world["console"] += f"simulated console of boot {world['nonce'] or 'fallback'}\n"


def _verified(world: dict[str, Any], reads: Sequence[str]) -> dict[str, Any]:
    knob = world["cmdline"].split()[-1] if world["cmdline"] else ""
    proof = {
        "boot_id": world["boot_id"],
        "nonce": world["nonce"],
        "kernel_release": "7.2",
        "build_id": world.get("build_id", "b1" * 20),
        "cmdline": world["cmdline"],
        "vulnerabilities": {"knob": world["says"].get(knob) or MITIGATED.get(knob, "?")},
        "readings": {name: world["written"].get(name) for name in reads},
        "tainted": 0,
        "loader_type": 0x72,
    }
    return {"proof": proof, "fingerprint": {"cpu_model": "simulated"}}


def _polled(world: dict[str, Any], job: str, directory: Path) -> dict[str, Any]:
    if world["silent"] > 0:
        world["silent"] -= 1
        raise Unanswered("poll.yml on alpha: unreachable:\nConnection reset")
    cases = world["jobs"].get(job)
    if cases is None:
        return {"state": "missing", "detail": "no such job"}
    archive = directory / "job.tar.gz"
    said = said_by(behaviours_of(world))
    archive.write_bytes(packed(job, cases, profile=world["profile"], said=said))
    return {"state": "finished", "seconds": JOB_LASTED_S, "archive": str(archive)}


@contextmanager
def changed(file: Path) -> Iterator[dict[str, Any]]:
    """The world in *file*, ours alone, written back even where the call failed."""
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = file.read_text() if file.exists() else json.dumps(new_world())
        world = json.loads(before)
        try:
            yield world
        finally:
            after = json.dumps(world)
            if after != before or not file.exists():
                draft = file.with_suffix(".new")
                draft.write_text(after)
                draft.replace(file)


@contextmanager
def kept(world: dict[str, Any]) -> Iterator[list[Behaviour]]:
    """The world's pieces; what they counted is kept."""
    pieces = behaviours_of(world)
    try:
        yield pieces
    finally:
        world["behaviours"] = as_json(pieces)


def new_world(*behaviours: Behaviour, **facts: Any) -> dict[str, Any]:
    """A host nobody touched yet, with its ways to misbehave."""
    return {
        "boot_id": str(uuid.uuid4()),
        "previous_boot_id": None,
        "nonce": "",
        "cmdline": "",
        "power": "up",
        "power_cycled": False,
        "armed": "",
        "tuned": False,
        "console": "",
        "jobs": {},
        "did": [],
        "power_cycles": [],
        "fell_back": [],
        "written": {},
        "says": {},
        "panics": {},
        "silent": 0,
        "job_s": 0.0,
        "quick": False,
        "profile": "ok",
        "boot_timeout_s": 60,
        "behaviours": as_json(behaviours),
        **facts,
    }


def write_world(file: Path, *behaviours: Behaviour, **facts: Any) -> None:
    """Make a host's world anew."""
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        file.write_text(json.dumps(new_world(*behaviours, **facts)))


def opener(directory: Path) -> Callable[[str, str, RunLog], SimulatedHost]:
    """A host factory whose worlds lie in *directory*."""

    def open_host(environment: str, name: str, log: RunLog) -> SimulatedHost:
        file = directory / f"{name}.json"
        with changed(file) as world, kept(world) as pieces:
            for piece in pieces:
                piece.opened(name)
        return SimulatedHost(file, log)

    return open_host
