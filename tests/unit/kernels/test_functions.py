"""Functions by their code, from what our own script says of real objects."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from mitigauge.errors import InvalidInput
from mitigauge.kernels.functions import Code, changed, every_function, functions_of, renamed
from mitigauge.kernels.renames import chained
from mitigauge.series.range_diff import Renamed, with_code
from pipelines.kernel_build import SCRIPTS

needs_compiler = pytest.mark.skipif(
    not (shutil.which("gcc") and shutil.which("objdump")), reason="gcc and objdump are not there"
)
SOURCE = """
extern int g(int);
int table[64];
int OLD(int n)
{{
    int s = {start};
    for (int i = 0; i < n; i++)
        s += g(i) * table[i & 7];
    return s;
}}
int CALLER(int n) {{ if (n > 3) return OLD(n - 1) * 7 + table[n]; return g(n) + table[3] * n; }}
"""


def listed(directory: Path, name: str, *flags: str, start: int = 0) -> str:
    """What is noted of the functions of a file that is compiled here."""
    source = directory / f"{name}.c"
    source.write_text(SOURCE.format(start=start).replace("OLD", name).replace("CALLER", "caller"))
    built = directory / f"{name}.o"
    subprocess.run(["gcc", "-O2", "-fno-inline", *flags, "-c", source, "-o", built], check=True)
    said = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", "--no-addresses", built],
        capture_output=True, check=True,
    )  # fmt: skip
    told = subprocess.run(
        [SCRIPTS / "functions"], input=said.stdout, capture_output=True, check=True
    )
    return told.stdout.decode()


@needs_compiler
def test_a_function_with_another_name_is_known_by_its_code(tmp_path: Path) -> None:
    before = functions_of(listed(tmp_path, "clear_loop"))
    after = functions_of(listed(tmp_path, "clear_sequence"))
    assert renamed(before, after) == {"clear_loop": "clear_sequence"}
    assert before["caller"] == after["caller"]


@needs_compiler
def test_alignment_is_no_other_code(tmp_path: Path) -> None:
    before = functions_of(listed(tmp_path, "one"))
    after = functions_of(listed(tmp_path, "other", "-falign-loops=32", "-falign-functions=64"))
    assert renamed(before, after) == {"one": "other"}


def code_of(*instructions: str) -> Code:
    """What is noted of a function with these instructions."""
    body = "".join(f"\t{each}\n" for each in instructions)
    told = subprocess.run(
        [SCRIPTS / "functions"], input=f"<f>:\n{body}".encode(), capture_output=True, check=True
    )
    return functions_of(told.stdout.decode())["f"]


def test_instructions_that_do_nothing_are_code_where_they_were_written_down() -> None:
    plain = code_of("push %rax", "ret")
    assert code_of("push %rax", "nop", "nop", "nop", "ret").instructions == 5
    # What an assembler aligns by, and what lies behind the function.
    assert code_of("push %rax", "nopw 0x0(%rax,%rax,1)", "nop", "ret") == plain
    assert code_of("push %rax", "ret", "nop", "nop", "int3") == plain


def test_changed_functions_are_those_whose_code_differs() -> None:
    before = f"9 {'0' * 16} same\n9 {'1' * 16} other\n9 {'2' * 16} gone\n9 {'3' * 16} twice\n" \
             f"8 {'4' * 16} twice\n5 {'5' * 16} init_uts_ns\n"  # fmt: skip
    after = f"9 {'0' * 16} same\n9 {'a' * 16} other\n9 {'2' * 16} new\n8 {'4' * 16} twice\n" \
            f"9 {'b' * 16} twice\n5 {'6' * 16} init_uts_ns\n"  # fmt: skip
    found = changed(every_function(before), every_function(after))
    assert found == {"other", "gone", "new", "twice"}
    assert changed(every_function(before), every_function(before)) == set()


@needs_compiler
def test_other_code_is_another_function(tmp_path: Path) -> None:
    before = functions_of(listed(tmp_path, "one"))
    after = functions_of(listed(tmp_path, "other", start=5))
    assert renamed(before, after) == {}


def test_what_could_be_one_of_several_is_not_said_to_be_renamed() -> None:
    code, short = Code(20, "0" * 16), Code(3, "1" * 16)
    assert renamed({"a": code}, {"b": code, "c": code}) == {}
    assert renamed({"a": code, "b": code}, {"c": code}) == {}
    assert renamed({"a": short}, {"b": short}) == {}
    assert renamed({"a": code, "b": short}, {"a": code, "c": code}) == {}


def test_a_name_of_several_functions_is_left_out() -> None:
    twice = f"20 {'0' * 16} same\n20 {'1' * 16} same\n9 {'2' * 16} other\n"
    assert functions_of(twice) == {"other": Code(9, "2" * 16)}


@pytest.mark.parametrize(
    "line", ["20 xyz name", "x 0123456789abcdef f", "1 2", "20 0123456789abcdef a\0b"]
)
def test_anything_else_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(InvalidInput, match="line 2"):
        functions_of(f"9 {'2' * 16} other\n{line}\n")


def test_names_of_a_strangers_making_are_left_out() -> None:
    hostile = b"<\x1b[31mred>:\n\tpush %rax\n\tret\n\n<good>:\n\tpush %rbx\n\tret\n"
    told = subprocess.run(
        [SCRIPTS / "functions"], input=hostile, capture_output=True, check=True
    ).stdout.decode()
    assert list(functions_of(told)) == ["good"]


def test_renames_follow_one_another() -> None:
    steps = [{"a": "b", "x": "y"}, {"b": "c"}, {"y": "x", "n": "m"}]
    assert chained(steps) == {"a": "c", "n": "m"}


def test_what_the_patches_say_goes_before_what_the_code_shows() -> None:
    said = [Renamed(before="a", after="b", times=3)]
    shown = {"a": "c", "d": "b", "old": "new"}
    assert with_code(said, shown) == [*said, Renamed(before="old", after="new", times=0)]
