#!/usr/bin/python
"""Ansible module: the measuring guest's kernel, initramfs and manifest.

The guest is built from what is installed on the host: a kernel of /boot, the
static busybox, iperf3 with its libraries and the virtio network modules. It is
rebuilt only when one of these inputs changes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.mitigauge_changes import ChangesError, note_paths
from ansible.module_utils.mitigauge_guest import (
    GUEST_MODULES,
    GuestImageError,
    digest,
    install,
    missing_packages,
    module_entries,
    module_paths,
    program_files,
    read_manifest,
    run,
    write,
)
from ansible.module_utils.mitigauge_initramfs import (
    Entry,
    newc,
    unpacked_kernel,
    with_directories,
)

DOCUMENTATION = r"""
module: guest_image
short_description: Build the measuring guest from the host's own packages
description:
  - Installs the programs that are missing.
  - Writes vmlinuz, initrd.img and manifest.json into I(path).
  - With I(cpu=auto) starts the guest to find the first processor model that boots.
options:
  path: {description: directory of the guest, type: path, required: true}
  init: {description: text of the guest's first process, type: str, required: true}
  facts: {description: text of the program that says what the guest is, type: str, required: true}
  serve: {description: text of the program that serves the tests, type: str, required: true}
  kernel:
    description: release to boot; empty keeps the present guest's while it is installed, else newest
    type: str
    default: ""
  cpu: {description: "QEMU processor model, or auto", type: str, default: auto}
  cpus:
    description: the host's processors that QEMU may run on, as in 0 or 2-3; empty leaves all
    type: str
    default: ""
  memory_mb: {description: memory of the guest in MiB, type: int, default: 256}
  ready_timeout_s: {description: from start to the ready line, type: float, default: 60}
  fact: {description: what the answer calls this guest, type: str, default: guest}
author: [Mitigauge contributors]
"""

# Also to be raised when this module makes something else of the same inputs.
SCHEMA = "mitigauge.guest/2"
READY_MARKER = "MITIGAUGE-GUEST-READY"
FAILED_MARKER = "MITIGAUGE-GUEST-FAILED"
# host is what one wants to measure on. kvm64 is for emulated hosts whose
# emulator cannot show its own processor's extended state to a guest.
CPU_CANDIDATES = ("host", "kvm64")
PROBES_PER_CPU = 2
# No module loading race, no late console noise, and a guest that panics ends
# QEMU (with -no-reboot) instead of waiting for the time-out.
# Quiet: every character on the serial port exits to userspace twice, and a boot
# prints 23 thousand. Errors and panics are still printed.
APPEND = "console=ttyS0 quiet panic=-1 random.trust_cpu=on"

# Of our own in the guest, by their names there.
PROGRAM_TEXTS = ("init", "facts", "serve")
# Program → package that has it. By program, since busybox comes in two packages
# that exclude each other and either will do.
PROGRAMS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "iperf3": "iperf3",
    "busybox": "busybox-static",
    "modprobe": "kmod",
}


def release_key(release: str) -> list[tuple[int, str]]:
    """Sort key in which 6.12.9 comes before 6.12.10."""
    return [(int(number or 0), text) for number, text in re.findall(r"(\d+)|(\D+)", release)]


def choose_kernel(wanted: str, present: str, boot: Path, modules: Path) -> str:
    """Release of the guest's kernel.

    Left to itself the choice stays: a guest whose kernel followed the one under
    test would turn a comparison of host kernels into one of guest kernels.
    """
    installed = [
        path.name.removeprefix("vmlinuz-")
        for path in boot.glob("vmlinuz-*")
        if (modules / path.name.removeprefix("vmlinuz-")).is_dir()
    ]
    if wanted and wanted not in installed:
        known = ", ".join(sorted(installed, key=release_key)) or "none"
        raise GuestImageError(f"guest kernel {wanted!r} is not installed; installed: {known}")
    if not installed:
        raise GuestImageError(f"no kernel with modules in {boot} and {modules}")
    if wanted or present in installed:
        return wanted or present
    return max(installed, key=release_key)


def collect_files(release: str, programs: dict[str, str]) -> dict[str, Entry]:
    """What the initramfs holds: texts of our own `programs` by name, the rest from the host."""
    return {
        **{name: (stat.S_IFREG | 0o755, text.encode()) for name, text in programs.items()},
        **program_files("busybox", "bin/busybox"),
        **program_files("iperf3", "usr/bin/iperf3"),
        **module_entries(module_paths(release, GUEST_MODULES), "order"),
    }


def qemu_command(cpu: str, memory_mb: int, cpus: str) -> list[str]:
    """QEMU's arguments but for what is booted, processors, network and serial port."""
    return [
        *(["taskset", "--cpu-list", cpus] if cpus else []),
        "qemu-system-x86_64", "-no-user-config", "-nodefaults", "-no-reboot",
        "-display", "none", "-machine", "pc,accel=kvm", "-cpu", cpu, "-m", str(memory_mb),
    ]  # fmt: skip


def boot_arguments(path: Path) -> list[str]:
    """QEMU's arguments for the system in `path`, but for -append."""
    return ["-kernel", str(path / "vmlinuz"), "-initrd", str(path / "initrd.img")]


@contextlib.contextmanager
def started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """The process of `command`, killed and reaped at the end."""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def probe(command: list[str], timeout_s: float) -> tuple[bool, str]:
    """Whether the guest becomes ready, and in what time or how it ended."""
    with tempfile.TemporaryDirectory(prefix="mitigauge-guest-") as directory:
        serial = Path(directory, "serial.log")
        full = [
            *command, "-serial", f"file:{serial}",
            "-netdev", "user,id=n0", "-device", "virtio-net-pci,netdev=n0,romfile=",
            "-append", f"{APPEND} mg_addr=10.0.2.15/24",
        ]  # fmt: skip
        began = time.monotonic()
        with started(full) as process:
            while time.monotonic() - began < timeout_s:
                time.sleep(0.1)
                text = serial.read_text(errors="replace") if serial.exists() else ""
                if READY_MARKER in text:
                    return True, f"ready after {time.monotonic() - began:.1f} s"
                if FAILED_MARKER in text:
                    return False, text[text.index(FAILED_MARKER) :].splitlines()[0]
                if process.poll() is not None:
                    output = (process.communicate()[0] + text).strip().splitlines()
                    return False, f"ended: {' | '.join(output[-3:])}"
        return False, f"not ready within {timeout_s:g} s"


def choose_cpu(path: Path, memory_mb: int, cpus: str, timeout_s: float) -> tuple[str, str]:
    """First candidate whose guest becomes ready, and what was seen on the way."""
    seen: list[str] = []
    for cpu in CPU_CANDIDATES:
        for _ in range(PROBES_PER_CPU):
            command = [*qemu_command(cpu, memory_mb, cpus), *boot_arguments(path)]
            works, detail = probe(command, timeout_s)
            seen.append(f"{cpu}: {detail}")
            if works:
                return cpu, "; ".join(seen)
    raise GuestImageError(f"the guest boots with no processor model: {'; '.join(seen)}")


def processor_model() -> str:
    """What /proc/cpuinfo calls the first processor."""
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found.group(1) if found else "unknown"


def version(program: str) -> str:
    """Version number in the first line of `program --version`."""
    first = run(program, "--version").splitlines()[0]
    found = re.search(r"(?<!\d)\d+\.\d+[\w.]*", first)
    if not found:
        raise GuestImageError(f"{program} --version says no version: {first!r}")
    return found.group(0)


def ensure(params: dict[str, object], *, check_mode: bool) -> tuple[bool, dict[str, object]]:
    """(changed, manifest) with the guest as `params` wants it."""
    lacking = missing_packages(PROGRAMS)
    if lacking and check_mode:
        return True, {}
    if lacking:
        install(lacking)
    path = Path(str(params["path"]))
    present = read_manifest(path / "manifest.json")
    release = choose_kernel(
        str(params["kernel"]), str(present.get("kernel_release", "")),
        Path("/boot"), Path("/lib/modules"),
    )  # fmt: skip
    vmlinuz = Path("/boot", f"vmlinuz-{release}").read_bytes()
    programs = {name: str(params[name]) for name in PROGRAM_TEXTS}
    initrd = newc(with_directories(collect_files(release, programs)))
    cpu, memory_mb = str(params["cpu"]), int(str(params["memory_mb"]))
    cpus = str(params["cpus"])
    timeout_s = float(str(params["ready_timeout_s"]))
    qemu = version("qemu-system-x86_64")
    asked = json.dumps([SCHEMA, APPEND, cpu, cpus, memory_mb, timeout_s, qemu, processor_model()])
    inputs = digest([vmlinuz, initrd, asked.encode()])
    files = [path / "vmlinuz", path / "initrd.img"]
    if present.get("inputs_sha256") == inputs and all(file.is_file() for file in files):
        return False, present
    manifest: dict[str, object] = {
        "schema": SCHEMA, "inputs_sha256": inputs, "kernel_release": release,
        "vmlinuz_sha256": hashlib.sha256(vmlinuz).hexdigest(),
        "initrd_sha256": hashlib.sha256(initrd).hexdigest(),
        "iperf3": version("iperf3"), "qemu": qemu, "append": APPEND, "memory_mb": memory_mb,
        "ready_marker": READY_MARKER, "failed_marker": FAILED_MARKER,
        "ready_timeout_s": timeout_s,
    }  # fmt: skip
    if check_mode:
        return True, manifest
    note_paths([path])
    path.mkdir(parents=True, exist_ok=True)
    # Without its manifest a half-replaced guest is rebuilt, never started.
    (path / "manifest.json").unlink(missing_ok=True)
    write(path / "vmlinuz", unpacked_kernel(vmlinuz))
    write(path / "initrd.img", initrd)
    manifest["cpu_reason"] = "set by guest_cpu"
    if cpu == "auto":
        cpu, manifest["cpu_reason"] = choose_cpu(path, memory_mb, cpus, timeout_s)
    manifest |= {
        "cpu": cpu, "command": qemu_command(cpu, memory_mb, cpus), "boot": boot_arguments(path),
    }  # fmt: skip
    write(path / "manifest.json", json.dumps(manifest, indent=1).encode())
    return True, manifest


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "init": {"type": "str", "required": True},
            "facts": {"type": "str", "required": True},
            "serve": {"type": "str", "required": True},
            "kernel": {"type": "str", "default": ""},
            "cpu": {"type": "str", "default": "auto"},
            "cpus": {"type": "str", "default": ""},
            "memory_mb": {"type": "int", "default": 256},
            "ready_timeout_s": {"type": "float", "default": 60},
            "fact": {"type": "str", "default": "guest"},
        },
        supports_check_mode=True,
    )
    try:
        changed, manifest = ensure(module.params, check_mode=module.check_mode)
    except (GuestImageError, ChangesError) as error:
        module.fail_json(msg=str(error))
    else:
        shown = ("kernel_release", "cpu", "cpu_reason", "initrd_sha256", "qemu", "iperf3")
        told = {key: manifest.get(key) for key in shown}
        module.exit_json(changed=changed, mitigauge={module.params["fact"]: told})


if __name__ == "__main__":
    main()
