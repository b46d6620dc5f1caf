"""Changes of all kinds in a small kernel: nothing that runs is said not to run."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mitigauge.analysis.profiles.exact.coverage import Coverage, Reach, reach_of
from mitigauge.kernels.functions import changed, notes_of
from pipelines.kernel_work import SCRIPTS

pytestmark = pytest.mark.skipif(
    not (shutil.which("gcc") and shutil.which("objdump")), reason="gcc and objdump are not there"
)
C, ASSEMBLY = (Path(__file__).with_name(name) for name in ("kernel.c", "kernel.S"))
# What the case runs, as its ledger would have it.
RUN = (
    *("enter", "helper", "other_helper", "aliased", "by_call", "big", "text", "of_shape"),
    *("of_data", "of_inline", "of_room", "pick", "may_fail", "per_cpu", "clear", "copy_in"),
)
RUNS, NONE, OPEN = "runs it", "does not run it", "cannot tell"


@dataclass(frozen=True)
class Change:
    """An edit of the sources, whether the case's result or path may differ, and what is said."""

    name: str
    old: str
    new: str
    acts: bool
    said: str


CHANGES = [
    Change("a function that runs", "n * n + 11", "n * n + 12", True, RUNS),
    Change("a function that nothing runs", "RARELY(n) + 21", "RARELY(n) + 23", False, NONE),
    Change("two that nothing runs", "never(n) + 22", "never(n) * 22", False, NONE),
    Change("a comment", "/* Data. */", "/* Numbers. */", False, NONE),
    Change("a new function that nothing calls", "word per_cpu(void);",
           "noinline word new(word n) { return n + 3; } word per_cpu(void);", False, NONE),
    Change("a new function that is called", "return n + 77;", "return other_helper(n);",
           True, RUNS),
    # Static data.
    Change("a static number", "limit = 7", "limit = 8", True, OPEN),
    Change("a static table", "{3, 5, 8, 13}", "{3, 5, 9, 13}", True, OPEN),
    Change("a table of texts", '"two"', '"six"', True, OPEN),
    Change("a table of functions", "calls[] = {{by_call}}", "calls[] = {{other_helper}}",
           True, RUNS),
    Change("data that nobody reads", "unused = 4", "unused = 5", False, OPEN),
    Change("the length of an array", "room[16]", "room[64]", False, NONE),
    Change("a larger array that is used", "room[n & 15]", "room[n & 7]", True, RUNS),
    # Inline functions, macros, headers.
    Change("an inline function that runs", "n * 5 + 2", "n * 5 + 6", True, RUNS),
    Change("an inline function of others", "n * 9 + 4", "n * 9 + 5", False, NONE),
    Change("a macro that runs", "((n) * 3 + 1)", "((n) * 3 + 4)", True, RUNS),
    Change("a macro of others", "((n) ^ 0x55)", "((n) ^ 0x5a)", False, NONE),
    Change("the layout of a structure", "word first, second, third", "word third, second, first",
           True, RUNS),
    Change("a type", "typedef unsigned long word", "typedef unsigned long long word", False, NONE),
    # Constants and texts.
    Change("a large number", "n + 1000000", "n + 1000003", True, RUNS),
    Change("a large number of seven digits in hexadecimal", "n + 1000000", "n + 0x7123456",
           True, RUNS),
    Change("a text", "a text of the case", "a text of no case", True, RUNS),
    Change("a text in UTF-8", "a text of the case", "ein schöner Text", True, RUNS),
    # Switches by tables.
    Change("two places of a switch", "case 2: return helper(n + 2) + 2;\n    case 3:",
           "case 3: return helper(n + 2) + 2;\n    case 2:", True, RUNS),
    Change("a case more", "case 5:", "case 6: return helper(3);\n    case 5:", True, RUNS),
    # Aliases.
    Change("a function by its other name", "n + 0x1234", "n + 0x1235", True, RUNS),
    Change("where another name leads", 'alias("aliased")', 'alias("other_helper")', True, RUNS),
    # What is seldom.
    Change("a cold part", "failed(n) + 3", "failed(n) + 4", False, NONE),
    Change("what only a cold part calls", "n - 9", "n - 8", False, NONE),
    Change("the way to a cold part", "n == 12345", "n == 123", True, RUNS),
    # While it starts.
    Change("what is called at the start", "limit = n + 31", "limit = n + 33", True, OPEN),
    Change("when it is called", "101_7_init_it6", "101_7_init_it1", True, OPEN),
    Change("a line further down", "101_7_init_it6", "102_9_init_it6", False, NONE),
    # Assembly, alternatives, faults, static keys, what each processor has.
    Change("a loop", "movl $5, %ecx", "movl $6, %ecx", True, RUNS),
    Change("instructions that do nothing", "1:  nop\n    nop", "1:  nop\n    nop\n    nop",
           True, RUNS),
    Change("what is written over a part", "7:  lfence", "7:  sfence", True, RUNS),
    Change("when it is written", "0x101", "0x103", True, RUNS),
    Change("what is written over another part", "8:  mfence", "8:  lfence", False, NONE),
    Change("where a fault leads to", "4b - ., 1", "5b - ., 1", True, RUNS),
    Change("how a fault is handled", "4b - ., 1", "4b - ., 3", True, RUNS),
    Change("which way a key leads at first", "key - .", "key - . + 1", True, RUNS),
    Change("where a key leads to", "clear - .", "spare - .", True, RUNS),
    Change("what a processor's own starts with", "counter = 2", "counter = 3", True, OPEN),
    Change("another of them", "%gs:counter", "%gs:others", True, RUNS),
    Change("assembly that nothing runs", "movl $3, %eax", "movl $4, %eax", False, NONE),
]  # fmt: skip


def edited(directory: Path, change: Change | None) -> list[Path]:
    """The sources with a change."""
    texts = [path.read_text() for path in (C, ASSEMBLY)]
    if change is not None:
        assert sum(text.count(change.old) for text in texts) == 1, change.name
        texts = [text.replace(change.old, change.new) for text in texts]
    directory.mkdir(exist_ok=True)
    sources = [directory / "kernel.c", directory / "kernel.S"]
    for source, text in zip(sources, texts, strict=True):
        source.write_text(text)
    return sources


def said(built: Path) -> str:
    """What is noted of an ELF file."""
    told = subprocess.run([SCRIPTS / "functions", built], capture_output=True, check=True)
    assert told.stderr == b""
    return told.stdout.decode()


def built(directory: Path, change: Change | None = None) -> str:
    """What a build of the sources notes."""
    sources = edited(directory, change)
    linked = directory / "vmlinux"
    subprocess.run(
        ["gcc", "-O2", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-mcmodel=kernel",
         "-fcf-protection=none", "-fno-asynchronous-unwind-tables", "-fno-toplevel-reorder",
         "-Wl,-Ttext=0xffffffff81000000,--entry=enter,--build-id=none", *sources, "-o", linked],
        check=True,
    )  # fmt: skip
    return said(linked)


def built_as_modules(directory: Path, change: Change | None = None) -> str:
    """The same of modules, which are not linked: their tables are yet to be told of places."""
    told = ""
    for source in edited(directory, change):
        module = source.with_suffix(source.suffix + ".o")
        subprocess.run(
            ["gcc", "-O2", "-fno-pie", "-mcmodel=kernel", "-fcf-protection=none",
             "-fno-asynchronous-unwind-tables", "-c", source, "-o", module],
            check=True,
        )  # fmt: skip
        told += said(module)
    return told


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return built(tmp_path_factory.mktemp("kernel"))


def reach(before: str, after: str) -> Reach:
    """What is said of a case that ran RUN of the kernel before."""
    differs = changed(notes_of(before), notes_of(after))
    coverage = Coverage(frozenset(RUN), "7.2.12", datetime(2026, 11, 27, tzinfo=UTC), "base")
    return reach_of(differs, coverage, differs)


def in_words(found: Reach) -> str:
    if found.functions is None:
        return OPEN
    return RUNS if found.functions else NONE


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_what_acts_on_a_case_is_never_said_not_to_run(
    base: str, change: Change, tmp_path: Path
) -> None:
    found = reach(base, built(tmp_path, change))
    assert in_words(found) == change.said
    assert found.is_worth_measuring or not change.acts


@pytest.mark.parametrize(
    "change", [change for change in CHANGES if change.acts], ids=lambda change: change.name
)
def test_it_is_the_same_in_modules(change: Change, tmp_path: Path) -> None:
    before = built_as_modules(tmp_path / "before")
    after = built_as_modules(tmp_path / "after", change)
    assert reach(before, after).is_worth_measuring


def test_the_same_sources_in_another_place_differ_in_nothing(base: str, tmp_path: Path) -> None:
    assert built(tmp_path) == base
    never = "noinline word never(word n)"
    moved = Change("", never, f"word (*filling[9])(word); {never}", False, NONE)
    differs = changed(notes_of(base), notes_of(built(tmp_path, moved)))
    assert not differs.functions


def test_most_changes_that_do_not_act_are_told_from_those_that_do() -> None:
    """To measure always would be right as well, and worth nothing."""
    idle = [change for change in CHANGES if not change.acts]
    assert sum(change.said == NONE for change in idle) >= 0.8 * len(idle)
    assert len(CHANGES) >= 40


@pytest.mark.parametrize("kind", ["fault", "alternative", "boot", "data", "targets"])
def test_each_kind_of_a_note_is_what_tells_some_changes(
    base: str, kind: str, tmp_path: Path
) -> None:
    """Without it one that acts is missed."""

    def without(text: str) -> str:
        return "".join(
            line for line in text.splitlines(keepends=True) if not line.startswith(f"{kind} ")
        )

    missed = 0
    for number, change in enumerate(CHANGES):
        if not change.acts:
            continue
        after = built(tmp_path / str(number), change)
        missed += not reach(without(base), without(after)).is_worth_measuring
        if missed:
            return
    raise AssertionError(f"nothing is told by {kind}")
