"""Which kernels tell what each patch of a series costs. Pure.

Patch k costs what the kernel of patches 1 … k runs more than that of 1 … k − 1. Where it costs
something, that it costs the same alone, on the base, shows that it does not depend on those before
it; where it costs something else, the kernels of two patches tell on which. So kernels are asked
for in three turns, each by what the one before counted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from mitigauge.core.errors import InvalidInput
from mitigauge.tracking.studies.schemas import Interaction, KernelSet

MOST_PATCHES = 30
# Patches that are measured alone, the first ones that cost something.
MOST_ALONE = 15
# Pairs that are measured for one patch.
MOST_PAIRS = 6
# Revisions that are set against the one that is asked, the newest ones.
MOST_VARIANTS = 8


# What is hardly a word of a comment.
_NAME = re.compile(r"[A-Za-z]\w{0,62}_\w{1,63}")


@dataclass(frozen=True, slots=True)
class Touched:
    """What a patch touches: files, and the names that its new lines alone have."""

    files: frozenset[str]
    names: frozenset[str] = frozenset()


def touched(files: Collection[str], text: str) -> Touched:
    """What a patch of these *files* and that *text* touches."""
    new: set[str] = set()
    other: set[str] = set()
    for line in text.splitlines():
        is_new = line.startswith("+") and not line.startswith("+++ ")
        # A compiler's option is written together with the name that it defines.
        (new if is_new else other).update(_NAME.findall(line.replace("-D", " ")))
    return Touched(frozenset(files), frozenset(new - other))


def first_sets(count: int) -> list[KernelSet]:
    """The base and all kernels in between, of a series of *count* patches.

    Raises InvalidInput for a series that is too long.
    """
    if not 1 <= count <= MOST_PATCHES:
        raise InvalidInput(
            f"the revision has {count} patches",
            hint=f"What each costs is told of 1 to {MOST_PATCHES}; a bisection finds one of more.",
        )
    between = [kernel_set(list(range(1, last + 1))) for last in range(1, count + 1)]
    return [KernelSet(name="base", patches=[]), *between]


def alone_sets(costly: Sequence[int], known: Sequence[KernelSet]) -> list[KernelSet]:
    """Kernels of one patch each, of those that cost something, that are not *known* yet."""
    names = {each.name for each in known}
    sets = [kernel_set([patch]) for patch in costly if patch > 1][:MOST_ALONE]
    return [each for each in sets if each.name not in names]


def variant_sets(asked: tuple[str, int], others: Sequence[tuple[str, int]]) -> list[KernelSet]:
    """The revision *asked* and the newest *others*, each with all patches of its own.

    Each is a label and how many patches it has, *others* the newest first. Raises InvalidInput
    where there are none.
    """
    if not others:
        raise InvalidInput(
            f"the series has no other revision than {asked[0]} that may run on the same base",
            hint="A diff that is sent with `#mitigauge test` makes one.",
        )
    # An arm's name has no +.
    return [
        KernelSet(name=label.replace("+", "-"), revision=label, patches=list(range(1, count + 1)))
        for label, count in [asked, *others[:MOST_VARIANTS]]
    ]


def kernel_set(patches: list[int]) -> KernelSet:
    """The set of those patches, named by them: ``p3`` is 1 to 3, ``only4`` one, ``only2-4`` two."""
    if patches == list(range(1, len(patches) + 1)):
        return KernelSet(name=f"p{len(patches)}", patches=patches)
    return KernelSet(name=f"only{'-'.join(map(str, patches))}", patches=patches)


def pair_sets(
    found: Sequence[Interaction], patches: Sequence[Touched], known: Sequence[KernelSet]
) -> list[KernelSet]:
    """Kernels of two patches that tell with which one a patch interacts, those not *known* yet.

    Patches that bring names of its own new lines come first, then those of the same files, then the
    nearest.
    """
    names = {each.name for each in known}
    sets: dict[str, KernelSet] = {}
    for patch in dict.fromkeys(each.patch for each in found):
        others = sorted(range(1, patch), key=lambda other: _distance(patch, other, patches))
        for other in others[:MOST_PAIRS]:
            new = kernel_set([other, patch])
            if new.name not in names:
                sets.setdefault(new.name, new)
    return list(sets.values())


def _distance(patch: int, other: int, patches: Sequence[Touched]) -> tuple[int, bool, int]:
    own, its = patches[patch - 1], patches[other - 1]
    return -len(own.names & its.names), own.files.isdisjoint(its.files), patch - other


def prefixes(sets: Sequence[KernelSet]) -> Iterator[KernelSet]:
    """The base and the kernels in between, in the order of the series."""
    yield from (each for each in sets if each.patches == list(range(1, len(each.patches) + 1)))


def set_of(sets: Sequence[KernelSet], patches: Sequence[int]) -> KernelSet | None:
    """The set of just those patches; None where there is none."""
    return next((each for each in sets if each.patches == list(patches)), None)


def is_open(each: KernelSet) -> bool:
    """Whether its kernel is still to be built."""
    return not each.release and not each.skipped


def booted(sets: Sequence[KernelSet]) -> list[KernelSet]:
    """Those that are booted: of kernels with the same code the first one alone."""
    found: dict[str, KernelSet] = {}
    for each in sets:
        if each.release and not each.by_code:
            found.setdefault(each.content or each.release, each)
    return list(found.values())


def stands_for(sets: Sequence[KernelSet], wanted: KernelSet) -> KernelSet:
    """The set that was booted for *wanted*: itself, or the first one with the same code."""
    key = wanted.content or wanted.release
    return next(each for each in booted(sets) if (each.content or each.release) == key)
