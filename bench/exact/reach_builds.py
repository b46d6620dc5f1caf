"""Kernels of one patch each, built one after the other in one tree, and what is noted of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mitigauge.core.settings import get_settings
from mitigauge.kernels.config_profile import profile_of
from pipelines.adapters.build_root import BuildRoot, build_root, copy_of
from pipelines.adapters.compiler_cache import SHARED
from pipelines.adapters.sandbox import Sandbox
from pipelines.kernel_work import BUILD_LIMITS, COMPILING, SCRIPTS

# Of these, all of a package but the image.
MAKE = """
make -C /build/source O=/build/out CC="ccache gcc-14" HOSTCC="ccache gcc-14" LOCALVERSION=-reach \\
    -j"$(nproc)" vmlinux
"""
NOTE = "/build/scripts/functions /build/out/vmlinux >/build/package/functions"
VARIABLES = {
    **COMPILING,
    "CONFIG_WHOLE": "no",
    "CCACHE_REMOTE_STORAGE": "file:/build/shared-ccache|read-only=true",
}


def built(directory: Path, base: str, patches: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Name and notes of the base, then of each patch alone, built below *directory*."""
    home = get_settings().home / "kernels"
    root = build_root(home, (base,), print)
    shared = home / "ccache" / SHARED
    folders = {each: directory / each for each in ("out", "patches", "package", "ccache")}
    for folder in (*folders.values(), shared):
        folder.mkdir(parents=True, exist_ok=True)
    folders["source"] = directory / "source"
    copy_of(root.tree(root.base(base), print), folders["source"])
    for patch in patches:
        (folders["patches"] / patch.name).write_bytes(patch.read_bytes())
    (folders["patches"] / "profile.config").write_text(profile_of("lab").text)

    def run(command: str) -> None:
        _run(root, folders, shared, command)

    run("/build/scripts/configure")
    run(MAKE + NOTE)
    yield base, (folders["package"] / "functions").read_text()
    for patch in patches:
        apply = f"git apply --whitespace=nowarn -p1 /build/patches/{patch.name}"
        run(f"cd /build/source; {apply}; {MAKE}{NOTE}; {apply} -R")
        yield patch.stem, (folders["package"] / "functions").read_text()


def _run(root: BuildRoot, folders: Mapping[str, Path], shared: Path, command: str) -> None:
    log = folders["out"].parent / "log"
    status = Sandbox(root.root, BUILD_LIMITS).run(
        ["/bin/bash", "-euc", command],
        log=log,
        writable={f"/build/{name}": folder for name, folder in folders.items()},
        readable={"/build/scripts": SCRIPTS, "/build/shared-ccache": shared},
        directory="/build/source",
        variables=VARIABLES,
    )
    if status:
        raise SystemExit(log.read_text(errors="replace")[-2000:])
