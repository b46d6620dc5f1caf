"""A root directory with Debian's compiler in it, and source trees unpacked from its packages.

What compiles a candidate kernel is thereby the same on every machine, and named by versions.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mitigauge.apt_sources import find_mirror, inherited_apt_options
from mitigauge.errors import MitigaugeError, NotFound, NotReady
from mitigauge.kernels.recipe import Base, Toolchain
from pipelines.adapters.git_tree import GitBase, git_base, is_git_base
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
# Trees of commits that are kept, 1.5 GB each, beside those that were used just now.
COMMIT_TREES = 3
IN_USE_S = 600.0
_COMMIT_TREE = re.compile(r"_[0-9a-f]{40,64}$")
UNPACK_LIMITS = Limits(seconds=1800, disk_bytes=6 << 30, output_bytes=8 << 20)

Report = Callable[[str], None]


@dataclass(frozen=True)
class BuildRoot:
    """One root directory and the trees that came with it, below *directory*.

    *repositories*: git repositories by name, whose commits are bases too.
    """

    directory: Path
    repositories: Mapping[str, Path] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """What a sandbox has for its root."""
        return self.directory / "root"

    def toolchain(self) -> Toolchain:
        """What compiles, by the versions that are installed."""
        versions = tuple(f"{name} {self._version(name)}" for name in COMPILER)
        return Toolchain(NAME, versions)

    def base(self, name: str) -> Base:
        """The source package, or commit, of that name. Raises NotFound naming those there are."""
        if is_git_base(name):
            found = git_base(name, self.repositories)
            return Base(found.tree, found.commit)
        if not (self.root / SOURCES / f"{name}.tar.xz").exists():
            known = ", ".join(_sources_in(self.root)) or "none"
            raise NotFound(f"no source tree {name!r}", hint=f"Known: {known}.")
        return Base(name, self._version(name))

    def bases(self) -> dict[str, str]:
        """Source packages that are there, with their versions; none before the first build."""
        return {name: self._version(name) for name in _sources_in(self.root)}

    def tree(self, base: Base, report: Report) -> Path:
        """The unpacked tree of *base*, which nobody may write to."""
        version = base.version.replace(":", "_").replace("~", "_")
        tree = self.directory / "trees" / f"{base.name}_{version}"
        with _alone(self.directory / "trees.lock"):
            if tree.exists():
                os.utime(tree)
                return tree
            self._make_room(tree.parent)
            report(f"Unpacking {base.name} {base.version}")
            arriving = tree.with_name(tree.name + ".new")
            shutil.rmtree(arriving, ignore_errors=True)
            arriving.mkdir(parents=True)
            self._unpack(base, arriving)
            _take_over(arriving)
            arriving.rename(tree)
        return tree

    def _make_room(self, trees: Path) -> None:
        """Remove the trees of commits that were not used for longest; builds have copies."""
        commits = [tree for tree in trees.glob("*_*") if _COMMIT_TREE.search(tree.name)]
        commits.sort(key=lambda tree: tree.stat().st_mtime)
        for tree in commits[: max(len(commits) - (COMMIT_TREES - 1), 0)]:
            if tree.stat().st_mtime < time.time() - IN_USE_S:
                shutil.rmtree(tree, ignore_errors=True)

    def _unpack(self, base: Base, target: Path) -> None:
        if base.name not in self.repositories:
            archive = f"/{SOURCES}/{base.name}.tar.xz"
            self._extract(base, ["-xJf", archive, "--strip-components=1"], target, {})
            return
        arriving = self.directory / "arriving"
        shutil.rmtree(arriving, ignore_errors=True)
        arriving.mkdir()
        try:
            GitBase(base.name, self.repositories[base.name], base.version).archive(
                arriving / "tree.tar"
            )
            (arriving / "tree.tar").chmod(0o644)
            self._extract(base, ["-xf", "/build/patches/tree.tar"], target,
                          {"/build/patches": arriving})  # fmt: skip
        finally:
            shutil.rmtree(arriving, ignore_errors=True)

    def _extract(
        self, base: Base, words: Sequence[str], target: Path, readable: Mapping[str, Path]
    ) -> None:
        """Unpack an archive into *target*, in a sandbox: whoever wrote it may have meant harm."""
        log = self.directory / "unpack.log"
        status = Sandbox(self.root, UNPACK_LIMITS).run(
            ["tar", *words, "--no-same-owner"],
            log=log,
            writable={"/build/out": target},
            readable=readable,
            directory="/build/out",
            variables={},
        )
        if status:
            raise MitigaugeError(f"{base.name} cannot be unpacked", hint=f"See {log}.")

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


def build_root(
    directory: Path,
    bases: Sequence[str],
    report: Report,
    repositories: Mapping[str, Path] | None = None,
) -> BuildRoot:
    """The build root below *directory* for those bases; made where it is not there.

    A base is a source package, which is installed in the root, or a commit of *repositories*.

    Raises NotReady where the tools are missing, MitigaugeError with the tail of their log where
    they fail.
    """
    require_bubblewrap()
    directory.mkdir(parents=True, exist_ok=True)
    found = BuildRoot(directory, repositories or {})
    for base in filter(is_git_base, bases):
        found.base(base)
    sources = tuple(base for base in bases if not is_git_base(base))
    with _alone(directory / "root.lock"):
        missing = [s for s in sources if not (found.root / SOURCES / f"{s}.tar.xz").exists()]
        if missing or not found.root.exists():
            # Those that are there stay: kernels are built from them too.
            sources = tuple(dict.fromkeys((*sources, *_sources_in(found.root))))
            what = ", ".join(("Debian's compiler", *sources))
            report(f"Making a root with {what} (some 3 min)")
            _make(found.root, sources, directory / "root.log", report)
    return found


def _sources_in(root: Path) -> Iterator[str]:
    for file in sorted((root / SOURCES).glob("linux-source-*.tar.xz")):
        yield file.name.removesuffix(".tar.xz")


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
    _run([*command, SUITE, str(arriving), *addresses], log, report)
    if root.exists():
        shutil.rmtree(root)
    arriving.rename(root)


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


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """One process at a time."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
