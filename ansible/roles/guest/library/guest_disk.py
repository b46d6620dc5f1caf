#!/usr/bin/python
"""Ansible module: the manifest of a guest that starts from a disk of the operator's.

The disk stays as it is: guests start with a snapshot that goes with them.
"""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.mitigauge_changes import ChangesError, note_paths
from ansible.module_utils.mitigauge_guest import (
    GuestImageError,
    digest,
    install,
    missing_packages,
    read_manifest,
    run,
    write,
)

DOCUMENTATION = r"""
module: guest_disk
short_description: Have guests start from a disk image of the operator's
description:
  - Installs the programs that are missing, and writes manifest.json into I(path).
  - The image must start by itself, let I(image.user) in with I(image.key), take an address by DHCP
    on its first network device, and have iperf3. The workload says what it lacks.
options:
  path: {description: directory of the guest, type: path, required: true}
  image:
    description: "{path, format, user, key, memory_mb} of the inventory's mitigauge_guest_image"
    type: dict
    required: true
  cpu: {description: "QEMU processor model", type: str, required: true}
  cpus:
    description: the host's processors that QEMU may run on, as in 0 or 2-3; empty leaves all
    type: str
    default: ""
  ready_timeout_s: {description: from start to the ready line, type: float, default: 300}
author: [Mitigauge contributors]
"""

# Also to be raised when this module makes something else of the same inputs.
SCHEMA = "mitigauge.guest-disk/1"
READY_MARKER = "MITIGAUGE-GUEST-READY"
FAILED_MARKER = "MITIGAUGE-GUEST-FAILED"
PROGRAMS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "iperf3": "iperf3",
    "ssh": "openssh-client",
}


def image_is(image: dict[str, object]) -> str:
    """What tells the disk from another one; GuestImageError where it cannot be used."""
    path, key = Path(str(image["path"])), Path(str(image["key"]))
    for file, what in ((path, "guest image"), (key, "key of the guest image")):
        if not file.is_file():
            raise GuestImageError(f"no {what} at {file} on this host: put it there")
    if key.lstat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise GuestImageError(f"{key} may be read by others: chmod 600 {key}")
    said = json.loads(run("qemu-img", "info", "--output=json", "--force-share",
                          "-f", str(image["format"]), str(path)))  # fmt: skip
    if said.get("backing-filename"):
        raise GuestImageError(
            f"{path} is an overlay of {said['backing-filename']}: make it whole with "
            f"qemu-img convert -O qcow2 {path} NEW"
        )
    at = path.stat()
    return f"{path}, {at.st_size} bytes, changed {int(at.st_mtime)}"


def qemu_command(image: dict[str, object], cpu: str, cpus: str) -> list[str]:
    """QEMU's arguments but for number of processors, network and serial port."""
    drive = f"file={image['path']},format={image['format']},if=virtio,snapshot=on"
    return [
        *(["taskset", "--cpu-list", cpus] if cpus else []),
        "qemu-system-x86_64", "-no-user-config", "-nodefaults", "-no-reboot",
        "-display", "none", "-machine", "pc,accel=kvm", "-cpu", cpu,
        "-m", str(image["memory_mb"]), "-drive", drive,
    ]  # fmt: skip


def version(program: str) -> str:
    """Version number in the first line of `program --version`."""
    found = re.search(r"\d+\.\d+[\w.]*", run(program, "--version").splitlines()[0])
    if not found:
        raise GuestImageError(f"{program} --version says no version")
    return found.group(0)


def ensure(params: dict[str, object], *, check_mode: bool) -> tuple[bool, dict[str, object]]:
    """(changed, manifest) of the guest as `params` wants it."""
    lacking = missing_packages(PROGRAMS)
    if lacking and check_mode:
        return True, {}
    if lacking:
        install(lacking)
    path = Path(str(params["path"]))
    image = dict(params["image"])  # type: ignore[call-overload]
    cpu, cpus = str(params["cpu"]), str(params["cpus"])
    manifest: dict[str, object] = {
        "schema": SCHEMA, "kernel_release": "the image's own", "image_is": image_is(image),
        "image": {"user": image["user"], "key": image["key"]},
        "iperf3": version("iperf3"), "qemu": version("qemu-system-x86_64"), "cpu": cpu,
        "command": qemu_command(image, cpu, cpus), "cpu_reason": "set by guest_cpu",
        "ready_marker": READY_MARKER, "failed_marker": FAILED_MARKER,
        "ready_timeout_s": float(str(params["ready_timeout_s"])),
    }  # fmt: skip
    manifest["inputs_sha256"] = digest([json.dumps(manifest, sort_keys=True).encode()])
    present = read_manifest(path / "manifest.json")
    if present.get("inputs_sha256") == manifest["inputs_sha256"]:
        return False, present
    if not check_mode:
        note_paths([path])
        path.mkdir(parents=True, exist_ok=True)
        write(path / "manifest.json", json.dumps(manifest, indent=1).encode())
    return True, manifest


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "image": {"type": "dict", "required": True},
            "cpu": {"type": "str", "required": True},
            "cpus": {"type": "str", "default": ""},
            "ready_timeout_s": {"type": "float", "default": 300},
        },
        supports_check_mode=True,
    )
    try:
        changed, manifest = ensure(module.params, check_mode=module.check_mode)
    except (GuestImageError, ChangesError, OSError, ValueError) as error:
        module.fail_json(msg=str(error))
    else:
        shown = ("kernel_release", "cpu", "cpu_reason", "image_is", "qemu", "iperf3")
        module.exit_json(
            changed=changed, mitigauge={"guest": {key: manifest.get(key) for key in shown}}
        )


if __name__ == "__main__":
    main()
