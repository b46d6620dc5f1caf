"""A host under test over Ansible, its SSH port and its power interface."""

from __future__ import annotations

import math
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mitigauge.core.errors import InvalidInput, MitigaugeError, NotFound
from mitigauge.core.wire.case import Case
from mitigauge.core.wire.job import RUNNING
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.fleet.inventory import load_hosts
from mitigauge.measurement.fleet.service import HostVars
from mitigauge.measurement.runs.boot_evidence import BootProof
from pipelines.adapters.ansible import (
    PlayCancelled,
    PlayEvent,
    PlayFailure,
    PlayUnreachable,
    run_playbook,
)
from pipelines.adapters.console import Console, ConsoleError, Probed, open_console
from pipelines.adapters.host_answers import (
    AppliedAnswer,
    BootAnswer,
    CheckAnswer,
    FingerprintAnswer,
    JobAnswer,
    PricesAnswer,
    ProofAnswer,
    RestoreAnswer,
    part,
    typed,
)
from pipelines.adapters.power import PowerControl, PowerError, open_power
from pipelines.adapters.serial import is_up, telling_part
from pipelines.answers import parse_answer
from pipelines.host_control import (
    POWER_CYCLE,
    Facts,
    HostControl,
    LabFault,
    LeaseGone,
    Needs,
    RunLog,
    Unanswered,
)

# Short: an emulated host's port takes a connection long before the host is up, and that
# one then hears nothing for seconds where the next is answered at once.
BANNER_TIMEOUT_S = 3.0
# On an emulated host a task takes two seconds and a key exchange several.
PLAY_TIMEOUT_S = 300.0
PREPARE_TIMEOUT_S = 1800.0
SERIAL_TAIL_BYTES = 16384
# What a boot and the fallback's print together, with room to spare.
SERIAL_READ_BYTES = 1 << 20


def open_host(environment: str, name: str, log: RunLog) -> HostControl:
    """The named host of an environment. Raises :class:`NotFound` naming the known ones."""
    hosts = load_hosts(environment)
    if name not in hosts:
        raise NotFound(
            f"environment {environment!r} has no host {name!r} any more",
            hint=f"Known: {', '.join(hosts)}.",
        )
    return AnsibleHost(hosts[name], log)


Heard = TypeVar("Heard")


class SilentLog:
    """For a person at a terminal: nothing is logged, nothing stops the play."""

    def line(self, kind: str, text: str) -> None:
        """Drop the line."""

    def alive(self) -> bool:
        """Always go on."""
        return True

    def holds(self) -> bool:
        """Nobody else is asked."""
        return True


class _NotWanted(MitigaugeError):
    """A play was stopped because its answer is not waited for any more."""


@dataclass(frozen=True)
class AnsibleHost:
    """:class:`HostControl` for whatever Ansible reaches."""

    host: HostVars
    log: RunLog

    def prepare(self, needs: Needs) -> Facts:
        """Run prepare.yml; adds the host's boot time-out to what it returns."""
        facts = self._play(
            "prepare.yml",
            {
                "kernel_packages": [f"linux-image-{release}" for release in needs.kernels],
                "kernel_booted": [f"linux-image-{release}" for release in needs.booted],
                "kernel_files": {
                    f"linux-image-{release}": str(file) for release, file in needs.packages.items()
                },
                "kernel_digests": {
                    f"linux-image-{release}": build.package_sha256
                    for release, build in needs.builds.items()
                },
                "workload_names": list(needs.workloads),
                "guest_enabled": needs.guest,
                "guest_profiled": needs.guest_profiled,
                "guest_kernels": list(needs.guest_kernels),
                "workload_profiled": needs.profiled,
                "boot_kexec": needs.kexec,
            },
            timeout_s=PREPARE_TIMEOUT_S,
        )
        return {**facts, "boot_timeout_s": self.host.boot_timeout_s}

    def arm(self, *, nonce: str, cmdline: str, kernel: str, method: BootMethod) -> Facts:
        """Run boot.yml."""
        facts = self._play(
            "boot.yml",
            {
                "boot_mode_nonce": nonce,
                "boot_mode_cmdline": cmdline,
                "boot_mode_kernel": kernel,
                "boot_mode_method": str(method),
            },
        )
        return typed(BootAnswer, part(facts, "boot", "boot.yml"), "the boot entry")

    def answers(self) -> bool:
        """Read the SSH banner: a forwarded port accepts connections long before sshd does."""
        if self._boots_still():
            return False
        where = (self.host.address, self.host.port)
        try:
            with socket.create_connection(where, timeout=BANNER_TIMEOUT_S) as connection:
                connection.settimeout(BANNER_TIMEOUT_S)
                return connection.recv(4) == b"SSH-"
        except OSError:
            return False

    def _boots_still(self) -> bool:
        """Whether the serial line says that nobody is there to knock at.

        An emulator keeps each connection for a host that is not up yet, and hands it over
        later: a server process for each of some thirty, in the midst of what is measured.
        """
        greeting = self.host.power.get("greeting")
        if not greeting:
            return False
        try:
            console = self._console()
            log = console.tail(SERIAL_READ_BYTES) if console else ""
        except ConsoleError:
            return False  # then knocking is all there is
        return not is_up(log, greeting)

    def verify(self, reads: Sequence[str] = (), writes: Mapping[str, str] | None = None) -> Facts:
        """Run verify.yml."""
        facts = self._play(
            "verify.yml",
            {
                "boot_mode_reads": list(reads),
                "runtime_settings_state": "left" if writes is None else "applied",
                "runtime_settings_writes": dict(writes or {}),
            },
        )
        return {
            "proof": typed(ProofAnswer, part(facts, "proof", "verify.yml"), "the proof"),
            **typed(AppliedAnswer, facts, "what was applied"),
            **typed(FingerprintAnswer, facts, "the fingerprint"),
        }

    def look(self) -> BootProof:
        """Run ping.yml: which boot is up. Changes nothing."""
        return parse_answer(
            ProofAnswer, part(self._play("ping.yml", {}), "proof", "ping.yml"), "the proof"
        )

    def check(self, reads: Sequence[str]) -> Facts:
        """Run check.yml: what a run would find; *reads* are files that prove modes."""
        facts = self._play("check.yml", {"host_check_reads": list(reads)})
        return typed(CheckAnswer, part(facts, "check", "check.yml"), "the check")

    def time_prices(self, program: Path, plan: Path, *, timeout_s: float) -> Facts:
        """Run prices.yml: *program* once for each line of *plan*. Leaves nothing there."""
        variables = {"price_probe_program": str(program), "price_probe_plan": str(plan)}
        facts = self._play("prices.yml", variables, timeout_s=timeout_s)
        return typed(PricesAnswer, part(facts, "prices", "prices.yml"), "the prices")

    def start(
        self,
        job: str,
        cases: Sequence[Case],
        directory: Path,
        *,
        wait_s: float = 0.0,
        wanted: Callable[[], bool] = lambda: True,
    ) -> Facts:
        """Run measure.yml."""
        more = {"workload_cases": [dict(case) for case in cases]}
        try:
            return self._job("measure.yml", job, directory, wait_s, wanted, **more)
        except _NotWanted:
            # Stopped before the job had begun, perhaps; one that has is left alone.
            self._job("measure.yml", job, directory, 0.0, lambda: True, **more)
            return {"state": RUNNING}

    def poll(
        self,
        job: str,
        directory: Path,
        *,
        wait_s: float = 0.0,
        wanted: Callable[[], bool] = lambda: True,
    ) -> Facts:
        """Run poll.yml."""
        try:
            return self._job("poll.yml", job, directory, wait_s, wanted)
        except _NotWanted:
            return {"state": RUNNING}

    def _job(
        self,
        playbook: str,
        job: str,
        directory: Path,
        wait_s: float,
        wanted: Callable[[], bool],
        **more: Any,
    ) -> Facts:
        variables = {
            "workload_job": job,
            "workload_fetch_dir": str(directory),
            "workload_wait_s": math.ceil(wait_s),
            **more,
        }
        facts = self._play(playbook, variables, timeout_s=PLAY_TIMEOUT_S + wait_s, wanted=wanted)
        said = typed(JobAnswer, part(facts, "job", playbook), "the job")
        # Never where the host says: it could name any file of this side.
        return {**said, "archive": str(directory / f"{job}.tar.gz")}

    def restore(self) -> Facts:
        """Run restore.yml; its console is no longer listened to."""
        facts = self._play("restore.yml", {})
        # Not where it failed: the lease, and so the console, may be another worker's by now.
        self._of_console(lambda console: console.end())
        return facts

    def reboot(self) -> None:
        """Run host_reboot.yml: into its own default kernel, in a moment."""
        self._play("host_reboot.yml", {})

    def put_back(self) -> Facts:
        """Run host_restore.yml: everything by the host's record of changes."""
        facts = self._play("host_restore.yml", {}, timeout_s=PREPARE_TIMEOUT_S)
        return typed(RestoreAnswer, facts, "what was put back")

    def power_cycle(self) -> None:
        """Reset through the power interface."""
        self._log_progress()
        # Before it: a worker that is lost in the midst leaves this line, if nothing else.
        self.log.line("power", POWER_CYCLE)
        # Last: a controller may take minutes to tell its progress.
        self._require_lease()
        self._power(lambda power: power.cycle())

    def is_on(self) -> bool:
        """Whether the power interface says the host is on."""
        return bool(self._power(lambda power: power.is_on()))

    def serial_offset(self) -> int | None:
        """End of the serial log, which is kept from here on; None for a host without one.

        A console that cannot be read costs what it would have said, and no boot.
        """

        def begin(console: Console) -> int:
            self._require_lease()
            console.listen()
            return console.offset()

        return self._of_console(begin)

    def serial_log(self, since: int | None) -> str:
        """The serial log since *since*, its last MiB."""
        if since is None:
            return ""

        def read(console: Console) -> str:
            length = min(SERIAL_READ_BYTES, max(console.offset() - since, 0))
            return console.tail(length) if length else ""

        return self._of_console(read) or ""

    def serial_tail(self, since: int | None) -> str:
        """Of the serial log since *since*, what says why a boot failed: at most 16 KiB."""
        if since is None:
            return self._of_console(lambda console: console.tail(SERIAL_TAIL_BYTES)) or ""
        return telling_part(self.serial_log(since), SERIAL_TAIL_BYTES)

    def probe_console(self) -> Probed | None:
        """What its console shows for a moment; None where it has none.

        Raises :class:`ConsoleError` or :class:`PowerError` in the console's own words.
        """
        console = self._console()
        return None if console is None else console.probe()

    def _console(self) -> Console | None:
        return open_console(self.host)

    def _of_console(self, act: Callable[[Console], Heard]) -> Heard | None:
        """What *act* hears of the console; None where there is none, or it cannot be read."""
        console = self._console()
        if console is None:
            return None
        try:
            return act(console)
        except (ConsoleError, PowerError) as failure:
            self.log.line("console", f"{failure.message} {failure.hint}")
            return None

    def _log_progress(self) -> None:
        """How far the boot came, where the controller tells; nothing depends on it."""
        if not self.host.power:
            return
        try:
            progress = str(self._power(lambda power: power.progress()))
        except LabFault:
            return  # the switching itself tells what is wrong
        if progress:
            self.log.line("power", f"boot progress before the power cycle: {progress}")

    def _play(
        self,
        playbook: str,
        variables: Mapping[str, Any],
        *,
        timeout_s: float = PLAY_TIMEOUT_S,
        wanted: Callable[[], bool] = lambda: True,
    ) -> Facts:
        self._require_lease()
        try:
            result = run_playbook(
                playbook,
                environment=self.host.environment,
                host=self.host.name,
                variables={**self.host.for_plays, **variables},
                on_event=self._log_event,
                timeout_s=timeout_s,
                check_alive=lambda: self.log.alive() and wanted(),
            )
        except PlayCancelled as failure:
            if self.log.alive():
                raise _NotWanted(failure.message) from failure
            raise LeaseGone(failure.message, hint=failure.hint) from failure
        except PlayUnreachable as failure:
            raise Unanswered(failure.message, hint=failure.hint) from failure
        except PlayFailure as failure:
            raise LabFault(failure.message, hint=failure.hint) from failure
        return result.returned

    def _log_event(self, event: PlayEvent) -> None:
        if event.status in ("changed", "failed", "unreachable"):
            detail = f": {event.message}" if event.message else ""
            self.log.line("ansible", f"{event.task}: {event.status}{detail}")

    def _power(self, act: Callable[[PowerControl], Any]) -> Any:
        try:
            return act(open_power(self.host.variables))
        except (PowerError, InvalidInput) as failure:
            raise LabFault(failure.message, hint=failure.hint) from failure

    def _require_lease(self) -> None:
        """Nothing touches a host whose lease may be another worker's."""
        if not self.log.holds():
            raise LeaseGone(
                f"the lease of {self.host.name} was lost before it was touched",
                hint="Another worker goes on with the run.",
            )
