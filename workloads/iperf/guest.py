"""The measuring guest: its network, its life, and the profile it takes of itself."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from _kit.contract import CaseError
from monitor import Monitor, MonitorError, irqchip, processor

GUEST = Path("/opt/mitigauge/guest")
NETWORK = Path("/etc/mitigauge/guest-network.json")
PORT = 5201  # iperf3's own; what the guest's server listens on
# A guest turns its recording into text before it hands it over.
PROFILE_LIMIT_S = 120
# What a guest hands over; anything else is left in its tar.
PROFILE_FILES = ("facts.json", "failed.txt", "stats.txt", "perf.script.gz")
PROFILE_FILE_BYTES = 32 << 20
TAIL_BYTES = 2048
# What an arm may set of the guest.
CPU, FLAGS, IRQCHIP = "cpu", "flags", "machine.kernel_irqchip"
SETTINGS = (CPU, FLAGS, IRQCHIP)
# What the guest's first process says of itself on the serial port.
FACT = re.compile(
    r"^MITIGAUGE-GUEST-(CPU|VULNERABILITY) ([^:\r\n]{1,64}?)\s*: ?(.{0,4096}?)\r?$", re.M
)
# Of QEMU, about a guest that this host cannot make.
IMPOSSIBLE = re.compile(
    r".*(?:doesn't support requested feature|unable to find CPU model|[Pp]roperty .* not found"
    r"|doesn't allow setting|not supported).*"
)


class LabFault(Exception):
    """The guest, not the measured system, failed. `kind` is stored with the fault."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


class Endpoint(NamedTuple):
    """QEMU's network arguments, the guest's address, and where the host reaches iperf3."""

    qemu: list[str]
    guest_address: str
    host: str
    port: int


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


def guest_manifest() -> dict[str, Any]:
    """How this host's guest is started; CaseError if it has none."""
    return read_json(GUEST / "manifest.json", "apply Ansible role guest to this host")


def free_port() -> int:
    """A port of the loopback address that nobody holds for TCP."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def endpoint(network: str) -> Endpoint:
    """How guest and host see each other over `network`."""
    if network == "user":
        port = free_port()
        forward = ",".join(
            f"hostfwd={protocol}:127.0.0.1:{port}-10.0.2.15:{PORT}" for protocol in ("tcp", "udp")
        )
        return Endpoint(["-netdev", f"user,id=n0,{forward}"], "10.0.2.15/24", "127.0.0.1", port)
    facts = read_json(NETWORK, "apply Ansible role guest_network to this host")
    vhost = "on" if network == "vhost" else "off"
    tap = f"tap,id=n0,ifname={facts['tap']},script=no,downscript=no,vhost={vhost}"
    guest = str(facts["guest"])
    return Endpoint(["-netdev", tap], guest, guest.partition("/")[0], PORT)


class GuestProfile(NamedTuple):
    """The profile that the guest is to take of its tests, on its way to `tar`."""

    qemu: list[str]
    append: str
    done_marker: str
    tar: Path


def guest_profile(hz: int, tests: int, output: Path) -> GuestProfile:
    """What QEMU and the guest need to sample `tests` tests `hz` times a second."""
    manifest = read_json(GUEST / "profile.json", "apply Ansible role guest with guest_profiled")
    tar = output / "guest.tar"
    qemu = [
        "-m", str(manifest["memory_mb"]), "-initrd", str(manifest["initrd"]),
        "-device", "virtio-serial-pci", "-chardev", f"file,id=profile,path={tar}",
        "-device", "virtserialport,chardev=profile",
    ]  # fmt: skip
    return GuestProfile(qemu, f" mg_profile={hz},{tests}", str(manifest["done_marker"]), tar)


def tail(*paths: Path) -> str:
    """The last bytes of the files that exist."""
    texts = [path.read_bytes()[-TAIL_BYTES:].decode(errors="replace") for path in paths
             if path.exists()]  # fmt: skip
    return "\n".join(text.strip() for text in texts if text.strip())


def asked_of_guest(case: dict[str, Any]) -> dict[str, str]:
    """What the arm sets of the guest; CaseError for what this guest has not."""
    asked = dict(case.get("guest") or {})
    unknown = sorted(set(asked) - set(SETTINGS))
    if unknown:
        raise CaseError(f"this guest has no {', '.join(unknown)}; it has {', '.join(SETTINGS)}")
    return asked


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
    return arguments


class Guest:
    """A started QEMU. While it is measured it is asked by its serial port only."""

    def __init__(
        self,
        manifest: dict[str, Any],
        end: Endpoint,
        vcpus: int,
        output: Path,
        attempt: int,
        profile: GuestProfile | None = None,
        asked: dict[str, str] | None = None,
    ) -> None:
        self.manifest = manifest
        self.asked = asked or {}
        self.monitor = output / "qmp"
        self.serial = output / f"serial-{attempt}.log"
        self.log = output / f"qemu-{attempt}.log"
        self.command = [
            *manifest["command"], *made_so(manifest, self.asked),
            "-smp", str(vcpus), *end.qemu,
            "-qmp", f"unix:{self.monitor},server=on,wait=off",
            "-device", "virtio-net-pci,netdev=n0,romfile=",
            "-serial", f"file:{self.serial}", "-pidfile", str(output / "qemu.pid"),
            *(profile.qemu if profile else []), "-append",
            f"{manifest['append']} mg_addr={end.guest_address}{profile.append if profile else ''}",
        ]  # fmt: skip
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def fault(self, kind: str, what: str) -> LabFault:
        """A lab fault with the end of what QEMU and the guest said."""
        return LabFault(kind, f"{what}; last output:\n{tail(self.log, self.serial)}")

    def check(self) -> str:
        """The serial log so far; LabFault if the guest is gone or gave up."""
        text = self.serial.read_text(errors="replace") if self.serial.exists() else ""
        if self.manifest["failed_marker"] in text:
            raise self.fault("guest-failed", "the guest gave up")
        if self.process.poll() is not None:
            impossible = IMPOSSIBLE.search(self.log.read_text(errors="replace"))
            if self.asked and impossible:
                raise CaseError(f"this host cannot make the guest: {impossible[0].strip()}")
            raise self.fault("guest-died", f"QEMU ended with status {self.process.returncode}")
        # QEMU then stops the guest and waits for a debugger.
        if b"KVM internal error" in self.log.read_bytes():
            raise self.fault("guest-died", "KVM gave the guest up")
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
        """What the guest said of its first processor and its vulnerabilities, by name."""
        said: dict[str, dict[str, str]] = {"CPU": {}, "VULNERABILITY": {}}
        for kind, name, text in FACT.findall(self.check()):
            said[kind][name] = text
        return {"cpu": said["CPU"], "vulnerabilities": said["VULNERABILITY"]}

    def got(self) -> dict[str, str]:
        """What the guest has of what was asked: the same texts where it has all of it."""
        flags = set(self.facts()["cpu"].get("flags", "").split())
        got = {}
        if FLAGS in self.asked:
            words = (word[1:] for word in self.asked[FLAGS].split(","))
            got[FLAGS] = ",".join(f"{'+' if word in flags else '-'}{word}" for word in words)
        if not {CPU, IRQCHIP} & set(self.asked):
            return got
        try:
            with contextlib.closing(Monitor(self.monitor)) as monitor:
                if CPU in self.asked:
                    got[CPU] = processor(monitor, self.asked[CPU])
                if IRQCHIP in self.asked:
                    got[IRQCHIP] = irqchip(monitor)
        except MonitorError as error:
            raise self.fault("guest-monitor", str(error)) from None
        return got

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


@contextlib.contextmanager
def booted(guest: Guest) -> Iterator[Guest]:
    """The guest, stopped at the end whatever happens."""
    try:
        yield guest
    finally:
        guest.stop()


def take_profile(guest: Guest, profile: GuestProfile, directory: Path) -> None:
    """What the guest hands over, in `directory`; failed.txt says why there is nothing.

    The tests are done by now: nothing here is the case's failure.
    """
    directory.mkdir(exist_ok=True)
    try:
        if guest.wait_for(profile.done_marker, PROFILE_LIMIT_S):
            with tarfile.open(profile.tar) as tar:
                unpack_profile(tar, directory)
            return
        reason = f"the guest handed no profile over within {PROFILE_LIMIT_S} s"
    except (LabFault, OSError, tarfile.TarError) as error:
        reason = f"the guest's profile was lost: {error}"
    finally:
        profile.tar.unlink(missing_ok=True)
    (directory / "failed.txt").write_text(reason)


def unpack_profile(tar: tarfile.TarFile, directory: Path) -> None:
    """The known files of `tar`, by name alone: what a guest sends is not trusted."""
    for member in tar:
        name = member.name.removeprefix("./")
        content = tar.extractfile(member) if name in PROFILE_FILES else None
        if content:
            (directory / name).write_bytes(content.read(PROFILE_FILE_BYTES))
