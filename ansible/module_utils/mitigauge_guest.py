"""What the measuring guest is put together from: the host's programs and modules."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from ansible.module_utils import mitigauge_packages
from ansible.module_utils.mitigauge_changes import ChangesError
from ansible.module_utils.mitigauge_initramfs import Entry, unpacked_module
from ansible.module_utils.mitigauge_packages import PackageError

# Of the initramfs that every guest boots.
GUEST_MODULES = ("virtio_pci", "virtio_net")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class GuestImageError(Exception):
    """Something the guest needs is missing or does not work; the text says what to do."""


def run(*command: str) -> str:
    """Standard output of `command`; its error output is the message if it fails."""
    try:
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, env={"LC_ALL": "C", "PATH": PATH}
        )
    except FileNotFoundError:
        raise GuestImageError(f"{command[0]} is not installed on the host") from None
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout).strip()
        raise GuestImageError(f"{' '.join(command)}: {said}") from None
    return done.stdout


def missing_packages(programs: Mapping[str, str]) -> list[str]:
    """Packages that the host lacks of `programs`, program to package."""
    return [package for name, package in programs.items() if not shutil.which(name, path=PATH)]


def install(packages: list[str]) -> None:
    """Install Debian packages and note them as ours."""
    try:
        mitigauge_packages.install(packages)
    except (PackageError, ChangesError) as error:
        raise GuestImageError(str(error)) from error


def program_libraries(program: str) -> list[str]:
    """Shared objects of `program`; none if it is linked statically."""
    header = Path(program).read_bytes()
    return libraries(run("ldd", program)) if b"/ld-linux-x86-64.so.2" in header else []


def libraries(ldd_output: str) -> list[str]:
    """Absolute paths of shared objects, the loader included, in `ldd`'s output."""
    missing = re.findall(r"^[^\S\n]*(\S+) => not found", ldd_output, re.MULTILINE)
    if missing:
        raise GuestImageError(f"the host lacks shared objects: {', '.join(missing)}")
    return sorted(set(re.findall(r"(?<!\S)(/\S+) \(0x[0-9a-f]+\)", ldd_output)))


def module_files(show_depends: str) -> list[str]:
    """Module files in loading order from `modprobe --show-depends`; built-ins have none."""
    return re.findall(r"^insmod (\S+)", show_depends, re.MULTILINE)


def program_files(name: str, place: str) -> dict[str, Entry]:
    """The host's program, to be at `place`, with the shared objects it needs."""
    path = shutil.which(name, path=PATH)
    if not path:
        raise GuestImageError(f"{name} is not installed on the host")
    files = {place: (stat.S_IFREG | 0o755, Path(path).read_bytes())}
    for library in program_libraries(path):
        files[library.lstrip("/")] = (stat.S_IFREG | 0o755, Path(library).read_bytes())
    return files


def module_paths(release: str, names: Sequence[str]) -> list[str]:
    """Files of the kernel modules and of all they depend on, each once, in loading order."""
    shown = [
        run("modprobe", "--set-version", release, "--show-depends", name) for name in names
    ]  # fmt: skip
    return list(dict.fromkeys(path for text in shown for path in module_files(text)))


def module_entries(paths: Sequence[str], order: str) -> dict[str, Entry]:
    """The module files, and the file `order` that lists them for loading."""
    files: dict[str, Entry] = {}
    for path in paths:
        file, content = unpacked_module(Path(path))
        files[f"modules/{file}"] = (stat.S_IFREG | 0o644, content)
    listed = "".join(f"{Path(file).name}\n" for file in files)
    return {**files, f"modules/{order}": (stat.S_IFREG | 0o644, listed.encode())}


def digest(parts: Sequence[bytes]) -> str:
    """SHA-256 over length-prefixed parts."""
    total = hashlib.sha256()
    for part in parts:
        total.update(b"%d:" % len(part))
        total.update(part)
    return total.hexdigest()


def read_manifest(path: Path) -> dict[str, object]:
    """The manifest in the file; empty if there is none or it is torn."""
    try:
        manifest = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def write(path: Path, content: bytes) -> None:
    """Replace `path` as a whole, so that a reader never sees half of it."""
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    part.replace(path)
