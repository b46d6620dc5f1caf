"""An emulated machine with a kernel and a root in memory, in counted time, that ends by itself."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.execution import PROGRAM, execution_of
from lab.qemu import kernel_arguments, machine_arguments
from mitigauge.core.clock import Clock
from mitigauge.kernels.tables import Kernel
from mitigauge.storage.files.blobs import BlobStore

BOOT_LIMIT_S = 900
COMMAND_LINE = ("console=ttyS0,115200", "tsc=reliable", "nokaslr", "maxcpus=1", "panic=-1")


@dataclass(frozen=True)
class CountedMachine:
    """A machine with a processor of that name; kernels are unpacked into *directory*."""

    cpu: str
    directory: Path

    def boot(self, image: Path, root: Path, options: Sequence[str] = ()) -> str:
        """All that its console said until it reset itself."""
        command = [
            PROGRAM,
            *machine_arguments(execution_of("tcg", Clock.COUNTED)),
            *("-cpu", self.cpu),
            *("-m", "512"),
            *("-serial", "stdio"),
            "-no-reboot",
            *kernel_arguments(image, [*COMMAND_LINE, *options]),
            *("-initrd", f"{root}"),
        ]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=BOOT_LIMIT_S, check=True
        )
        return done.stdout.decode(errors="replace")

    def image(self, kernel: Kernel, blobs: BlobStore) -> Path:
        """The image out of the kernel's package."""
        assert kernel.package_sha256
        content = self.directory / f"{kernel.release}"
        package = content.with_suffix(".deb")
        package.write_bytes(blobs.read(kernel.package_sha256))
        subprocess.run(["dpkg-deb", "-x", f"{package}", f"{content}"], check=True)
        return content / "boot" / f"vmlinuz-{kernel.release}"
