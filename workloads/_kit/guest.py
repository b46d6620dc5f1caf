"""The guest that a workload boots: what QEMU gets, its life, and what it says of itself."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from _kit import guest_state
from _kit.contract import CaseError
from _kit.guest_disk import MAC, Session, free_port, qemu_arguments, require_unchanged
from _kit.guest_memory import arguments as memory_arguments
from _kit.guest_memory import backing_of, checked_size, mapping
from _kit.guest_monitor import Monitor, MonitorError, devices, irqchip, memory_mb, processor

GUEST = Path("/opt/mitigauge/guest")
TAIL_BYTES, LONGEST_WHY = 2048, 400
# What an arm may set of the guest.
CPU, FLAGS, IRQCHIP = "cpu", "flags", "machine.kernel_irqchip"
VCPUS, MEMORY, BACKING, DEVICES = "vcpus", "memory_mb", "memory_backing", "devices"
OPTIONS, STATE, SECCOMP, PROGRAM = "options", "state", "sandbox", "monitor"
KERNEL = "kernel"
SETTINGS = (
    CPU, FLAGS, IRQCHIP, VCPUS, MEMORY, BACKING, DEVICES, OPTIONS, STATE, SECCOMP, PROGRAM, KERNEL,
)  # fmt: skip
QEMU = "qemu-system-x86_64"
# What the guest says of itself before it serves.
FACT = re.compile(
    r"^MITIGAUGE-GUEST-(CPU|VULNERABILITY|SYSTEM) ([^:\r\n]{1,64}?)\s*: ?(.{0,4096}?)\r?$", re.M
)
LACKS = re.compile(r"^MITIGAUGE-GUEST-LACKS (\S{1,64})", re.M)
# Of QEMU, about a guest that this host cannot make. It warns of each feature that is lacking, and
# goes on unless it was told not to.
IMPOSSIBLE = re.compile(
    r"^(?!.*\bwarning: ).*(?:doesn't support requested features?|unable to find CPU model"
    r"|[Pp]roperty .* not found|doesn't allow setting|not supported|Cannot allocate memory).*",
    re.M,
)
LACKING = re.compile(r"doesn't support requested feature: .*")


class LabFault(Exception):
    """The guest, not the measured system, failed. `kind` is stored with the fault."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


class Endpoint(NamedTuple):
    """QEMU's network arguments, the guest's address, and where the host reaches its server."""

    qemu: list[str]
    guest_address: str
    host: str
    port: int


class Addition(NamedTuple):
    """What a guest gets besides: arguments, words of its command line, and memory for them."""

    qemu: list[str]
    append: str = ""
    memory_mb: int = 0

    @classmethod
    def of(cls, parts: Iterable[Addition]) -> Addition:
        """All of them together."""
        parts = list(parts)
        return cls(
            [word for part in parts for word in part.qemu],
            "".join(part.append for part in parts),
            sum(part.memory_mb for part in parts),
        )


def read_json(path: Path, missing: str) -> dict[str, Any]:
    """The object in `path`; `missing` says how to get the file if it is not there."""
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError:
        raise CaseError(f"{path} is missing: {missing}") from None
    except ValueError as error:
        raise CaseError(f"{path} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise CaseError(f"{path} holds no JSON object")
    return content


def built_for(asked: dict[str, str]) -> Path:
    """Where the guest is that was built for the kernel that an arm asks for, else for all."""
    if KERNEL not in asked:
        return GUEST
    return GUEST / "kernels" / guest_state.release_of(asked[KERNEL])


def guest_with(workload: str, asked: dict[str, str]) -> dict[str, Any]:
    """How the guest that is built here is started, and its `addition` for `workload`.

    An operator's image, which has none, does not take its place. CaseError if the host has none.
    """
    needed = f"apply Ansible role guest with {workload} among guest_workloads"
    built = built_for(asked)
    manifest = read_json(built / "manifest.json", needed)
    addition = read_json(built / f"{workload}.json", needed)
    limit_s = float(manifest["ready_timeout_s"]) + float(addition["more_ready_s"])
    return {**manifest, "addition": addition, "ready_timeout_s": limit_s}


def guest_manifest(asked: dict[str, str]) -> dict[str, Any]:
    """How this host's guest is started, and its `disk`, where it is of the operator's image.

    CaseError if the host has none.
    """
    needed = "apply Ansible role guest to this host"
    manifest = read_json(built_for(asked) / "manifest.json", needed)
    path = GUEST / "disk.json"
    if path.exists():
        disk = manifest["disk"] = read_json(path, needed)
        require_unchanged(disk)
        disk["session"] = (GUEST / "session").read_text()
    return manifest


def tail(*paths: Path) -> str:
    """The last bytes of the files that exist."""
    texts = [path.read_bytes()[-TAIL_BYTES:].decode(errors="replace") for path in paths
             if path.exists()]  # fmt: skip
    return "\n".join(text.strip() for text in texts if text.strip())


def count_of(processors: str) -> int:
    """How many a list of the kernel's has, for example 0-3,5."""
    spans = [span.partition("-") for span in processors.strip().split(",") if span]
    return sum(int(last or first) - int(first) + 1 for first, _, last in spans)


def asked_of_guest(case: dict[str, Any], settings: tuple[str, ...] = SETTINGS) -> dict[str, str]:
    """What the arm sets of a guest of those *settings*; CaseError for what this guest has not."""
    asked = dict(case.get("guest") or {})
    unknown = sorted(set(asked) - set(settings))
    if unknown:
        raise CaseError(f"this guest has no {', '.join(unknown)}; it has {', '.join(settings)}")
    return asked


def require_possible(log: str) -> None:
    """CaseError with what QEMU said in its *log* of a guest that this host cannot make."""
    found = IMPOSSIBLE.search(log)
    if found:
        why = "; ".join([found[0].strip(), *LACKING.findall(log)])[:LONGEST_WHY]
        raise CaseError(f"this host cannot make the guest: {why}")


def made_so(manifest: dict[str, Any], asked: dict[str, str]) -> list[str]:
    """QEMU's arguments for what is asked. It ends at once where the host cannot give it."""
    arguments = []
    if CPU in asked:
        first = asked[CPU].partition(",")[0]
        is_model = first[0] not in "+-" and "=" not in first
        model = asked[CPU] if is_model else f"{manifest['cpu']},{asked[CPU]}"
        arguments += ["-cpu", f"{model},enforce"]
    if IRQCHIP in asked:
        arguments += ["-machine", f"kernel_irqchip={asked[IRQCHIP]}"]
    for word in asked[DEVICES].split(",") if DEVICES in asked else []:
        arguments += ["-global", word]
    if SECCOMP in asked:
        arguments += ["-sandbox", guest_state.SANDBOX.get(asked[SECCOMP], asked[SECCOMP])]
    return arguments


def program_of(manifest: dict[str, Any], asked: dict[str, str]) -> list[str]:
    """The words that start QEMU: with the program that the arm asks for, where it does."""
    if PROGRAM not in asked:
        return list(manifest["command"])
    path = guest_state.require_program(asked[PROGRAM])
    return [path if word == QEMU else word for word in manifest["command"]]


class Guest:
    """A started QEMU. While it is measured nobody asks it: what it says itself is listened to."""

    def __init__(
        self,
        manifest: dict[str, Any],
        end: Endpoint | None,
        vcpus: int,
        output: Path,
        attempt: int,
        addition: Addition | None = None,
        asked: dict[str, str] | None = None,
    ) -> None:
        self.manifest = manifest
        self.asked = asked or {}
        self.monitor = output / "qmp"
        self.serial = output / f"serial-{attempt}.log"
        self.log = output / f"qemu-{attempt}.log"
        self.said = self.serial
        self.session: Session | None = None
        self.memory_mb = int(self.asked.get(MEMORY, manifest.get("memory_mb", 0)))
        if addition:
            self.memory_mb += addition.memory_mb
        self.command = [
            *program_of(manifest, self.asked), *made_so(manifest, self.asked),
            *self._memory(addition),
            "-smp", str(vcpus), *(end.qemu if end else []),
            "-qmp", f"unix:{self.monitor},server=on,wait=off",
            "-serial", f"file:{self.serial}", "-pidfile", str(output / "qemu.pid"),
            *self._system(end, output / f"session-{attempt}.log", addition),
        ]  # fmt: skip
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def _memory(self, addition: Addition | None) -> list[str]:
        more = addition.memory_mb if addition else 0
        if not more and not {MEMORY, BACKING} & set(self.asked):
            return []
        return memory_arguments(self.memory_mb, self.asked.get(BACKING, ""))

    def _system(self, end: Endpoint | None, said: Path, addition: Addition | None) -> list[str]:
        """QEMU's arguments for what is booted, and for its device on the measured network."""
        disk, device = self.manifest.get("disk"), "virtio-net-pci,netdev=n0,romfile="
        if disk is None:
            address = f" mg_addr={end.guest_address}" if end else ""
            options = f" {self.asked[OPTIONS]}" if OPTIONS in self.asked else ""
            return [
                *self.manifest["boot"], *(["-device", device] if end else []),
                *(addition.qemu if addition else []), "-append",
                f"{self.manifest['append']}{options}{address}{addition.append if addition else ''}",
            ]  # fmt: skip
        if addition or not end:
            raise CaseError("a guest of an operator's image takes no profile of itself")
        if {OPTIONS, KERNEL} & set(self.asked):
            raise CaseError(
                "a guest of an operator's image boots its own kernel by its own command line: set "
                "both there, or leave out mitigauge_guest_image"
            )
        port, self.said = free_port(), said
        self.session = Session(disk, disk["session"], end.guest_address, port, said)
        # After the network that it is spoken to by, which many a guest takes for its only one.
        return [*qemu_arguments(disk, port), "-device", f"{device},mac={MAC}"]

    def fault(self, kind: str, what: str) -> LabFault:
        """A lab fault with the end of what QEMU and the guest said."""
        # Of a guest of ours the serial port is what it said.
        files = dict.fromkeys((self.log, self.serial, self.said))
        return LabFault(kind, f"{what}; last output:\n{tail(*files)}")

    def check(self) -> str:
        """What the guest said so far; LabFault if it is gone or gave up."""
        ended = self.session.tend() if self.session else ""
        text = self.said.read_text(errors="replace") if self.said.exists() else ""
        if lacks := LACKS.search(text):
            raise CaseError(
                f"guest image {self.manifest['disk']['image']} lacks {lacks[1]}: install it there"
            )
        if self.manifest["failed_marker"] in text:
            raise self.fault("guest-failed", "the guest gave up")
        if self.process.poll() is not None:
            if self.asked:
                require_possible(self.log.read_text(errors="replace"))
            raise self.fault("guest-died", f"QEMU ended with status {self.process.returncode}")
        # QEMU then stops the guest and waits for a debugger.
        if b"KVM internal error" in self.log.read_bytes():
            raise self.fault("guest-died", "KVM gave the guest up")
        if ended:
            raise self.fault("guest-session", ended)
        return text

    def wait_ready(self, test: int) -> float:
        """Seconds until the guest is ready for its `test`-th test, counted from 1."""
        began, limit = time.monotonic(), float(self.manifest["ready_timeout_s"])
        # With the line's end, or 1 would be seen in 10.
        marker = re.compile(rf"{self.manifest['ready_marker']} {test}\r?\n")
        while time.monotonic() - began < limit:
            if marker.search(self.check()):
                return round(time.monotonic() - began, 2)
            time.sleep(0.05)
        raise self.fault("guest-hang", f"not ready for test {test} within {limit:g} s")

    def facts(self) -> dict[str, dict[str, str]]:
        """What the guest said of its first processor, its vulnerabilities and itself, by name."""
        said: dict[str, dict[str, str]] = {"CPU": {}, "VULNERABILITY": {}, "SYSTEM": {}}
        for kind, name, text in FACT.findall(self.check()):
            said[kind][name] = text
        return {
            "cpu": said["CPU"], "vulnerabilities": said["VULNERABILITY"], "system": said["SYSTEM"],
        }  # fmt: skip

    def got(self) -> dict[str, str]:
        """What the guest has of what was asked: the same texts where it has all of it."""
        facts = self.facts()
        got = self._told(facts["cpu"].get("flags", ""), facts["system"])
        got |= self._state_told(facts["vulnerabilities"], facts["system"])
        if not {CPU, IRQCHIP, MEMORY, DEVICES} & set(self.asked):
            return got
        try:
            with contextlib.closing(Monitor(self.monitor)) as monitor:
                if CPU in self.asked:
                    got[CPU] = processor(monitor, self.asked[CPU])
                if IRQCHIP in self.asked:
                    got[IRQCHIP] = irqchip(monitor)
                if DEVICES in self.asked:
                    got[DEVICES] = devices(monitor, self.asked[DEVICES])
                if MEMORY in self.asked:
                    got[MEMORY] = self._size(memory_mb(monitor), facts["system"])
        except MonitorError as error:
            raise self.fault("guest-monitor", str(error)) from None
        return got

    def _told(self, flags: str, system: dict[str, str]) -> dict[str, str]:
        """What needs no monitor: the guest's own kernel tells it, or the host's."""
        got = {}
        if FLAGS in self.asked:
            known, words = set(flags.split()), self.asked[FLAGS].split(",")
            got[FLAGS] = ",".join(f"{'+' if w[1:] in known else '-'}{w[1:]}" for w in words)
        if VCPUS in self.asked:
            got[VCPUS] = str(count_of(system.get("processors", "")))
        if BACKING in self.asked:
            got[BACKING] = backing_of(mapping(self.process.pid, self.memory_mb))
        return got

    def _state_told(
        self, vulnerabilities: dict[str, str], system: dict[str, str]
    ) -> dict[str, str]:
        """What the guest's kernel says of itself, and the host's of the monitor's process."""
        asked, process = self.asked, self.process.pid
        told = {}
        if KERNEL in asked:
            told[KERNEL] = guest_state.kernel_told(asked[KERNEL], system.get("kernel", ""))
        if OPTIONS in asked:
            told[OPTIONS] = guest_state.options_told(asked[OPTIONS], system.get("cmdline", ""))
        if STATE in asked:
            told[STATE] = guest_state.state_told(asked[STATE], vulnerabilities)
        if SECCOMP in asked:
            told[SECCOMP] = guest_state.sandbox_told(process)
        if PROGRAM in asked:
            told[PROGRAM] = guest_state.program_told(process)
        return told

    def _size(self, made_mb: int, system: dict[str, str]) -> str:
        """The size that was asked for, where machine and guest have it and what a profile needs."""
        told = re.search(r"^MemTotal: +(\d+) kB$", system.get("memory", ""))
        size = checked_size(made_mb, int(told[1]) if told else 0)
        return self.asked[MEMORY] if size == str(self.memory_mb) else size

    def wait_for(self, marker: str, limit_s: float) -> bool:
        """Whether the guest has said `marker` within `limit_s`; LabFault if it is gone."""
        deadline = time.monotonic() + limit_s
        while marker not in self.check():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.2)
        return True

    def stop(self) -> None:
        """Kill it: nothing in it is worth an orderly shutdown."""
        self.process.kill()
        self.process.wait()
        if self.session:
            self.session.stop()


@contextlib.contextmanager
def booted(guest: Guest) -> Iterator[Guest]:
    """The guest, stopped at the end whatever happens."""
    try:
        yield guest
    finally:
        guest.stop()
