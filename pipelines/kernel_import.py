"""Read a kernel's Debian package that was built elsewhere."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
from pathlib import Path

from mitigauge.blobs import BlobStore
from mitigauge.errors import InvalidInput, NotFound, NotReady
from mitigauge.kernels.build_id import build_id_of_image
from mitigauge.kernels.service import Built

PACKAGE_LIMIT = 1 << 30
IMAGE_LIMIT = 256 << 20
_IMAGE = re.compile(r"\./boot/vmlinuz-(?P<release>[0-9][0-9A-Za-z.~_+-]{1,62})")


def read_package(package: Path, blobs: BlobStore) -> Built:
    """What a package holds, with the package in the store.

    Raises NotFound for a file that is not there, InvalidInput for one that is no kernel's
    package, NotReady without dpkg-deb.
    """
    if not package.is_file():
        raise NotFound(f"{package} is not there", hint="Give a linux-image-*.deb.")
    if package.stat().st_size > PACKAGE_LIMIT:
        raise InvalidInput(f"{package} is larger than 1 GiB", hint="Give a linux-image-*.deb.")
    release, image = _image_of(package)
    return Built(
        release=release,
        build_id=build_id_of_image(image),
        content_digest="",
        package_sha256=blobs.put(package.read_bytes()),
        package_bytes=package.stat().st_size,
    )


def _image_of(package: Path) -> tuple[str, bytes]:
    """Release and image. The package's own scripts are not run, and nothing is unpacked to disk."""
    try:
        process = subprocess.Popen(
            ["dpkg-deb", "--fsys-tarfile", str(package.resolve())],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except FileNotFoundError as error:
        raise NotReady("dpkg-deb is not installed", hint="apt-get install dpkg") from error
    assert process.stdout is not None
    try:
        with tarfile.open(fileobj=process.stdout, mode="r|") as tar:
            for member in tar:
                named = _IMAGE.fullmatch(member.name)
                if named and member.isreg() and member.size <= IMAGE_LIMIT:
                    held = tar.extractfile(member) or io.BytesIO()
                    return named["release"], held.read(IMAGE_LIMIT)
    except tarfile.TarError as error:
        raise InvalidInput(f"{package} is no Debian package", hint="Give a .deb.") from error
    finally:
        process.kill()
        process.wait()
    raise InvalidInput(f"{package} has no /boot/vmlinuz-RELEASE", hint="Give a linux-image-*.deb.")
