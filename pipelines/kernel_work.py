"""One build of a kernel: patches applied, configured, compiled and packaged in sandboxes.

The source's own makefiles are the patch author's programs. They run without network, without our
files, under a user of their own; what they leave is taken for data, and packaged by scripts of
ours in a sandbox in which nothing of theirs runs.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mitigauge.core.errors import MitigaugeError, NotReady
from mitigauge.core.hostile_text import clean_text
from mitigauge.kernels import service
from mitigauge.kernels.build_log import (
    LONGEST_LINE,
    Failure,
    apply_failure,
    compile_failure,
    compiler_warnings,
    says_disk_is_full,
)
from mitigauge.kernels.config_profile import config_refused, not_taken
from mitigauge.kernels.functions import LARGEST, packed
from mitigauge.kernels.host_config import notes_in
from mitigauge.kernels.loose_patch import CONTEXT_LINES, bases, misplaced, moved
from mitigauge.kernels.patch import Patch
from mitigauge.kernels.recipe import Recipe
from mitigauge.storage.files.blobs import BlobStore
from pipelines.adapters import kept_objects
from pipelines.adapters.build_root import BuildRoot, copy_of
from pipelines.adapters.compiler_cache import SHARED, UNPATCHED, cache_begun, cache_in
from pipelines.adapters.git_tree import GitTree
from pipelines.adapters.sandbox import (
    SHORT_OF_DISK,
    DiskShort,
    LimitReached,
    Limits,
    Sandbox,
    remove,
)
from pipelines.built_files import content_digest, regular, word_in
from pipelines.kernel_order import BuildFailed, Order, beginnings

SCRIPTS = Path(__file__).parent / "kernel_scripts"
BUILD_LIMITS = Limits(seconds=4 * 3600.0)
# Of one patch.
MOST_WARNINGS = 20
SHORT_LIMITS = Limits(seconds=900.0, disk_bytes=16 << 30)
CCACHE_SIZE = "5G"
# The same each time, so that the same recipe gives the same bytes.
COMPILING = {
    "KBUILD_BUILD_USER": "mitigauge",
    "KBUILD_BUILD_HOST": "build",
    "KBUILD_BUILD_VERSION": "1",
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "CCACHE_DIR": "/build/ccache",
    "CCACHE_MAXSIZE": CCACHE_SIZE,
    "CCACHE_BASEDIR": "/build",
}
PACKAGE_LIMIT = 1 << 30
CONTENT_LIMIT = 16 << 20
CONFIG_LIMIT = 1 << 20
# Of the options that a configuration did not take, in a message.
SHOWN_OPTIONS = 10
# Files of one patch whose bases are looked up for a three-way merge.
MOST_BASES = 500
_RELEASE = re.compile(r"[0-9][0-9A-Za-z.~_+-]{1,62}")
_HEX = re.compile(r"[0-9a-f]{8,64}")
# No name with a blank, or that begins like an option, is given to make.
_SOURCE = re.compile(r"(?!-)[\w./+-]{1,200}\.c")
_STEP = re.compile(r"^\s+(CC|LD|AS|AR|VDSO|OBJCOPY)\s+(?:\[M\]\s+)?(\S+)")

MAKE_ROOM = "Make room; what was asked for is tried again."

Report = Callable[[str], None]


def _shortened(options: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    others = len(options) - SHOWN_OPTIONS
    return ", ".join(options[:SHOWN_OPTIONS]) + (f" and {others} more" if others > 0 else "")


@dataclass(frozen=True, slots=True)
class LooseApplication:
    """A patch that applies in another *way* than as it is: *where*, and the *diff* that does it."""

    way: str
    where: str
    diff: bytes


@dataclass(frozen=True, slots=True)
class LogLines:
    """The lines of a log from some place on, read anew each time they are gone through."""

    log: Path
    begins: int

    def __iter__(self) -> Iterator[str]:
        with self.log.open(errors="replace") as log:
            log.seek(self.begins)
            while line := log.readline(LONGEST_LINE):
                yield line


@dataclass(frozen=True)
class Work:
    """One build's directory."""

    directory: Path
    root: BuildRoot
    kernels: Path
    """Where caches and kept objects are."""
    blobs: BlobStore
    report: Report
    detail: Report
    why_to_stop: Callable[[], str]

    @property
    def log(self) -> Path:
        return self.directory / "build.log"

    @property
    def caches(self) -> Path:
        return self.kernels / "ccache"

    @property
    def objects(self) -> Path:
        return self.kernels / "objects"

    def build(
        self, tree: Path, recipe: Recipe, order: Order, *, from_nothing: bool
    ) -> service.Built:
        """All of it; raises :class:`BuildFailed`.

        *from_nothing*: no object that another build left is used.
        """
        self.clear()
        self.directory.mkdir(parents=True)
        self._lay_out(order)
        self.report("Applying the patches" if order.patches else "Copying the tree")
        copy_of(tree, self.directory / "source")
        loosely = self._apply(order)
        if from_nothing or not self._begin_with_objects(recipe, order):
            self.report("Configuring")
            self._configure(order)
        self.report("Compiling")
        self._compile(recipe, order)
        self.report("Packaging")
        built = self._package(recipe, order, loosely)
        self._keep_objects(recipe, order)
        return built

    def _begin_with_objects(self, recipe: Recipe, order: Order) -> bool:
        """Begin with what a build of its first few patches left, the most of them; whether it does.

        It is configured then: none of the patches in between changes an option.
        """
        names = [each.digest[:16] for each in beginnings(recipe, order)]
        out = self.directory / "out"
        begun = kept_objects.begin(self.objects, names, out)
        if begun is None:
            return False
        status, _ = self._run("restore", ["source"], SHORT_LIMITS)
        if status:
            remove(out)
            out.mkdir()
            return False
        more = names.index(begun) + 1
        self.report(f"Of what was built before, {more} of the patches change something")
        return True

    def _keep_objects(self, recipe: Recipe, order: Order) -> None:
        """Keep what was compiled for builds that add patches; the kernel is whole without."""
        with suppress(NotReady, BuildFailed, OSError):
            status, _ = self._run("keep", ["out"], SHORT_LIMITS)
            if status == 0:
                kept_objects.keep(
                    self.objects, recipe.digest[:16], self.directory / "out",
                    patched=bool(order.patches),
                )  # fmt: skip

    def new_warnings(self, tree: Path, order: Order) -> Iterator[list[str] | None]:
        """Of each patch that applies; raises :class:`BuildFailed`."""
        self.clear()
        self.directory.mkdir(parents=True)
        self._lay_out(order)
        copy_of(tree, self.directory / "source")
        self._configure(order)
        for number, patch in enumerate(order.patches, 1):
            sources = [file for file in patch.files if _SOURCE.fullmatch(file)]
            before = self._warnings(self._that_exist(sources), order)
            status, _ = self._run("apply", ["source"], SHORT_LIMITS, {"PATCH": f"{number:04}"})
            if status:
                return
            after = self._warnings(self._that_exist(sources), order)
            if before is None or after is None:
                yield None
                continue
            yield [
                clean_text(f"{file}:{line}: {words}")
                for (file, words), line in after.items()
                if (file, words) not in before
            ][:MOST_WARNINGS]

    def _that_exist(self, sources: Iterable[str]) -> list[str]:
        """Without those that a patch is yet to add, or took away."""
        return [each for each in sources if (self.directory / "source" / each).is_file()]

    def _warnings(self, sources: Sequence[str], order: Order) -> dict[tuple[str, str], int] | None:
        """What the compiler says of those files as they are; None where one does not compile."""
        if not sources:
            return {}
        objects = [f"{each[:-2]}.o" for each in sources]
        more = {"OBJECTS": " ".join(objects), "JOBS": str(order.jobs)}
        status, said = self._run("warnings", ["out"], SHORT_LIMITS, more)
        return None if status else compiler_warnings(said)

    def _lay_out(self, order: Order) -> None:
        patches = self.directory / "patches"
        patches.mkdir()
        for number, patch in enumerate(order.patches, 1):
            (patches / f"{number:04}.patch").write_text(patch.text)
        (patches / "profile.config").write_text(order.profile.text)
        for each in ("out", "package"):
            (self.directory / each).mkdir()

    def _apply(self, order: Order) -> list[str]:
        """Apply the patches one by one; those that applied with less context, and where.

        Which one fails is known from the loop, and read from no output: a patch names files.
        """
        loosely = []
        for number, patch in enumerate(order.patches, 1):
            variables = {"PATCH": f"{number:04}"}
            status, said = self._run("apply", ["source"], SHORT_LIMITS, variables)
            if status:
                what = f"patch {number}/{len(order.patches)} {patch.title!r}"
                loose = self._loosely(order, patch, variables)
                if loose is None:
                    raise _failed(what, apply_failure(said))
                if not order.loose:
                    raise BuildFailed(
                        clean_text(
                            f"{what}: {apply_failure(said)}; with {loose.way} it does: "
                            f"{loose.where}"
                        ),
                        hint="Look whether that is what it means; --loose allows it, and every "
                        "answer says so.",
                    )
                # What was looked at is what is applied.
                variables = {"PATCH": f"{number:04}.loose"}
                (self.directory / "patches" / f"{number:04}.loose.patch").write_bytes(loose.diff)
                status, said = self._run("apply", ["source"], SHORT_LIMITS, variables)
                if status:
                    raise _failed(what, apply_failure(said))
                loosely.append(clean_text(f"{what}, {loose.way}: {loose.where}"))
        return loosely

    def _loosely(
        self, order: Order, patch: Patch, variables: Mapping[str, str]
    ) -> LooseApplication | None:
        """How the patch applies with less context, or by a merge; None where it does not."""
        less = {**variables, "CONTEXT": str(CONTEXT_LINES)}
        found = self._loosely_by(patch, less, f"{CONTEXT_LINES} lines of context")
        if found or order.tree is None or not self._lay_out_bases(order.tree, patch):
            return found
        return self._loosely_by(patch, {**variables, "CONTEXT": ""}, "a three-way merge")

    def _loosely_by(
        self, patch: Patch, variables: Mapping[str, str], way: str
    ) -> LooseApplication | None:
        status, _ = self._run("apply-loosely", ["package"], SHORT_LIMITS, variables)
        if status:
            return None
        diff = regular(self.directory / "package" / "loose.diff", CONTENT_LIMIT)
        shown = diff.decode(errors="replace")
        if misplaced(patch.text, shown):
            return None
        return LooseApplication(way, moved(patch.text, shown), diff)

    def _lay_out_bases(self, tree: GitTree, patch: Patch) -> bool:
        """Lay out the files that the patch was made from; whether the tree has all of them."""
        ids = bases(patch.text)
        place = self.directory / "patches" / "bases"
        remove(place)
        place.mkdir()
        if len(ids) > MOST_BASES:
            return False
        for number, name in enumerate(ids):
            content = tree.blob(name, CONTENT_LIMIT)
            if content is None:
                return False
            (place / f"{number}").write_bytes(content)
        return bool(ids)

    def _configure(self, order: Order) -> None:
        if notes := notes_in(order.profile.text):
            self.report(f"The hosts' configurations differ, not taken: {_shortened(notes)}")
        more = {"CONFIG_WHOLE": "yes" if order.profile.whole else "no"}
        status, said = self._run("configure", ["out"], SHORT_LIMITS, more)
        if status:
            raise _failed("the configuration", compile_failure(said))
        asked = "asked.config" if order.profile.whole else ".config"
        config = regular(self.directory / "out" / asked, CONFIG_LIMIT).decode(errors="replace")
        missed = not_taken(order.profile, config)
        if missed:
            raise BuildFailed(
                clean_text(
                    f"the configuration did not take {_shortened(missed)}: "
                    "this version has no such option, or another one hides it"
                ),
                hint="Take them out of the profile, or name them in a line of it: "
                "`# optional: CONFIG_A CONFIG_B`, or `# optional: *`.",
            )

    def _compile(self, recipe: Recipe, order: Order) -> None:
        more = {
            "JOBS": str(order.jobs),
            "LOCAL_VERSION": recipe.local_version,
            "LAYOUT_FLAGS": " ".join(order.layout.flags),
            **COMPILING,
            # What unpatched trees gave is shared by all, and written to by none with patches.
            "CCACHE_REMOTE_STORAGE": "file:/build/shared-ccache"
            + ("" if order.scope == UNPATCHED else "|read-only=true"),
        }
        caches = {"ccache": cache_begun(self.caches, order.scope, order.beginnings)}
        if order.scope == UNPATCHED:
            caches["shared-ccache"] = cache_in(self.caches, SHARED)
        status, said = self._run("compile", ["out"], BUILD_LIMITS, more, caches)
        if status:
            raise _failed("the build", compile_failure(said))

    def _package(self, recipe: Recipe, order: Order, loosely: Sequence[str]) -> service.Built:
        release = word_in(self.directory, "out/include/config/kernel.release", _RELEASE)
        if not release.endswith(recipe.local_version):
            raise BuildFailed(
                f"the kernel calls itself {release}, not …{recipe.local_version}",
                hint="A patch must leave CONFIG_LOCALVERSION as it is.",
            )
        status, said = self._run("package", ["package"], SHORT_LIMITS, {"RELEASE": release})
        if status:
            # Scripts of ours, over files that are there: no patch is to blame.
            raise MitigaugeError(f"the package: {clean_text(str(compile_failure(said)))}")
        package = regular(self.directory / "package" / "kernel.deb", PACKAGE_LIMIT)
        content = regular(self.directory / "package" / "content", CONTENT_LIMIT)
        config = regular(self.directory / "out" / ".config", CONFIG_LIMIT).decode(errors="replace")
        return service.Built(
            release=release,
            build_id=word_in(self.directory, "package/build-id", _HEX),
            content_digest=content_digest(content),
            package_sha256=self.blobs.put(package),
            package_bytes=len(package),
            functions_sha256=self.blobs.put(
                packed(regular(self.directory / "package" / "functions", LARGEST))
            ),
            loosely=loosely,
            config_refused=config_refused(order.profile, config),
        )

    def _run(
        self,
        script: str,
        writable: Sequence[str],
        limits: Limits,
        variables: Mapping[str, str] | None = None,
        caches: Mapping[str, Path] | None = None,
    ) -> tuple[int, LogLines]:
        """Run one of our scripts in a sandbox; its exit status, and where what it said stands.

        Raises :class:`BuildFailed` where it goes over a limit, NotReady where the disk is full.
        """
        shared = cache_in(self.caches, SHARED)
        shared.mkdir(parents=True, exist_ok=True)
        folders = {
            f"/build/{n}": self.directory / n for n in ("source", "out", "patches", "package")
        }
        open_to = {path: where for path, where in folders.items() if path[7:] in writable}
        open_to |= {f"/build/{name}": where for name, where in (caches or {}).items()}
        folders |= {"/build/scripts": SCRIPTS, "/build/shared-ccache": shared}
        others = {path: where for path, where in folders.items() if path not in open_to}
        begins = self.log.stat().st_size if self.log.exists() else 0
        try:
            status = Sandbox(self.root.root, limits).run(
                ["/bin/bash", f"/build/scripts/{script}"],
                log=self.log,
                writable=open_to,
                readable=others,
                directory="/build/out",
                variables=variables or {},
                on_line=self._note_step,
                why_to_stop=self.why_to_stop,
            )
        except DiskShort as short:
            raise NotReady(f"{script}: {short.message}", hint=MAKE_ROOM) from short
        except LimitReached as reached:
            raise BuildFailed(f"{script}: {reached.message}", hint="See its log.") from reached
        said = LogLines(self.log, begins)
        if status and says_disk_is_full(said) and self._disk_is_short():
            raise NotReady(f"{script}: the disk of this machine is full", hint=MAKE_ROOM)
        return status, said

    def _disk_is_short(self) -> bool:
        """Whether there is little room: that a build says so alone proves nothing."""
        return shutil.disk_usage(self.directory).free < SHORT_OF_DISK

    def _note_step(self, line: str) -> None:
        step = _STEP.match(line)
        if step:
            self.detail(clean_text(step[2]))

    def stored_log(self) -> str:
        """The log's digest in the blob store."""
        return self.blobs.put(self.log.read_bytes() if self.log.exists() else b"")

    def log_and_clear(self) -> str | None:
        """The log's digest, and all else removed; None where the log cannot be kept."""
        try:
            for each in ("source", "out", "package"):
                remove(self.directory / each)
            return self.stored_log()
        except OSError:
            return None
        finally:
            self.clear()

    def clear(self) -> None:
        """Remove all of it."""
        remove(self.directory)


def _failed(what: str, why: Failure) -> BuildFailed:
    return BuildFailed(
        clean_text(f"{what}: {why}"), hint="`mitigauge kernel show NAME --log` has all of it."
    )
