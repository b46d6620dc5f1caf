"""Options of a host's own command line that mode families know: each arm has them too. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from mitigauge.measurement.modes.families import ModeFamily
from mitigauge.measurement.modes.settings import option_of

# Documentation/admin-guide/kernel-parameters.txt (7.2): words that stand for others.
SHORT = {
    "nopti": "pti=off",
    "nospectre_v2": "spectre_v2=off",
    "nospec_store_bypass_disable": "spec_store_bypass_disable=off",
}
MITIGATIONS, AUTO = "mitigations", "auto"


def known_options(families: Iterable[ModeFamily]) -> frozenset[str]:
    """Names of the options by which modes of a family differ, where a state of the kernel shows it.

    What all modes of a family set alike is a condition of theirs, and no choice.
    """
    names: set[str] = set()
    for family in families:
        if not any(mode.expect for mode in family.modes.values()):
            continue
        sets = [set(mode.settings.options()) for mode in family.modes.values()]
        alike = sets[0].intersection(*sets)
        names |= {option_of(word) for words in sets for word in words - alike}
    return frozenset(names)


def base_options(cmdline: str, requested: Sequence[str], known: Set[str]) -> list[str]:
    """Words of the command line that set a *known* option and that the arm did not ask for."""
    own = {option_of(word) for word in requested}
    return [
        word
        for word in cmdline.split()
        if option_of(word) not in own and option_of(_whole(word)) in known - own
    ]


def kernel_chooses(requested: Sequence[str]) -> bool:
    """Whether the arm leaves what it does not set itself to the kernel: mitigations=auto…"""
    choices = [word.partition("=")[2] for word in requested if option_of(word) == MITIGATIONS]
    return any(value.split(",")[0] == AUTO for value in choices)


def contradicting(base: Iterable[str]) -> list[str]:
    """Those of the host's own options that choose in the kernel's place."""
    return [word for word in base if _whole(word).partition("=")[2] != AUTO]


def _whole(word: str) -> str:
    """The option that the word stands for."""
    return SHORT.get(word, word)
