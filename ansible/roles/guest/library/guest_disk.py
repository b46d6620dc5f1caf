#!/usr/bin/python
"""Ansible module: a guest image of the operator's, which workloads boot in place of our own.

The image is looked at, never written to: every guest writes to a file that QEMU throws away.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.mitigauge_guest import (
    GuestImageError,
    install,
    missing_packages,
    read_manifest,
    write,
)

DOCUMENTATION = r"""
module: guest_disk
short_description: Take a guest image of the operator's
description:
  - Checks that I(image) is one whole qcow2 file, and notes it with its digest in disk.json below
    I(path), beside the session that a guest of it is given. Without an image removes both.
options:
  path: {description: directory of the guest, type: path, required: true}
  image: {description: qcow2 image on the host; empty for none, type: str, default: ""}
  user: {description: account that is logged into, type: str, default: ""}
  key_file: {description: private key on the host, type: str, default: ""}
  session: {description: what a shell of the guest reads, type: str, required: true}
author: [Mitigauge contributors]
"""

SCHEMA = "mitigauge.guest-disk/1"
MANIFEST, SESSION = "disk.json", "session"
# docs/interop/qcow2.rst of QEMU: magic, version, offset of the backing file's name; the features
# without which a file cannot be read come with version 3.
HEADER = struct.Struct(">4sIQ")
FEATURES_AT, EXTERNAL_DATA = 72, 1 << 2
CHUNK = 1 << 20


def require_whole(path: Path, header: bytes) -> None:
    """Raise GuestImageError unless `header` begins a qcow2 file that needs no other file."""
    try:
        magic, version, backing = HEADER.unpack_from(header)
        features = struct.unpack_from(">Q", header, FEATURES_AT)[0] if version >= 3 else 0
    except struct.error:
        magic, version, backing, features = b"", 0, 0, 0
    if magic != b"QFI\xfb" or version not in (2, 3):
        raise GuestImageError(f"guest image {path} is no qcow2 file: convert it by qemu-img")
    if backing or features & EXTERNAL_DATA:
        raise GuestImageError(
            f"guest image {path} needs another file beside it: make one whole file of it with "
            "`qemu-img convert -O qcow2`"
        )


def require_key(path: Path) -> None:
    """Raise GuestImageError unless ssh would take the private key in `path`."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise GuestImageError(f"the guest image's key {path}: {error.strerror}") from None
    if not stat.S_ISREG(mode) or mode & 0o077:
        raise GuestImageError(f"the guest image's key {path}: chmod 600, or ssh does not take it")


def stamp(path: Path) -> dict[str, object]:
    """What tells that a file is another one, without reading it."""
    found = path.stat()
    return {"bytes": found.st_size, "mtime_ns": found.st_mtime_ns}


def sha256(path: Path) -> str:
    """Digest of the file."""
    total = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            total.update(chunk)
    return total.hexdigest()


def described(image: Path, user: str, key: str, present: dict[str, object]) -> dict[str, object]:
    """What disk.json is to say; `present` spares reading an image that is the same."""
    try:
        with image.open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise GuestImageError(f"guest image {image} is no regular file")
            require_whole(image, file.read(512))
        seen = stamp(image)
        same = present.get("image") == str(image) and seen.items() <= present.items()
        digest = present.get("sha256") if same else sha256(image)
    except OSError as error:
        raise GuestImageError(f"guest image {image}: {error.strerror}") from None
    require_key(Path(key))
    return {
        "schema": SCHEMA, "image": str(image), **seen, "sha256": digest, "user": user,
        "key_file": key,
    }  # fmt: skip


def ensure(params: dict[str, str], *, check_mode: bool) -> tuple[bool, dict[str, object]]:
    """(changed, manifest) with the image as `params` wants it."""
    manifest, session = Path(params["path"], MANIFEST), Path(params["path"], SESSION)
    if not params["image"]:
        gone = [path for path in (manifest, session) if path.exists()]
        for path in [] if check_mode else gone:
            path.unlink()
        return bool(gone), {}
    lacking = missing_packages({"ssh": "openssh-client"})
    if lacking and check_mode:
        return True, {}
    if lacking:
        install(lacking)
    present = read_manifest(manifest)
    wanted = described(Path(params["image"]), params["user"], params["key_file"], present)
    text = session.read_text() if session.exists() else ""
    if present == wanted and text == params["session"]:
        return False, present
    if not check_mode:
        # Without its manifest a half-replaced one is never started.
        manifest.unlink(missing_ok=True)
        write(session, params["session"].encode())
        write(manifest, json.dumps(wanted, indent=1).encode())
    return True, wanted


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "image": {"type": "str", "default": ""},
            "user": {"type": "str", "default": ""},
            # The name of a file, no secret.
            "key_file": {"type": "str", "default": "", "no_log": False},
            "session": {"type": "str", "required": True},
        },
        supports_check_mode=True,
    )
    try:
        changed, manifest = ensure(module.params, check_mode=module.check_mode)
    except GuestImageError as error:
        module.fail_json(msg=str(error))
    else:
        shown = {key: manifest.get(key) for key in ("image", "sha256")} if manifest else {}
        module.exit_json(changed=changed, mitigauge={"guest_disk": shown})


if __name__ == "__main__":
    main()
