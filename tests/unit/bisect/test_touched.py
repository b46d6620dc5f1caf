"""Functions that a patch's text says it touches."""

from __future__ import annotations

from mitigauge.bisect.touched import functions_in
from mitigauge.settings import REPOSITORY

SERIES = REPOSITORY / "tests" / "series"


def test_functions_of_hunks_and_new_ones_are_named() -> None:
    text = next((SERIES / "bisect").glob("v1-0002-*.patch")).read_text()
    assert functions_in(text) == ["do_syscall_x32", "count_syscall", "do_syscall_64"] or (
        functions_in(text) == ["do_syscall_x32", "count_syscall"]
    )


def test_a_hunk_names_the_function_that_it_lies_in() -> None:
    text = (SERIES / "broken" / "does-not-boot.patch").read_text()
    assert functions_in(text) == ["kernel_init"]


def test_assembly_and_what_is_no_function() -> None:
    text = (
        "@@ -1,3 +1,4 @@ SYM_FUNC_START(clear_bhb_loop)\n+\tif (x) {\n"
        '@@ -9,3 +9,4 @@ #define THING 1\n+EXPORT_SYMBOL(thing)\n+MODULE_LICENSE("GPL")\n'
    )
    assert functions_in(text) == ["clear_bhb_loop"]


def test_there_is_a_bound() -> None:
    text = "\n".join(f"@@ -1 +1 @@ int f{at}(void)" for at in range(1000))
    assert len(functions_in(text)) == 200
