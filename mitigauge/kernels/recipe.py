"""What a kernel is built from, and the name that this gives it. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product

from mitigauge.core.errors import InvalidInput

PREFIX = "-mg"
# Of the recipe's digest, in hexadecimal: 128 bits, so that nobody finds two recipes of one release
# (some 2^64 tries). A release has 64 characters at most (__NEW_UTS_LEN), of which 29 are left for
# what the base calls itself.
DIGITS = 32
SHORT_DIGITS = 12
_OURS = re.compile(rf".+{PREFIX}[0-9a-f]{{10,}}")
# What the base of a kernel is called that is built from a commit of a git tree.
GIT = "git"


def is_ours(release: str) -> bool:
    """Whether a release is one that builds here, or of another such service, end like."""
    return _OURS.fullmatch(release) is not None


def short_release(release: str) -> str:
    """The same with as many digits of the recipe as people write of a commit."""
    base, prefix, digits = release.rpartition(PREFIX)
    return f"{base}{prefix}{digits[:SHORT_DIGITS]}" if is_ours(release) else release


@dataclass(frozen=True, slots=True)
class Base:
    """A source tree before any patch: a name, and the version or commit that fixes its content."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What compiles: a name, and the versions of its parts."""

    name: str
    versions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where functions, loops and targets of jumps begin: multiples of so many bytes.

    The compiler's own choice is 16, 1 and 1 on x86. The order in which objects are linked is left
    alone: in the kernel it is the order of the initialisations too.
    """

    functions: int = 16
    loops: int = 1
    jumps: int = 1

    @property
    def name(self) -> str:
        """Short, for people and for files."""
        return f"f{self.functions}-l{self.loops}-j{self.jumps}"

    @property
    def flags(self) -> tuple[str, ...]:
        """For the compiler; none for its own choice."""
        own = Layout()
        wanted = {
            "functions": (self.functions, own.functions),
            "loops": (self.loops, own.loops),
            "jumps": (self.jumps, own.jumps),
        }
        return tuple(f"-falign-{what}={n}" for what, (n, usual) in wanted.items() if n != usual)


PLAIN = Layout()
# The compiler's own first, then those that move most: functions before loops before jumps.
LAYOUTS = tuple(Layout(f, lo, j) for j, lo, f in product((1, 8, 16), (1, 16, 32), (16, 32, 64)))


def layouts(count: int) -> Sequence[Layout]:
    """The first *count* layouts. Raises InvalidInput for more than there are."""
    if not 1 <= count <= len(LAYOUTS):
        raise InvalidInput(
            f"{count} layouts were asked for", hint=f"There are 1 to {len(LAYOUTS)} of them."
        )
    return LAYOUTS[:count]


def layout_named(name: str) -> Layout:
    """The layout of that name. Raises InvalidInput naming some."""
    for layout in LAYOUTS:
        if layout.name == name:
            return layout
    known = ", ".join(layout.name for layout in LAYOUTS[:4])
    raise InvalidInput(f"no layout {name!r}", hint=f"Known: {known} and more (`--layouts`).")


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that decides what a kernel's code is."""

    base: Base
    patches: tuple[str, ...]
    """SHA-256 of each patch's text, in the order in which they are applied."""
    profile: str
    profile_sha256: str
    toolchain: Toolchain
    scripts_sha256: str
    """Of the scripts by which it is configured, compiled and packaged."""
    layout: Layout = field(default=PLAIN)
    loose: bool = False
    """Whether patches may apply with fewer lines of context than they have."""

    @property
    def digest(self) -> str:
        """SHA-256 of all of it: the same recipe has the same kernel."""
        text = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def source_digest(self) -> str:
        """The same of all but the layout: recipes of one source, configuration and compiler."""
        return replace(self, layout=PLAIN).digest

    @property
    def local_version(self) -> str:
        """What the kernel's release ends with, so that each build has a release of its own."""
        return PREFIX + self.digest[:DIGITS]
