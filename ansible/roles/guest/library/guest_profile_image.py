#!/usr/bin/python
"""Ansible module: the measuring guest's initramfs with perf in it, for profiled passes.

The timed passes' initramfs stays as it is: perf and its libraries take tens of
megabytes that no figure should see. This one is that one with a second archive
after it, which the kernel unpacks over the first.
"""

from __future__ import annotations

import json
import stat
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

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
    write,
)
from ansible.module_utils.mitigauge_initramfs import newc, with_directories

DOCUMENTATION = r"""
module: guest_profile_image
short_description: Build the measuring guest's initramfs with perf
description:
  - Writes initrd-profile.img and profile.json into I(path), where guest_image built the guest.
  - Installs perf where it is missing.
options:
  path: {description: directory of the guest, type: path, required: true}
  profile: {description: text of the program that takes the profile, type: str, required: true}
  package: {description: package that has perf, type: str, default: linux-perf}
author: [Mitigauge contributors]
"""

SCHEMA = "mitigauge.guest-profile/2"
# Carries the recording out: over the network it would come after the tests' own traffic,
# and the serial port takes an exit for every byte.
MODULES = ("virtio_console",)
MANIFEST = "profile.json"
INITRD = "initrd-profile.img"
DONE_MARKER = "MITIGAUGE-GUEST-PROFILED"
# perf, its libraries and the recording lie in the guest's memory.
EXTRA_MEMORY_MB = 256


def perf_archive(release: str, profile: str) -> bytes:
    """The second archive: perf, what it needs, and the program that uses it."""
    # The kernel loads a module once.
    loaded = set(module_paths(release, GUEST_MODULES))
    own = [path for path in module_paths(release, MODULES) if path not in loaded]
    files = {
        "profile": (stat.S_IFREG | 0o755, profile.encode()),
        **program_files("perf", "usr/bin/perf"),
        **module_entries(own, "profile-order"),
    }
    if not files["usr/bin/perf"][1].startswith(b"\x7fELF"):
        raise GuestImageError("the host's perf is a script around another: install linux-perf")
    return newc(with_directories(files))


def ensure(params: dict[str, str], *, check_mode: bool) -> tuple[bool, dict[str, object]]:
    """(changed, manifest) with the profiled guest as `params` wants it."""
    path = Path(params["path"])
    guest = read_manifest(path / "manifest.json")
    if not guest:
        raise GuestImageError(f"{path} has no guest: guest_image comes first")
    lacking = missing_packages({"perf": params["package"]})
    if lacking and check_mode:
        return True, {}
    if lacking:
        install(lacking)
    first = (path / "initrd.img").read_bytes()
    second = perf_archive(str(guest["kernel_release"]), params["profile"])
    memory = int(str(guest["memory_mb"])) + EXTRA_MEMORY_MB
    inputs = digest([SCHEMA.encode(), str(memory).encode(), first, second])
    present = read_manifest(path / MANIFEST)
    if present.get("inputs_sha256") == inputs and (path / INITRD).is_file():
        return False, present
    manifest: dict[str, object] = {
        "schema": SCHEMA, "inputs_sha256": inputs, "initrd": str(path / INITRD),
        "memory_mb": memory, "more_memory_mb": EXTRA_MEMORY_MB, "done_marker": DONE_MARKER,
    }  # fmt: skip
    if not check_mode:
        # Without its manifest a half-replaced one is rebuilt, never started.
        (path / MANIFEST).unlink(missing_ok=True)
        write(path / INITRD, first + second)
        write(path / MANIFEST, json.dumps(manifest, indent=1).encode())
    return True, manifest


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "profile": {"type": "str", "required": True},
            "package": {"type": "str", "default": "linux-perf"},
        },
        supports_check_mode=True,
    )
    try:
        changed, manifest = ensure(module.params, check_mode=module.check_mode)
    except GuestImageError as error:
        module.fail_json(msg=str(error))
    else:
        shown = {key: manifest.get(key) for key in ("initrd", "memory_mb", "inputs_sha256")}
        module.exit_json(changed=changed, mitigauge={"guest_profile": shown})


if __name__ == "__main__":
    main()
