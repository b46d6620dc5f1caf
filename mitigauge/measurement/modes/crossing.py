"""Modes of several families in force at once: written ``family/mode+family/mode``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from mitigauge.core.stats.bounds import Uncounted
from mitigauge.measurement.modes.families import (
    Expectation,
    Mode,
    ModeFamily,
    by_place,
    described,
)
from mitigauge.measurement.modes.settings import Settings, merged

BOTH = "+"
SET_CPU_FLAGS = "setcpuid"


@dataclass(frozen=True, slots=True)
class CrossedMode:
    """What an arm's mode name stands for; each text names its families in order."""

    family: str
    mode: str
    title: str
    family_title: str
    settings: Settings
    lab_cmdline: tuple[str, ...]
    expect: tuple[Expectation, ...]
    at_runtime: bool = False
    """Whether all of it may be written to a running kernel."""
    events: tuple[str, ...] = ()
    """What of the hardware it works by."""


def parts(name: str) -> list[tuple[str, str]]:
    """(family, mode) of each part of a mode's name."""
    found = [part.partition("/") for part in name.split(BOTH)]
    return [(family, mode) for family, _, mode in found]


def full_name(family: str, mode: str) -> str:
    """The name of what :class:`CrossedMode` calls *family* and *mode*."""
    pairs = zip(family.split(BOTH), mode.split(BOTH), strict=True)
    return BOTH.join(f"{family}/{mode}" for family, mode in pairs)


def wanted_by(name: str, families: Mapping[str, ModeFamily]) -> CrossedMode:
    """What *name* stands for; its families and modes are known.

    Raises ValueError where two of its parts set the same thing, where the kernel says of no
    state what proves both, or where a part is known by nothing but what the other parts make too.
    """
    found = [(families[family], mode) for family, mode in parts(name)]
    modes: Sequence[Mode] = [family.modes[mode] for family, mode in found]
    names = [family.family for family, _ in found]
    if len(set(names)) != len(names):
        raise ValueError(f"{name} names a family twice, which can be in one mode only")
    settings = merged([mode.settings for mode in modes])
    expect = _expected(name, modes)
    _require_each_proven(name, dict(zip(name.split(BOTH), modes, strict=True)), expect)
    return CrossedMode(
        family=BOTH.join(names),
        mode=BOTH.join(mode for _, mode in found),
        title=", ".join(mode.title or name for mode, (_, name) in zip(modes, found, strict=True)),
        family_title=" × ".join(family.title for family, _ in found),
        settings=settings,
        lab_cmdline=_lab_words([family for family, _ in found], settings),
        expect=expect,
        at_runtime=all(mode.applies == "at-runtime" for mode in modes),
        events=tuple(dict.fromkeys(event for mode in modes for event in mode.events)),
    )


def _expected(name: str, modes: Sequence[Mode]) -> tuple[Expectation, ...]:
    """What proves all of *modes*: at each place, the states that every mode which looks there has.

    States of one place are alternatives, so that another mode's would prove a mode that it is not.
    """
    found: dict[tuple[str, str], list[Expectation]] = {}
    for mode in modes:
        for place, states in by_place(mode.expect).items():
            found[place] = _in_both(name, found.get(place, states), states)
    return tuple(expectation for states in found.values() for expectation in states)


def _in_both(
    name: str, one: Sequence[Expectation], other: Sequence[Expectation]
) -> list[Expectation]:
    texts = {expectation.equals for expectation in other}
    both = [expectation for expectation in one if expectation.equals in texts]
    if not both:
        first, second = (" or ".join(e.describe() for e in states) for states in (one, other))
        raise ValueError(
            f"{name} cannot be proven: one part needs {first}, another {second}; cross modes of "
            "which the kernel says different things"
        )
    return both


def _require_each_proven(
    name: str, modes: Mapping[str, Mode], expect: Sequence[Expectation]
) -> None:
    """Refuse a crossing of which a part is known by nothing but what other parts make too.

    A kernel that ignores that part's own option would show the same. Raises ValueError.
    """
    required = by_place(expect)
    for part, mode in modes.items():
        others = {other: modes[other] for other in modes if other != part}
        implied = any(part in other.implies for other in others.values())
        if not others or implied or mode.settings.guest():
            continue
        states = [
            *((*place, {e.equals for e in required[place]}) for place in by_place(mode.expect)),
            *((of.path, "", {of.equals}) for of in mode.settings.readings()),
        ]
        makers = [_makers(others, *state) for state in states]
        if not all(makers):
            continue
        own = [each for place in by_place(mode.expect) for each in required[place]]
        shown = " and ".join([*described(own), *mode.settings.describe()])
        made_by = " or ".join(dict.fromkeys(maker for each in makers for maker in each))
        raise ValueError(
            f"{name} cannot be proven: {part} is known by {shown} alone, which {made_by} makes "
            "too, so that nothing tells whether each of them works; leave one of them out"
        )


def _makers(others: Mapping[str, Mode], file: str, field: str, states: set[str]) -> list[str]:
    """Those of *others* whose settings may make one of these states at that place."""
    return [
        name
        for name, mode in others.items()
        if any(e.place == (file, field) and e.equals in states for e in mode.expect)
        or any(
            (made.file, made.field) == (file, field)
            and made.equals in states
            and (not made.with_mode or made.with_mode in others)
            for made in mode.side_effects
        )
    ]


def _lab_words(families: Sequence[ModeFamily], settings: Settings) -> tuple[str, ...]:
    """What emulated hosts need for all of *families*.

    An option that one of the modes sets is the mode's. The bits of setcpuid= are joined: the
    kernel reads the last one alone.
    """
    if len(families) == 1:
        return families[0].emulated.cmdline
    taken = {word.partition("=")[0] for word in settings.options()}
    flags: dict[str, None] = {}
    others: dict[str, None] = {}
    for word in (word for family in families for word in family.emulated.cmdline):
        name, _, value = word.partition("=")
        if name == SET_CPU_FLAGS:
            flags.update(dict.fromkeys(value.split(",")))
        elif name not in taken:
            others[word] = None
    joined = [f"{SET_CPU_FLAGS}={','.join(flags)}"] if flags else []
    return (*joined, *others)


def outdoes(one: str, other: str, families: Mapping[str, ModeFamily]) -> bool:
    """Whether mode *one* does all that *other* does, and more: what may cost, but not win.

    Modes of several families: none of the parts does less. False for modes of other families.
    """
    above, below = dict(parts(one)), dict(parts(other))
    if above.keys() != below.keys() or above == below:
        return False
    return all(
        mode == below[family] or families[family].outdoes(mode, below[family])
        for family, mode in above.items()
    )


def uncounted(one: str, other: str, families: Mapping[str, ModeFamily]) -> Uncounted:
    """What mode *one* has of the hardware's events beside mode *other*, the baseline.

    Modes that work by the same events may do so more or less often: the one that outdoes the
    other has more of them.
    """
    own, base = (set(wanted_by(name, families).events) for name in (one, other))
    more = bool(own - base) or bool(own and outdoes(one, other, families))
    fewer = bool(base - own) or bool(base and outdoes(other, one, families))
    if more and fewer:
        return Uncounted.OTHER
    return Uncounted.MORE if more else Uncounted.FEWER if fewer else Uncounted.NONE


def crossed(families: Sequence[ModeFamily]) -> Iterator[tuple[str, str]]:
    """(name of the arm, name of its mode) of every combination of the families' modes.

    An arm's name has no ``+``: it is a name of files and of columns too.
    """
    for modes in product(*(family.modes for family in families)):
        pairs = zip(families, modes, strict=True)
        yield ".".join(modes), BOTH.join(f"{family.family}/{mode}" for family, mode in pairs)
