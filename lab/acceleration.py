"""Hardware virtualisation, used only where a trial start shows that it works."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lab.execution import PROGRAM, Execution
from lab.hosts import HostSpec
from lab.image import Image
from lab.qemu import kernel_arguments, machine_arguments
from mitigauge.core.clock import Clock

TRIAL_TIMEOUT_S = 10.0
_KVM = Path("/dev/kvm")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_CPUINFO = Path("/proc/cpuinfo")
# The first line of any Linux kernel.
_SIGN_OF_LIFE = "Linux version"


@dataclass(frozen=True)
class Acceleration:
    """What runs a host's instructions, and why."""

    name: str
    reason: str


def choose(spec: HostSpec, image: Image, cache: Path) -> Acceleration:
    """``kvm`` where it shows the processor that the host stands for, else ``tcg``.

    The answer of a trial is kept for as long as this machine stays up.
    """
    boot = _BOOT_ID.read_text().strip()
    key = f"{boot} {spec.cpu} {image.digest}"
    known = _read(cache)
    if key not in known:
        answer = _decide(spec, image)
        known = {old: value for old, value in known.items() if old.startswith(boot)}
        known[key] = {"name": answer.name, "reason": answer.reason}
        cache.write_text(json.dumps(known, indent=2) + "\n", "utf-8")
    return Acceleration(**known[key])


def _decide(spec: HostSpec, image: Image) -> Acceleration:
    if not os.access(_KVM, os.R_OK | os.W_OK):
        return Acceleration("tcg", f"{_KVM} is not there for this user")
    vendor = _machine_vendor()
    if vendor != spec.vendor:
        # KVM passes the vendor's own instructions through: no SVM on Intel, and
        # another set of bugs than the one this host is there to show.
        return Acceleration("tcg", f"this machine's processor is {vendor}, not {spec.vendor}")
    if "kvm" in spec.capabilities and not _nesting():
        return Acceleration("tcg", "this machine's KVM does not nest")
    if not _trial(spec, image):
        return Acceleration("tcg", f"a kernel under KVM said nothing in {TRIAL_TIMEOUT_S:.0f} s")
    return Acceleration("kvm", "a trial start printed its kernel's first line")


def _trial(spec: HostSpec, image: Image) -> bool:
    """Start the lab's kernel under KVM without a disk and see whether it speaks."""
    arguments = [
        PROGRAM,
        *machine_arguments(Execution("kvm", Clock.REAL)),
        *("-cpu", spec.cpu),
        *("-m", "512"),
        *("-serial", "stdio"),
        "-no-reboot",
        # Without a root the kernel panics soon, and panic=-1 ends the machine.
        *kernel_arguments(image.kernel, ("console=ttyS0", "panic=-1", "init=/none")),
    ]
    with tempfile.TemporaryFile() as output:
        try:
            with subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            ) as process:
                try:
                    process.wait(TRIAL_TIMEOUT_S)
                except subprocess.TimeoutExpired:
                    process.kill()
        except FileNotFoundError:
            return False
        output.seek(0)
        return _SIGN_OF_LIFE in output.read().decode(errors="replace")


def _machine_vendor() -> str:
    for line in _CPUINFO.read_text().splitlines():
        if line.startswith("vendor_id"):
            return line.partition(":")[2].strip()
    return "unknown"


def _nesting() -> bool:
    for module in ("kvm_amd", "kvm_intel"):
        parameter = Path("/sys/module") / module / "parameters" / "nested"
        if parameter.exists() and parameter.read_text().strip() in {"1", "Y"}:
            return True
    return False


def _read(cache: Path) -> dict[str, dict[str, str]]:
    try:
        known = json.loads(cache.read_text("utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return known if isinstance(known, dict) else {}
