"""Functions that a patch's text says it touches."""

from __future__ import annotations

from mitigauge.core.settings import REPOSITORY
from mitigauge.tracking.bisect.patch_functions import functions_in

SERIES = REPOSITORY / "tests" / "series"


def test_the_function_that_a_changed_line_lies_in_and_new_ones_are_named() -> None:
    """The hunk's own line names do_syscall_x32, which ends before the first changed line."""
    text = next((SERIES / "bisect").glob("v1-0006-*.patch")).read_text()
    assert functions_in(text) == ["count_syscall", "do_syscall_64"]


def test_a_line_after_a_function_s_end_lies_in_none() -> None:
    text = "@@ -1,4 +1,5 @@ int f(void)\n \treturn 0;\n }\n+int behind;\n \n int g(void)\n {\n"
    assert functions_in(text) == []


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
    text = "\n".join(f"@@ -1 +1 @@ int f{at}(void)\n+\tx();" for at in range(1000))
    assert len(functions_in(text)) == 200
