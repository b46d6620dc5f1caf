"""Looks into a kernel's Debian package: the program that `package.py` confines.

Argument: the package. Prints JSON, `release` and `build_id`; or a line `refused …` for a file
that is no such package. Its own scripts are not run, and nothing is unpacked to disk.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import IO

# Isolated, so this checkout is not looked into by itself.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mitigauge.core.errors import InvalidInput
from mitigauge.kernels.build_id import build_id_of_image

_IMAGE = re.compile(r"\./boot/vmlinuz-(?P<release>[0-9][0-9A-Za-z.~_+-]{1,62})")


def main(path: str) -> None:
    """Print what *path* holds, or why it is none."""
    # One thread, since each has a window of its own; older versions do not know the option.
    process = subprocess.Popen(
        ["dpkg-deb", "--fsys-tarfile", path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "DPKG_DEB_THREADS_MAX": "1"},
    )
    assert process.stdout
    assert process.stderr
    try:
        print(json.dumps(looked_into(process.stdout)))
    except InvalidInput as error:
        print("refused", error.message)
    except tarfile.TarError:
        process.stdout.close()
        said = process.stderr.read(2000).decode(errors="replace")
        print("refused it is no Debian package:", " ".join(said.split()))
    finally:
        process.kill()


def looked_into(stream: IO[bytes]) -> dict[str, str]:
    """Release and build id of the first image. Raises InvalidInput."""
    with tarfile.open(fileobj=stream, mode="r|") as tar:
        for member in tar:
            # All that were read are kept otherwise.
            tar.members = []  # type: ignore[attr-defined]
            named = _IMAGE.fullmatch(member.name)
            if named and member.isreg() and (held := tar.extractfile(member)):
                return {"release": named["release"], "build_id": build_id_of_image(held)}
    raise InvalidInput("it has no /boot/vmlinuz-RELEASE")


if __name__ == "__main__":
    main(sys.argv[1])
