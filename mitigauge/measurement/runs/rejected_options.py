"""Options of the command line that the kernel says it did not take. Pure.

The lines are the kernel's own, of init/main.c, kernel/cpu.c and arch/x86/kernel/cpu/ (Linux 6.12
and 7.2). Which option a line is about is told where it names the option, or a value that no other
option of the command line has; else nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mitigauge.core.wire.kernel_log import UNKNOWN_PARAMETERS
from mitigauge.measurement.modes.settings import option_of

# "Ignoring unknown retbleed option (foo)."
_IN_BRACKETS = re.compile(r"\(([^()]{1,200})\)")
# "Malformed early option 'nosmt'", "compiled without mitigations, ignoring 'mitigations'"
_QUOTED = re.compile(r"'([^']{1,200})'")
# "setcpuid: unknown CPU flag: foo"
_FLAG = re.compile(r"(setcpuid|clearcpuid): unknown CPU flag: (\S{1,100})")
# "Spectre V2 : RETPOLINE selected but not compiled in."
_NOT_COMPILED = re.compile(r"(\S{1,100}) selected but not compiled in")
# "Unsupported mitigations options no_such_vector"
_VECTOR = re.compile(r"Unsupported mitigations options (\S{1,200})")
# The mitigation, or all of them, are not in this kernel.
_NOT_THERE = re.compile(r"disabled at compile time|compiled without mitigations")
# How lines of arch/x86/kernel/cpu/bugs.c begin (its pr_fmt).
_OF_BUGS = (
    "mitigations: ", "MDS: ", "TAA: ", "MMIO Stale Data: ", "Register File Data Sampling: ",
    "SRBDS: ", "L1D Flush : ", "GDS: ", "Spectre V1 : ", "RETBleed: ", "ITS: ",
    "Transient Scheduler Attacks: ", "Spectre V2 : ", "Speculative Store Bypass: ", "L1TF: ",
    "Speculative Return Stack Overflow: ", "VMSCAPE: ",
)  # fmt: skip
# What is found by a search of the command line (cmdline_find_option) in some kernel: its list of
# unknown parameters has these too, though they were taken.
SEARCHED = {
    "clearcpuid", "dis_ucode_ldr", "edd", "fred", "kaslr", "mem_encrypt", "no387", "no5lvl",
    "nofxsr", "nokaslr", "nopti", "nosmap", "nosmep", "nospec_store_bypass_disable",
    "nospectre_v2", "nousershstk", "noxsave", "noxsaveopt", "noxsaves", "pti", "setcpuid",
    "spec_store_bypass_disable", "spectre_v2", "spectre_v2_user", "split_lock_detect", "tsx",
}  # fmt: skip
_AROUND = "\"'.,;:()"


@dataclass(frozen=True, slots=True)
class Rejected:
    """A word of the command line, and the line of the kernel's log that rejects it."""

    word: str
    line: str

    def __str__(self) -> str:
        return f"the kernel did not take {self.word}: {self.line}"


def rejected_options(lines: Iterable[str], options: Sequence[str], cmdline: str) -> list[Rejected]:
    """Those of *options* (``name=value``) that a line of the kernel's log rejects, each once.

    *cmdline*: all words that the kernel was given, so that a value tells its option only where no
    other has the same.
    """
    words = cmdline.split()
    rejected: dict[str, Rejected] = {}
    for line in lines:
        for word in options:
            if word not in rejected and _rejects(line, word, words):
                rejected[word] = Rejected(word, line)
    return list(rejected.values())


def _rejects(line: str, word: str, words: Sequence[str]) -> bool:
    name, _, value = word.partition("=")
    unknown = UNKNOWN_PARAMETERS.search(line)
    if (unknown or _NOT_THERE.search(line)) and _switches_off(name, value):
        return False
    if unknown:
        return option_of(word) not in SEARCHED and word in _listed(line[unknown.end() :])
    particular = _by_particular_words(line, name, value)
    if particular is not None:
        return particular
    quoted = {option_of(each) for each in _QUOTED.findall(line)}
    if option_of(word) in quoted:
        return [option_of(other) for other in words].count(option_of(word)) == 1
    return _names(line, name, value) or _brackets(line, name, value, words)


def _by_particular_words(line: str, name: str, value: str) -> bool | None:
    """Of lines that only some options have; None for any other."""
    if flag := _FLAG.search(line):
        return name == flag[1] and flag[2] in value.split(",")
    if vector := _VECTOR.search(line):
        return name == "mitigations" and vector[1] in re.split("[,;]", value)
    if missing := _NOT_COMPILED.search(line):
        return _alike(name) in _alike(line) and missing[1].lower() == value.lower()
    return None


def _switches_off(name: str, value: str) -> bool:
    """Whether a kernel that lacks what the option is about does what was asked all the same."""
    return value == "off" or (not value and name.startswith("no"))


def _listed(words: str) -> list[str]:
    """Words of a list of unknown parameters. The log may have cut off its end, which is then no
    whole word.
    """
    if not words.startswith('"'):
        return words.split()
    whole, mark, _ = words[1:].partition('"')
    return whole.split() if mark else whole.split()[:-1]


def _names(line: str, name: str, value: str) -> bool:
    """Whether a word of the line is the option with its value or, of a list, one of its values."""
    for word in line.split():
        other, equals, rest = word.strip(_AROUND).partition("=")
        if equals and option_of(other) == option_of(name) and rest:
            return rest == value or rest in re.split("[,;]", value)
    return False


def _brackets(line: str, name: str, value: str, words: Sequence[str]) -> bool:
    if not value or value not in _IN_BRACKETS.findall(line):
        return False
    if _alike(name) in _alike(line):
        return True
    # Programs and drivers have options too, whose values may be the same words.
    values = [word.partition("=")[2] for word in words]
    return line.startswith(_OF_BUGS) and values.count(value) == 1


def _alike(text: str) -> str:
    """As `Spectre V2` and `spectre_v2` are the same."""
    return "".join(letter for letter in text.lower() if letter.isalnum())
