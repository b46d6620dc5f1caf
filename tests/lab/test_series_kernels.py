"""Kernels with the patches of `tests/series`: built here, and booted far enough to be asked.

The first build takes some 15 minutes on two cores, one with a filled compiler cache one to three.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from lab.hosts import SPECS
from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.kernels.config_profile import profile_of
from mitigauge.kernels.patch import read_patch
from mitigauge.kernels.patch_files import read_patches
from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.catalog import Catalog
from mitigauge.storage.files.blobs import BlobStore, blob_store
from pipelines.adapters.build_root import build_root
from pipelines.kernel_build import Builder
from pipelines.kernel_order import BuildFailed, Order
from tests.lab import initramfs
from tests.lab.counted_machine import CountedMachine

pytestmark = pytest.mark.lab

SERIES = REPOSITORY / "tests" / "series"
BASE = "linux-source-7.2"
REVISIONS = ("v1", "v2", "v3", "v4")
[HOST] = [spec for spec in SPECS if spec.name == "lab-amd"]
VMSCAPE = Catalog().families["vmscape"]

Build = Callable[[str], Kernel]


@dataclass(frozen=True)
class Machine:
    """The processor of the lab's AMD host, with a kernel and a root in memory."""

    root: Path
    counted: CountedMachine
    blobs: BlobStore

    def boot(self, kernel: Kernel, *options: str) -> str:
        """All that its console said until it reset itself."""
        return self.counted.boot(self.counted.image(kernel, self.blobs), self.root, options)


@pytest.fixture(scope="module")
def builder(module_engine: tuple[Engine, str]) -> Builder:
    """The checkout's build root and caches, and a database of the tests' own."""
    settings = get_settings()
    return Builder(settings.home / "kernels", module_engine[0], blob_store(settings), report=print)


@pytest.fixture(scope="module")
def build(builder: Builder) -> Build:
    """Builds a kernel with the patches of a file or folder of `tests/series`."""

    def built(name: str) -> Kernel:
        patches = read_patches([SERIES / name])
        order = Order(BASE, profile_of("lab"), patches)
        with Session(builder.engine, expire_on_commit=False) as session:
            return session.get_one(Kernel, builder.build(order))

    return built


@pytest.fixture(scope="module")
def machine(builder: Builder, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """An emulated machine that ends by itself."""
    directory = tmp_path_factory.mktemp("kernels")
    # The sandbox's user must get to it.
    for each in (directory, directory.parent):
        each.chmod(0o755)
    root = build_root(builder.directory, (BASE,), print)
    counted = CountedMachine(HOST.cpu, directory)
    return Machine(initramfs.build(root.root, directory), counted, builder.blobs)


@pytest.mark.parametrize("name", sorted(VMSCAPE.modes))
def test_every_mode_is_in_force_on_a_kernel_with_the_first_revision(
    name: str, build: Build, machine: Machine
) -> None:
    mode = VMSCAPE.modes[name]
    options = [*VMSCAPE.emulated.cmdline, *mode.settings.cmdline]
    console = machine.boot(build("vmscape-bhb/v1"), *options)
    shown = [line.strip() for line in console.splitlines() if line.startswith(initramfs.SAID)]
    assert shown == [f"{initramfs.SAID} {mode.expect[0].equals}"], console[-3000:]


def test_without_its_control_the_processor_gets_the_barrier(build: Build, machine: Machine) -> None:
    console = machine.boot(build("vmscape-bhb/v1"), "setcpuid=ibpb", "vmscape=on")
    assert f"{initramfs.SAID} Mitigation: IBPB before exit to userspace" in console


def test_each_revision_is_code_of_its_own(build: Build) -> None:
    codes = {name: build(f"vmscape-bhb/{name}").content_digest for name in REVISIONS}
    assert len(set(codes.values())) == len(REVISIONS), codes


def test_what_goes_on_from_a_build_is_the_kernel_that_is_built_from_nothing(
    builder: Builder,
) -> None:
    reports: list[str] = []
    own = replace(builder, report=reports.append)
    header = read_patch(
        "--- a/fs/mount.h\n+++ b/fs/mount.h\n@@ -47,3 +47,4 @@\n struct mount {\n"
        " \tstruct hlist_node mnt_hash;\n+\tunsigned long mnt_room;\n"
        " \tstruct mount *mnt_parent;\n",
        "header",
    )
    ten = read_patches([SERIES / "ten"])
    patches = [ten[0], header, ten[4]]

    def build_id(count: int, *, anew: bool = False) -> str:
        reports.clear()
        number = own.build(Order(BASE, profile_of("lab"), patches[:count]), anew=anew)
        with Session(own.engine, expire_on_commit=False) as session:
            return str(session.get_one(Kernel, number).build_id)

    first = build_id(1)
    goes_on = "Of what was built before, 1 of the patches change something"
    second = build_id(2)
    assert goes_on in reports
    third = build_id(3)
    assert goes_on in reports
    assert len({first, second, third}) == 3
    assert build_id(3, anew=True) == third
    assert not any("built before" in each for each in reports)


def test_a_warning_of_the_compiler_is_told_of_the_patch_that_adds_it(builder: Builder) -> None:
    series = read_patches([SERIES / "ten"])[:2]
    warns = read_patch(
        "--- a/kernel/sys.c\n+++ b/kernel/sys.c\n@@ -1070,4 +1070,5 @@"
        " static void do_sys_times(struct tms *tms)\n \n"
        " SYSCALL_DEFINE1(times, struct tms __user *, tbuf)\n {\n+\tint room;\n"
        " \tif (tbuf) {\n",
        "warns",
    )
    found = builder.new_warnings(Order(BASE, profile_of("lab"), [*series, warns]))
    assert found[:2] == [[], []]
    [warning] = found[2] or []
    assert warning.startswith("kernel/sys.c:")
    assert "unused variable" in warning
    assert "[-Wunused-variable]" in warning


def test_the_kernel_that_panics_starts_no_program(build: Build, machine: Machine) -> None:
    console = machine.boot(build("broken/does-not-boot.patch"))
    assert "Kernel panic - not syncing: a test of what boots kernels" in console
    assert initramfs.SAID not in console


def test_what_does_not_compile_is_named_with_file_line_and_reason(build: Build) -> None:
    with pytest.raises(BuildFailed) as failed:
        build("broken/does-not-compile.patch")
    assert "arch/x86/entry/syscall_64.c:95" in failed.value.message
    assert "mitigauge_syscalls" in failed.value.message
