#!/usr/bin/python
"""Ansible module: the measuring guest's initramfs with what one workload needs besides.

The guest itself stays as it is for all others. This one is that one with a second archive after
it, which the kernel unpacks over the first: programs of the host with their libraries, kernel
modules, and files of the workload's own, such as its `serve`.
"""

from __future__ import annotations

import json
import re
import shutil
import stat
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.mitigauge_changes import ChangesError
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
from ansible.module_utils.mitigauge_initramfs import Entry, newc, with_directories

DOCUMENTATION = r"""
module: guest_addition
short_description: Build the measuring guest's initramfs with a workload's own programs
description:
  - Writes initrd-NAME.img and NAME.json into I(path), where guest_image built the guest.
  - Installs the programs that are missing.
options:
  path: {description: directory of the guest, type: path, required: true}
  name: {description: name of the workload, type: str, required: true}
  programs: {description: program to the package that has it, type: dict, default: {}}
  links: {description: path in the guest to what it points at, type: dict, default: {}}
  modules: {description: kernel modules, type: list, elements: str, default: []}
  files: {description: path in the guest to the text of a program, type: dict, default: {}}
  more_memory_mb: {description: memory that the guest needs for it in MiB, type: int, default: 0}
  more_ready_s: {description: seconds that the guest's start takes longer, type: int, default: 0}
author: [Mitigauge contributors]
"""

# Also to be raised when this module makes something else of the same inputs.
SCHEMA = "mitigauge.guest-addition/1"
VERSION = re.compile(r"(?<!\d)\d+\.\d+[\w.]*")


def archive(
    release: str, programs: dict[str, str], links: dict[str, str], modules: list[str],
    files: dict[str, str], order: str,
) -> bytes:  # fmt: skip
    """The second archive. Modules that the guest has loaded by then are left out."""
    loaded = set(module_paths(release, GUEST_MODULES))
    own = [path for path in module_paths(release, modules) if path not in loaded]
    entries: dict[str, Entry] = {**module_entries(own, order)}
    for program in programs:
        entries |= program_files(program, f"usr/bin/{program}")
    for place, target in links.items():
        entries[place] = (stat.S_IFLNK | 0o777, target.encode())
    for place, text in files.items():
        entries[place] = (stat.S_IFREG | 0o755, text.encode())
    return newc(with_directories(entries))


def version(program: str) -> str:
    """Version number in the first line of `program --version`."""
    first = run(program, "--version").split("\n", 1)[0]
    found = VERSION.search(first)
    if not found:
        raise GuestImageError(f"{program} --version says no version: {first!r}")
    return found.group(0)


def require_place(path: Path, size: int) -> None:
    """Raise GuestImageError where the file system has no room for `size` bytes."""
    free = shutil.disk_usage(path).free
    if free < size:
        raise GuestImageError(
            f"{path} has {free >> 20} MiB free, the guest takes {size >> 20}: make room there"
        )


def ensure(params: dict[str, object], *, check_mode: bool) -> tuple[bool, dict[str, object]]:
    """(changed, manifest) with the addition as `params` wants it."""
    path, name = Path(str(params["path"])), str(params["name"])
    guest = read_manifest(path / "manifest.json")
    if not guest:
        raise GuestImageError(f"{path} has no guest: guest_image comes first")
    programs = {str(k): str(v) for k, v in dict(params["programs"]).items()}  # type: ignore[call-overload]
    lacking = missing_packages(programs)
    if lacking and check_mode:
        return True, {}
    if lacking:
        install(lacking)
    first = (path / "initrd.img").read_bytes()
    second = archive(
        str(guest["kernel_release"]), programs,
        dict(params["links"]), list(params["modules"]), dict(params["files"]),  # type: ignore[call-overload]
        f"{name}-order",
    )  # fmt: skip
    initrd = path / f"initrd-{name}.img"
    more = {key: int(str(params[key])) for key in ("more_memory_mb", "more_ready_s")}
    inputs = digest([SCHEMA.encode(), json.dumps(more).encode(), first, second])
    present = read_manifest(path / f"{name}.json")
    if present.get("inputs_sha256") == inputs and initrd.is_file():
        return False, present
    manifest: dict[str, object] = {
        "schema": SCHEMA, "inputs_sha256": inputs, "initrd": str(initrd),
        "initrd_sha256": digest([first, second]), **more,
        "tools": {program: version(program) for program in programs},
    }  # fmt: skip
    if not check_mode:
        # Without its manifest a half-replaced one is rebuilt, never started.
        (path / f"{name}.json").unlink(missing_ok=True)
        require_place(path, len(first) + len(second))
        write(initrd, first + second)
        write(path / f"{name}.json", json.dumps(manifest, indent=1).encode())
    return True, manifest


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "name": {"type": "str", "required": True},
            "programs": {"type": "dict", "default": {}},
            "links": {"type": "dict", "default": {}},
            "modules": {"type": "list", "elements": "str", "default": []},
            "files": {"type": "dict", "default": {}},
            "more_memory_mb": {"type": "int", "default": 0},
            "more_ready_s": {"type": "int", "default": 0},
        },
        supports_check_mode=True,
    )
    try:
        changed, manifest = ensure(module.params, check_mode=module.check_mode)
    except (GuestImageError, ChangesError, OSError) as error:
        module.fail_json(msg=str(error))
    else:
        shown = {key: manifest.get(key) for key in ("initrd", "tools", "inputs_sha256")}
        module.exit_json(changed=changed, mitigauge={"guest_addition": shown})


if __name__ == "__main__":
    main()
