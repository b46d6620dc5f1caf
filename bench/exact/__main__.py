"""``make bench-exact``: what counting every block costs a boot, and whether it changes its time.

The lab's kernel is started in counted time with a program that times system calls: with the plugin
and without, in turn. Peer: the same boot without the plugin. Compared is what the emulator needs of
processors: other load on this machine changes that less than the time until it ended. All timed
calls are in a window.
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
# By whether the plugin is there.
TITLES = {False: "without", True: "with the plugin"}


def root_of(directory: Path) -> Path:
    """A root in memory whose only program is init.c."""
    program, archive = directory / "init", directory / "initramfs"
    subprocess.run(["cc", "-static", "-O2", str(SOURCE), "-o", str(program)], check=True)
    archive.write_bytes(packed(program.read_bytes()))
    return archive


def boot(kernel: Path, root: Path, plugin: Path | None) -> tuple[float, float]:
    """Seconds of this machine's processors, and nanoseconds a call by its own counted time.

    *plugin*: None: without one.
    """
    with tempfile.TemporaryDirectory() as directory:
        counting = [] if plugin is None else ["-plugin", f"{plugin},out={directory}"]
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
    taken: dict[bool, list[tuple[float, float]]] = {kind: [] for kind in TITLES}
    with tempfile.TemporaryDirectory() as directory:
        root = root_of(Path(directory))
        for _ in range(options.boots):
            for kind, found in taken.items():
                found.append(boot(image.kernel, root, plugin if kind else None))
    for kind, title in TITLES.items():
        real = ", ".join(f"{seconds:.2f}" for seconds, _ in taken[kind])
        own = ", ".join(f"{call:.3f}" for _, call in taken[kind])
        print(f"{title:>17}: {real} s of processors; {own} ns a system call in counted time")
    ratios = [a[0] / b[0] for a, b in zip(taken[True], taken[False], strict=True)]
    with_it, without = (
        statistics.median(call for _, call in taken[kind]) for kind in (True, False)
    )
    ratio = statistics.median(ratios)
    print(f"processor time: {ratio:.2f} x a boot without it (limit of a boot's real time: 1.3)")
    print(f"counted time: {100 * (with_it / without - 1):+.4f} % (limit 0.01)")


if __name__ == "__main__":
    main()
