"""Take in a kernel's Debian package that was built elsewhere."""

from __future__ import annotations

from pathlib import Path

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.kernels.package import HINT, look_into
from mitigauge.kernels.service import Built
from mitigauge.storage.files.blobs import BlobStore

PACKAGE_LIMIT = 1 << 30


def read_package(package: Path, blobs: BlobStore) -> Built:
    """What a package holds, with the package in the store.

    Raises NotFound for a file that is not there, InvalidInput for one that is no kernel's
    package, NotReady without dpkg-deb.
    """
    if not package.is_file():
        raise NotFound(f"{package} is not there", hint=HINT)
    size = package.stat().st_size
    if size > PACKAGE_LIMIT:
        raise InvalidInput(f"{package} is larger than 1 GiB", hint=HINT)
    found = look_into(package)
    return Built(
        release=found.release,
        build_id=found.build_id,
        content_digest="",
        package_sha256=blobs.put_file(package),
        package_bytes=size,
    )
