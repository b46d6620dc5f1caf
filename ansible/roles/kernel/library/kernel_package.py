#!/usr/bin/python
"""Ansible module: package files of kernels of ours, installed, and noted by their digests."""

from __future__ import annotations

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils import mitigauge_kernel_files as kernel_files
from ansible.module_utils.mitigauge_changes import ChangesError, note_paths
from ansible.module_utils.mitigauge_kernel_packages import NOTES, note, sha256_of
from ansible.module_utils.mitigauge_packages import PackageError, install_files

DOCUMENTATION = r"""
module: kernel_package
short_description: Install kernels' package files, whatever packages of those names are there
description:
  - Refuses a file whose SHA-256 is not the wanted one, before anything is installed.
  - Without dpkg, unpacks the kernels and has the host's own program make initial RAM disks.
  - Installs them together, over other builds of the same name and version, which apt would keep.
  - Notes each digest, by which I(kernel_list) then knows the build.
options:
  names: {description: the packages' names, type: list, elements: str, required: true}
  directory: {description: "where NAME.deb of each is on this host", type: path, required: true}
  digests: {description: "name to the SHA-256 that its file must have", type: dict, required: true}
author: [Mitigauge contributors]
"""


def install(names: list[str], directory: Path, digests: dict[str, str]) -> None:
    """Install NAME.deb of each and note what they were.

    Raises PackageError for a file that did not arrive whole, where apt refuses, and as
    kernel_files.install does.
    """
    files = [directory / f"{name}.deb" for name in names]
    for name, file in zip(names, files):
        found = sha256_of(file)
        if found != digests[name]:
            raise PackageError(
                f"{file} did not arrive as it was sent: its SHA-256 is {found}, not {digests[name]}"
            )
    if not kernel_files.takes_packages():
        for name, file in zip(names, files):
            kernel_files.install(file, name.removeprefix("linux-image-"), digests[name])
        return
    note_paths([NOTES])
    install_files([str(file) for file in files], names)
    for name in names:
        note(name, digests[name])


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "names": {"type": "list", "elements": "str", "required": True},
            "directory": {"type": "path", "required": True},
            "digests": {"type": "dict", "required": True},
        }
    )
    names = list(dict.fromkeys(module.params["names"]))
    try:
        if names:
            install(names, Path(module.params["directory"]), module.params["digests"])
    except (PackageError, ChangesError, OSError, KeyError) as error:
        module.fail_json(msg=f"kernels {', '.join(names)} cannot be installed: {error}")
    else:
        module.exit_json(changed=bool(names))


if __name__ == "__main__":
    main()
