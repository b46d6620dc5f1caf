"""What a failed build says, found in its log."""

from __future__ import annotations

import time

import pytest

from mitigauge.kernels.build_log import (
    apply_failure,
    compile_failure,
    compiler_warnings,
    says_disk_is_full,
)

GCC = """\
  CC      arch/x86/kernel/cpu/bugs.o
../arch/x86/kernel/cpu/bugs.c: In function 'vmscape_select_mitigation':
../arch/x86/kernel/cpu/bugs.c:3401:17: error: 'VMSCAPE_X' undeclared (first use in this function)
 3401 |                 VMSCAPE_X;
make[5]: *** [../scripts/Makefile.build:287: arch/x86/kernel/cpu/bugs.o] Error 1
make[4]: *** [../scripts/Makefile.build:544: arch/x86/kernel/cpu] Error 2
"""
GAS = """\
arch/x86/entry/entry_64.S: Assembler messages:
arch/x86/entry/entry_64.S:1541: Error: no such instruction: `lfenc'
"""
LD = """\
ld: vmlinux.o: in function `x':
(.text+0x1): undefined reference to `clear_bhb_v2'
make: *** [Makefile:1] Error 1
"""
KCONFIG = "arch/x86/Kconfig:2801: syntax error\nmake[2]: *** [olddefconfig] Error 1\n"
APPLY = """\
error: patch failed: kernel/fork.c:100
error: kernel/fork.c: patch does not apply
"""
MISSING = "error: drivers/none.c: No such file or directory\n"


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (
            GCC,
            "arch/x86/kernel/cpu/bugs.c:3401: 'VMSCAPE_X' undeclared (first use in this function)",
        ),
        (GAS, "arch/x86/entry/entry_64.S:1541: no such instruction: `lfenc'"),
        (LD, "undefined reference to `clear_bhb_v2'"),
        (KCONFIG, "arch/x86/Kconfig:2801: syntax error"),
        ("make: *** No rule to make target 'x'.  Stop.\n", "No rule to make target 'x'.  Stop."),
        ("one\ntwo\n\n", "two"),
        ("", "it said nothing"),
    ],
)
def test_the_first_cause_is_named(log: str, said: str) -> None:
    assert said in str(compile_failure(log.splitlines(keepends=True)))


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (APPLY, "kernel/fork.c:100: the patch does not apply here"),
        (MISSING, "drivers/none.c: No such file or directory"),
        ("", "it said nothing"),
    ],
)
def test_why_a_patch_does_not_apply(log: str, said: str) -> None:
    assert str(apply_failure(log.splitlines(keepends=True))) == said


def test_a_line_without_end_is_cut() -> None:
    assert len(str(compile_failure(["a.c:1: error: " + "x" * 10_000]))) < 500


@pytest.mark.parametrize(
    "line",
    [
        "a" * 40_000, "a/" * 20_000, "ld:" + "a" * 40_000, "x.c:" * 10_000, "1" * 40_000,
        "undefined reference to " * 2_000, "make[1]: *** " * 3_000, "error: patch failed: " * 2_000,
        "Kconfig" * 6_000, ": error: " * 5_000,
    ],
    ids=lambda line: line[:12],
)  # fmt: skip
def test_the_time_grows_with_the_log_and_not_with_its_square(line: str) -> None:
    """40 KB of one line took 2 s, and 64 MiB would have taken years."""
    began = time.process_time()
    for _ in range(50):
        compile_failure([line])
        apply_failure([line])
    short = time.process_time() - began
    began = time.process_time()
    for _ in range(50):
        compile_failure([line * 20])
        apply_failure([line * 20])
    assert time.process_time() - began < 10 * short + 0.1


def test_the_first_error_is_found_behind_a_million_lines() -> None:
    log = (f"  CC      x{number}.o\n" for number in range(900_000))
    assert str(compile_failure([*log, "a/b.c:7:3: error: no\n"])) == "a/b.c:7: no"


def test_a_disk_that_is_full_is_told() -> None:
    assert says_disk_is_full(["a", "ld: final link failed: No space left on device"])
    assert not says_disk_is_full(["a", "b"])


def test_each_warning_is_told_once_with_its_option_whatever_its_line() -> None:
    log = [
        "  CC      kernel/sys.o",
        "../source/kernel/sys.c: In function 'times':",
        "../source/kernel/sys.c:1076:13: warning: unused variable 'room' [-Wunused-variable]",
        " 1076 |         int room;",
        "../source/kernel/sys.c:1080:13: warning: unused variable 'room' [-Wunused-variable]",
        "/build/source/kernel/pid.c:7:1: warning: unused toy [-Wtoy]",
        "../source/kernel/sys.c:12:1: error: no warning: at all",
    ]
    assert compiler_warnings(log) == {
        ("kernel/sys.c", "unused variable 'room' [-Wunused-variable]"): 1076,
        ("kernel/pid.c", "unused toy [-Wtoy]"): 7,
    }
