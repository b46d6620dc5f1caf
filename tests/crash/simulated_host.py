"""A host whose world is a JSON file, so that it survives the workers acting on it.

It obeys :class:`pipelines.host_control.HostControl` exactly and counts every side
effect, so that a test can tell what was done twice.
"""

from __future__ import annotations

import fcntl
import io
import json
import tarfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipelines.host_control import Facts, JobCase, LeaseGone, RunLog, Unanswered

RECORDED = (
    Path(__file__).parents[1] / "fixtures" / "profiles" / "syscall-basic.perf.script.gz"
).read_bytes()
PROFILED = {
    "state": "ok", "detail": "", "hz": 499, "perf": "6.1", "event": "cpu-clock", "lost": 3,
    "seconds": 1.5, "counters": {"cycles": 12.0}, "capture": "perf.script.gz",
}  # fmt: skip
NO_PERF = {"state": "failed", "hz": 499, "detail": "perf is not installed on the host"}
JOB_LASTED_S = 0.25
MITIGATED = {"knob=on": "Mitigation: Knob", "knob=off": "Vulnerable"}


@dataclass(frozen=True)
class SimulatedHost:
    """One host; *world* is its file."""

    world: Path
    log: RunLog

    @contextmanager
    def _world(self) -> Iterator[dict[str, Any]]:
        with self.world.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            world = json.loads(self.world.read_text()) if self.world.exists() else new_world()
            yield world
            draft = self.world.with_suffix(".new")
            draft.write_text(json.dumps(world))
            draft.replace(self.world)

    def _require_lease(self) -> None:
        if not self.log.holds():
            raise LeaseGone("the lease was lost")

    def _do(self, what: str) -> None:
        self._require_lease()
        with self._world() as world:
            world["did"].append(what)

    def prepare(
        self,
        *,
        kernels: Sequence[str],
        workloads: Sequence[str],
        guest: bool,
        profiled: bool,
        guest_profiled: bool,
    ) -> Facts:
        where = " in the guest too" if guest_profiled else ""
        self._do(f"prepare with perf{where}" if profiled else "prepare")
        return {"kernels": list(kernels), "boot_timeout_s": 5}

    def arm(self, *, nonce: str, cmdline: str, kernel: str) -> Facts:
        self._require_lease()
        with self._world() as world:
            if world["nonce"] == nonce:
                return {"already_up": True, "kernel_release": "7.2", "previous_boot_id": None}
            previous = world["boot_id"]
            world["did"].append(f"boot {nonce}")
            knob = cmdline.rsplit(maxsplit=1)[-1]
            if world["panics"].get(knob, 0) > 0:
                world["panics"][knob] -= 1
                world.update(nonce="", cmdline="", boot_id=str(uuid.uuid4()))
                return {"kernel_release": "7.2", "previous_boot_id": previous}
            world.update(nonce=nonce, cmdline=cmdline, boot_id=str(uuid.uuid4()))
            return {"kernel_release": "7.2", "previous_boot_id": previous}

    def answers(self) -> bool:
        return True

    def verify(self) -> Facts:
        with self._world() as world:
            knob = world["cmdline"].split()[-1] if world["cmdline"] else ""
            proof = {
                "boot_id": world["boot_id"],
                "nonce": world["nonce"],
                "kernel_release": "7.2",
                "build_id": None,
                "cmdline": world["cmdline"],
                "vulnerabilities": {"knob": world["says"].get(knob) or MITIGATED.get(knob, "?")},
                "tainted": 0,
            }
        return {"proof": proof, "fingerprint": {"cpu_model": "simulated"}}

    def start(
        self,
        job: str,
        cases: Sequence[JobCase],
        directory: Path,
        *,
        wait_s: float,
        wanted: Callable[[], bool],
    ) -> Facts:
        self._require_lease()
        with self._world() as world:
            if job not in world["jobs"]:
                world["did"].append(f"job {job}")
                world["jobs"][job] = [asdict(case) for case in cases]
            quick = world["quick"]
        # One that is not quick outlasts whoever starts it.
        if not quick:
            return {"state": "running"}
        return self.poll(job, directory, wait_s=wait_s, wanted=wanted)

    def poll(
        self, job: str, directory: Path, *, wait_s: float, wanted: Callable[[], bool]
    ) -> Facts:
        until = time.monotonic() + min(wait_s, self._outlasts())
        while wanted() and time.monotonic() < until:
            time.sleep(0.05)
        if time.monotonic() < until:
            return {"state": "running"}
        with self._world() as world:
            silent = world["silent"] > 0
            world["silent"] -= silent
            cases = world["jobs"].get(job)
        if silent:
            raise Unanswered("poll.yml on alpha: unreachable:\nConnection reset")
        if cases is None:
            return {"state": "missing", "detail": "no such job"}
        archive = directory / "job.tar.gz"
        archive.write_bytes(packed(job, cases, profile=world["profile"]))
        return {"state": "finished", "seconds": JOB_LASTED_S, "archive": str(archive)}

    def _outlasts(self) -> float:
        """Seconds for which a poll finds the job running."""
        with self._world() as world:
            return float(world["job_s"])

    def restore(self) -> Facts:
        self._do("restore")
        return {}

    def power_cycle(self) -> None:
        self._do("power-cycle")

    def serial_offset(self) -> int | None:
        return 0

    def serial_tail(self, since: int | None) -> str:
        return "simulated console"


def new_world() -> dict[str, Any]:
    """A host nobody touched yet."""
    return {
        "boot_id": str(uuid.uuid4()),
        "nonce": "",
        "cmdline": "",
        "jobs": {},
        "did": [],
        "says": {},
        "panics": {},
        "silent": 0,
        "job_s": 0.0,
        "quick": False,
        "profile": "ok",
    }


def packed(job: str, cases: Sequence[dict[str, Any]], *, profile: str = "ok") -> bytes:
    """The archive a finished job leaves: one value file a case, and what was profiled."""
    files: dict[str, Any] = {
        "state.json": {
            "state": "finished",
            "finished_cases": [{"case_id": c["case_id"], "exit_code": 0} for c in cases],
        },
        **{f"{c['case_id']}/case.json": c for c in cases},
    }
    for case in cases:
        if case["profile_hz"]:
            for name, content in profiled(case, profile).items():
                files[f"{case['case_id']}/profile/{name}"] = content
        if case.get("profile_guest"):
            for name, content in of_guest(profile).items():
                files[f"{case['case_id']}/profile/guest/{name}"] = content
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            member = tarfile.TarInfo(f"{job}/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def of_guest(how: str) -> dict[str, Any]:
    """Files that the guest of a profiled pass left."""
    if how == "no guest":
        return {"profile.json": {"state": "failed", "hz": 499, "detail": "the guest said nothing"}}
    return {"profile.json": PROFILED, "perf.script.gz": RECORDED}


def profiled(case: dict[str, Any], how: str) -> dict[str, Any]:
    """Files of a profiled pass that went well, or wrong in one of the ways there are."""
    again = {**case, "warmup": 0}
    files: dict[str, Any] = {
        "case.json": again, "profile.json": PROFILED, "perf.script.gz": RECORDED,
    }  # fmt: skip
    if how == "no perf":
        return {"profile.json": NO_PERF}
    if how == "damaged":
        files["perf.script.gz"] = RECORDED[:-500]
    if how == "left out":
        del files["perf.script.gz"]
    if how == "cut off":
        del files["profile.json"]
    if how == "another's":
        files["case.json"] = {**again, "case_id": "4711"}
    return files


def opener(directory: Path) -> Callable[[str, str, RunLog], SimulatedHost]:
    """A host factory whose worlds lie in *directory*."""

    def open_host(environment: str, name: str, log: RunLog) -> SimulatedHost:
        return SimulatedHost(directory / f"{name}.json", log)

    return open_host
