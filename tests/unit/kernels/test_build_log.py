"""What a failed build says, found in its log."""

from __future__ import annotations

import pytest

from mitigauge.kernels.build_log import apply_failure, compile_failure

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
mitigauge-patch 0002
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
    assert said in str(compile_failure(log))


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (APPLY, "kernel/fork.c:100: the patch does not apply here"),
        (MISSING, "drivers/none.c: No such file or directory"),
        ("", "it said nothing"),
    ],
)
def test_why_a_patch_does_not_apply(log: str, said: str) -> None:
    assert str(apply_failure(log)) == said


def test_a_line_without_end_is_cut() -> None:
    assert len(str(compile_failure("a.c:1: error: " + "x" * 10_000))) < 500
