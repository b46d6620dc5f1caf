"""``make bench-exact``: what counting every block costs a boot, and whether it changes its time.

The lab's kernel is started in counted time with a program that times system calls: with the plugin,
with the plugin that counts lines of data as well, and without, in turn. Peer: the same boot
without the plugin. Compared is what the emulator needs of processors, which other load on this
machine changes less than the time until it ended. All timed calls are in a window.
"""

from __future__ import annotations

import argparse
import re
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

from lab import ssh
from lab.exact.plugin import ensure_plugin
from lab.execution import PROGRAM, Execution
from lab.hosts import LabPaths
from lab.image import ensure_image
from lab.progress import Silent
from lab.qemu import kernel_arguments, machine_arguments
from lab.recipe import lab_recipe
from mitigauge.core.clock import Clock
from mitigauge.core.settings import get_settings
from pipelines.adapters.initramfs import packed

LIMIT_S = 600
COMMAND_LINE = ("console=ttyS0", "panic=-1", "nokaslr", "tsc=reliable", "pti=off", "quiet")
SOURCE = Path(__file__).with_name("init.c")
CALL = re.compile(r"CALL ([0-9.]+)")
# By what stands behind the plugin's directory; None: without the plugin.
TITLES = {None: "without", "": "with the plugin", ",data=on": "and lines of data"}


def root_of(directory: Path) -> Path:
    """A root in memory whose only program is init.c."""
    program, archive = directory / "init", directory / "initramfs"
    subprocess.run(["cc", "-static", "-O2", str(SOURCE), "-o", str(program)], check=True)
    archive.write_bytes(packed(program.read_bytes()))
    return archive


def boot(kernel: Path, root: Path, plugin: Path, options: str | None) -> tuple[float, float]:
    """Seconds of this machine's processors, and nanoseconds a call by its own counted time.

    *options*: of the plugin; None: without it.
    """
    with tempfile.TemporaryDirectory() as directory:
        counting = [] if options is None else ["-plugin", f"{plugin},out={directory}{options}"]
        command = [
            PROGRAM,
            *machine_arguments(Execution("tcg", Clock.COUNTED)),
            *("-cpu", "Icelake-Server", "-m", "512", "-serial", "stdio", "-no-reboot"),
            *counting,
            *kernel_arguments(kernel, COMMAND_LINE),
            *("-initrd", f"{root}"),
        ]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = [float(each) for each in CALL.findall(done.stdout.decode(errors="replace"))]
    if not found:
        raise RuntimeError(f"no call was timed: {done.stdout[-500:]!r}")
    # The round that the kernel disturbed least.
    return took, min(found)


def main() -> None:
    """Boot in turn, print what each took."""
    parser = argparse.ArgumentParser(prog="make bench-exact", description=main.__doc__)
    parser.add_argument("--boots", type=int, default=5, help="of each kind")
    options = parser.parse_args()
    paths = LabPaths.of(get_settings())
    ssh.ensure_keys(paths)
    image = ensure_image(lab_recipe(paths.key, paths.host_key), paths.images, Silent())
    plugin = ensure_plugin(paths.plugins)
    taken: dict[str | None, list[tuple[float, float]]] = {kind: [] for kind in TITLES}
    with tempfile.TemporaryDirectory() as directory:
        root = root_of(Path(directory))
        for _ in range(options.boots):
            for kind, found in taken.items():
                found.append(boot(image.kernel, root, plugin, kind))
    for kind, title in TITLES.items():
        real = ", ".join(f"{seconds:.2f}" for seconds, _ in taken[kind])
        own = ", ".join(f"{call:.3f}" for _, call in taken[kind])
        print(f"{title:>17}: {real} s of processors; {own} ns a system call in counted time")
    for kind in list(TITLES)[1:]:
        limit = " (limit of a boot's real time: 1.3)" if kind == "" else ""
        ratios = [a[0] / b[0] for a, b in zip(taken[kind], taken[None], strict=True)]
        own_ratio = statistics.median(call for _, call in taken[kind]) / statistics.median(
            call for _, call in taken[None]
        )
        print(f"{TITLES[kind]}:")
        print(f"  processor time: {statistics.median(ratios):.2f} x a boot without it{limit}")
        print(f"  counted time: {100 * (own_ratio - 1):+.4f} % (limit 0.01)")


if __name__ == "__main__":
    main()
