"""A root directory with Debian's compiler in it, and source trees unpacked from its packages.

What compiles a candidate kernel is thereby the same on every machine, and named by versions.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mitigauge.core.apt_sources import find_mirror, inherited_apt_options
from mitigauge.core.errors import MitigaugeError, NotFound, NotReady
from mitigauge.core.settings import Settings
from mitigauge.kernels.recipe import GIT, Base, Toolchain
from pipelines.adapters.file_lock import alone
from pipelines.adapters.git_tree import GitTree
from pipelines.adapters.sandbox import BUILD_USER, Limits, Sandbox, require_bubblewrap

SUITE = "trixie"
NAME = "debian-trixie"
COMPILER = ("gcc-14", "binutils")
PACKAGES = [
    "bc",
    "bison",
    "ccache",
    "cpio",
    "dpkg",
    "fakeroot",
    "flex",
    "gcc",
    "gcc-14",
    "binutils",
    "git",
    "kmod",
    "libc6-dev",
    "libelf-dev",
    "libssl-dev",
    "make",
    "patch",
    "perl-base",
    "perl",
    "python3-minimal",
    "rsync",
    "xz-utils",
    "zstd",
]
# Where a build's directories appear, so that every build has the same paths and ccache hits.
MOUNTS = ("source", "out", "ccache", "shared-ccache", "patches", "package", "scripts")
SOURCES = "usr/src"
# Of a bisection over commits: a kernel's tree has 1.5 GiB.
KEPT_COMMITS = 3
IN_USE_S = 600.0
UNPACK_LIMITS = Limits(seconds=1800, disk_bytes=6 << 30, output_bytes=8 << 20)

Report = Callable[[str], None]


@dataclass(frozen=True)
class BuildRoot:
    """One root directory and the trees that came with it, below *directory*."""

    directory: Path

    @property
    def root(self) -> Path:
        """What a sandbox has for its root."""
        return self.directory / "root"

    def toolchain(self) -> Toolchain:
        """What compiles, by the versions that are installed."""
        versions = tuple(f"{name} {self._version(name)}" for name in COMPILER)
        return Toolchain(NAME, versions)

    def base(self, name: str) -> Base:
        """The source package of that name. Raises NotFound naming those there are."""
        if not (self.root / SOURCES / f"{name}.tar.xz").exists():
            known = sorted(f.name.removesuffix(".tar.xz") for f in self._archives())
            raise NotFound(f"no source tree {name!r}", hint=f"Known: {', '.join(known) or 'none'}.")
        return Base(name, self._version(name))

    def bases(self) -> dict[str, str]:
        """Source packages that are there, with their versions; none before the first build."""
        names = sorted(file.name.removesuffix(".tar.xz") for file in self._archives())
        return {name: self._version(name) for name in names}

    def tree(self, base: Base, report: Report) -> Path:
        """The unpacked tree of *base*, which nobody may write to."""
        version = base.version.replace(":", "_").replace("~", "_")
        tree = self.directory / "trees" / f"{base.name}_{version}"
        with alone(self.directory / "trees.lock"):
            if tree.exists():
                return tree
            report(f"Unpacking {base.name} {base.version}")
            arriving = tree.with_name(tree.name + ".new")
            shutil.rmtree(arriving, ignore_errors=True)
            arriving.mkdir(parents=True)
            self._unpack(base, arriving)
            _take_over(arriving)
            arriving.rename(tree)
        return tree

    def checked_out(self, source: GitTree, commit: str, report: Report) -> Path:
        """The files of a commit, which nobody may write to. A few of those before are kept."""
        trees = self.directory / "trees"
        tree = trees / f"{GIT}_{commit}"
        with alone(self.directory / "trees.lock"):
            if tree.exists():
                tree.touch()
                return tree
            report(f"Unpacking commit {commit[:12]}")
            self._make_room(trees)
            arriving = tree.with_name(tree.name + ".new")
            shutil.rmtree(arriving, ignore_errors=True)
            arriving.mkdir(parents=True)
            with tempfile.TemporaryDirectory(dir=self.directory, prefix="commit-") as packed:
                source.export(commit, Path(packed) / "commit.tar")
                Path(packed).chmod(0o755)
                (Path(packed) / "commit.tar").chmod(0o644)
                self._untar("/build/source/commit.tar", arriving, {"/build/source": Path(packed)})
            _take_over(arriving)
            arriving.rename(tree)
        return tree

    def _make_room(self, trees: Path) -> None:
        """Remove the commits that were not used for longest; builds have copies of theirs."""
        others = sorted(trees.glob(f"{GIT}_*"), key=lambda each: each.stat().st_mtime)
        for old in others[: max(len(others) - (KEPT_COMMITS - 1), 0)]:
            # One that was asked for just now may still be copied.
            if old.stat().st_mtime < time.time() - IN_USE_S:
                shutil.rmtree(old, ignore_errors=True)

    def _unpack(self, base: Base, target: Path) -> None:
        self._untar(f"/{SOURCES}/{base.name}.tar.xz", target, {}, "--strip-components=1")

    def _untar(
        self, archive: str, target: Path, readable: Mapping[str, Path], *options: str
    ) -> None:
        """Unpack in a sandbox: what an archive holds is its authors'."""
        log = self.directory / "unpack.log"
        status = Sandbox(self.root, UNPACK_LIMITS).run(
            ["tar", "-xf", archive, *options, "--no-same-owner"],
            log=log,
            writable={"/build/out": target},
            readable=readable,
            directory="/build/out",
            variables={},
        )
        if status:
            raise MitigaugeError(f"{archive} cannot be unpacked", hint=f"See {log}.")

    def _archives(self) -> Iterator[Path]:
        yield from (self.root / SOURCES).glob("linux-source-*.tar.xz")

    def _version(self, package: str) -> str:
        # The format's two characters are dpkg's, not Python's.
        done = subprocess.run(
            [
                "dpkg-query",
                f"--admindir={self.root}/var/lib/dpkg",
                "-W",
                "-f",
                "${Version}",
                package,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or not done.stdout:
            raise NotFound(
                f"the build root lacks {package}", hint="Remove it to have it made anew."
            )
        return done.stdout.strip()


def build_root(directory: Path, sources: tuple[str, ...], report: Report) -> BuildRoot:
    """The build root below *directory* with those source packages; made where it is not there.

    Raises NotReady where the tools are missing, MitigaugeError with the tail of their log where
    they fail.
    """
    require_bubblewrap()
    directory.mkdir(parents=True, exist_ok=True)
    found = BuildRoot(directory)
    with alone(directory / "root.lock"):
        missing = [s for s in sources if not (found.root / SOURCES / f"{s}.tar.xz").exists()]
        if missing or not found.root.exists():
            # Those that are there stay: kernels are built from them too.
            sources = tuple(dict.fromkeys((*sources, *found.bases())))
            holds = ", ".join(["Debian's compiler", *sources])
            report(f"Making a root with {holds} (some 3 min)")
            _make(found.root, sources, directory / "root.log", report)
    return found


def _make(root: Path, sources: tuple[str, ...], log: Path, report: Report) -> None:
    if shutil.which("mmdebstrap") is None:
        raise NotReady("mmdebstrap is not installed", hint="apt-get install mmdebstrap")
    arriving = root.with_name("root.new")
    shutil.rmtree(arriving, ignore_errors=True)
    mounts = " ".join(f'"$1"/build/{name}' for name in MOUNTS)
    command = [
        "mmdebstrap",
        "--variant=minbase",
        "--mode=auto",
        "--architectures=amd64",
        f"--include={','.join([*PACKAGES, *sources])}",
        *(f"--dpkgopt=path-exclude=/usr/share/{what}/*" for what in ("man", "locale")),
        *(f"--aptopt={option}" for option in inherited_apt_options()),
        f"--customize-hook=mkdir -p {mounts}",
    ]
    mirror = find_mirror()
    addresses = mirror.lines(SUITE) if mirror else []
    if os.geteuid() == 0:
        _run([*command, SUITE, str(arriving), *addresses], log, report)
    else:
        _make_as_user([*command, SUITE], addresses, arriving, log, report)
    if root.exists():
        shutil.rmtree(root)
    arriving.rename(root)


def _make_as_user(
    command: list[str], addresses: Sequence[str], arriving: Path, log: Path, report: Report
) -> None:
    """Make the root by way of an archive, unpacked as the user's own files.

    As a directory it would hold files of other users' numbers, which only its maker's namespace
    may remove. No program in it runs as root, and devices come from the sandbox.
    """
    archive = arriving.with_name(f"{arriving.name}.tar")
    try:
        _run([*command, str(archive), *addresses], log, report)
        arriving.mkdir()
        unpack = ["tar", "--extract", f"--file={archive}", f"--directory={arriving}"]
        subprocess.run([*unpack, "--exclude=./dev/*"], check=True)
    finally:
        archive.unlink(missing_ok=True)


def _run(command: list[str], log: Path, report: Report) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    environment["PATH"] = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    with (
        log.open("w") as out,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment,
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            out.write(line)
    if process.returncode:
        tail = "\n".join(log.read_text().splitlines()[-20:])
        report("")
        raise MitigaugeError(
            f"the build root cannot be made:\n{tail}",
            hint=f"See {log}; check the Debian mirror of this machine's apt.",
        )


def copy_of(tree: Path, target: Path) -> None:
    """A copy whose files are the tree's own until one is replaced, in folders to be written to."""
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(["cp", "-al", "--", str(tree), str(target)], check=True)
    if os.getuid() == 0:
        for folder, _, _ in os.walk(target):
            os.chown(folder, BUILD_USER, BUILD_USER)


def _take_over(tree: Path) -> None:
    """Files and folders are ours, and read-only for others: a build cannot change its base."""
    subprocess.run(["chmod", "-R", "u+rwX,go+rX,go-w", "--", str(tree)], check=True)
    if os.getuid() == 0:
        subprocess.run(["chown", "-R", "0:0", "--", str(tree)], check=True)


def known_bases(settings: Settings) -> Mapping[str, str]:
    """Source packages that kernels can be built from here → their versions."""
    return BuildRoot(settings.home / "kernels").bases()
