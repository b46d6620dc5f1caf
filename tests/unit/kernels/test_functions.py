"""Functions by their code, from what our own script says of real objects."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.kernels.functions import (
    LARGEST,
    Changed,
    Code,
    Notes,
    changed,
    notes_of,
    packed,
    renamed,
    unpacked,
)
from mitigauge.kernels.renames import chained
from mitigauge.tracking.series.range_diff import Renamed, with_code
from pipelines.kernel_work import SCRIPTS

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


def compiled(directory: Path, name: str, text: str, *flags: str) -> Path:
    """An object of a source, C or assembly by the name's end."""
    source, built = directory / name, directory / f"{name}.o"
    source.write_text(text)
    subprocess.run(["gcc", "-O2", "-fno-inline", *flags, "-c", source, "-o", built], check=True)
    return built


def said(built: Path, **variables: str) -> str:
    """What our script says of an ELF file."""
    told = subprocess.run(
        [SCRIPTS / "functions", built], capture_output=True, check=True, env=os.environ | variables
    )
    assert told.stderr == b""
    return told.stdout.decode()


def noted(built: Path) -> Notes:
    """What is noted of an ELF file."""
    return notes_of(said(built))


def listed(directory: Path, name: str, *flags: str, start: int = 0) -> dict[str, Code]:
    """The functions of a file that is compiled here."""
    text = SOURCE.format(start=start).replace("OLD", name).replace("CALLER", "caller")
    return noted(compiled(directory, f"{name}.c", text, *flags)).of_one_name


@needs_compiler
def test_a_function_with_another_name_is_known_by_its_code(tmp_path: Path) -> None:
    before = listed(tmp_path, "clear_loop")
    after = listed(tmp_path, "clear_sequence")
    assert renamed(before, after) == {"clear_loop": "clear_sequence"}
    assert before["caller"] == after["caller"]


@needs_compiler
def test_alignment_is_no_other_code(tmp_path: Path) -> None:
    before = listed(tmp_path, "one")
    after = listed(tmp_path, "other", "-falign-loops=32", "-falign-functions=64")
    assert renamed(before, after) == {"one": "other"}


@needs_compiler
def test_instructions_that_do_nothing_are_code_where_they_were_written_down(
    tmp_path: Path,
) -> None:
    def code_of(*instructions: str) -> Code:
        body = "".join(f"\t{each}\n" for each in instructions)
        return noted(compiled(tmp_path, "f.s", f"f:\n{body}")).functions["f"][0]

    plain = code_of("push %rax", "ret")
    assert code_of("push %rax", "nop", "nop", "nop", "ret").size == 5
    # What an assembler aligns by, and what lies behind the function.
    assert code_of("push %rax", "nopw 0x0(%rax,%rax,1)", "nop", "ret") == plain
    assert code_of("push %rax", "ret", "nop", "nop", "int3") == plain
    assert code_of("push %rax", "xchg %ax, %ax", "ret", "xchg %ax, %ax") == plain


@needs_compiler
def test_a_function_has_all_of_its_names(tmp_path: Path) -> None:
    text = "int one(int n) { return n * 7 + 3; }\n" \
           'extern int other(int) __attribute__((alias("one")));\n'  # fmt: skip
    functions = noted(compiled(tmp_path, "names.c", text)).functions
    assert set(functions) == {"one", "other"}
    assert functions["one"] == functions["other"]


@needs_compiler
def test_data_and_texts_differ_by_what_they_say_alone(tmp_path: Path) -> None:
    text = """
    extern int e(void), f(void);
    int limit = {limit};
    static const char *const names[] = {{"one", "two", "{text}"}};
    struct __attribute__((packed)) {{ char c; int (*call)(void); }}
        const calls[] = {{{{1, {call}}}}};
    {more}
    int g(int n) {{ return limit + names[n][0] + calls[n].call(); }}
    const char *said(void) {{ return "{said}"; }}
    """

    def of(
        limit: int = 5,
        word: str = "three",
        more: str = "",
        said: str = "something",
        call: str = "f",
    ) -> Notes:
        written = text.format(limit=limit, text=word, more=more, said=said, call=call)
        source, linked = tmp_path / "data.c", tmp_path / "data"
        source.write_text(written + "int e(void) { return 2; }\nint f(void) { return 1; }\n")
        # Where the kernel is: its addresses are known by that.
        subprocess.run(
            ["gcc", "-O2", "-nostdlib", "-static", "-fno-toplevel-reorder", "-fno-pie", "-no-pie",
             "-mcmodel=kernel", "-Wl,-Ttext=0xffffffff81000000,--entry=g,--build-id=none",
             source, "-o", linked],
            check=True,
        )  # fmt: skip
        return noted(linked)

    plain = of()
    assert {"limit", "names", "calls"} <= set(plain.objects)
    assert not {"limit", "names", "calls"} & set(plain.functions)
    assert changed(plain, of(limit=6)) == Changed(objects=frozenset({"limit"}))
    assert changed(plain, of(word="seven")) == Changed(objects=frozenset({"names"}))
    # The compiler knows what the table holds, and calls it at once.
    assert changed(plain, of(call="e")) == Changed(frozenset({"g"}), frozenset({"calls"}))
    assert changed(plain, of(said="another text")) == Changed(frozenset({"said"}))
    # Everything behind it lies elsewhere.
    more = 'const char more[4096] = {1}; const char *h(void) { return "a text before"; }'
    assert changed(plain, of(more=more)) == Changed(frozenset({"h"}), frozenset({"more"}))


TARGETS = """
    int first(int n) {{ return n * 7 + 3; }}
    int second(int n) {{ return n * 9 + 4; }}
    int limit = 5, other = 6;
    int empty, hollow;
    struct {{ int one, two; }} pair = {{1, 2}};
    {more}
    int calls(int n) {{ return {call}(n) + 1; }}
    int reads(void) {{ return {read} + 1; }}
    int looks(void) {{ return {looked_at} + 2; }}
    void *passes(int n) {{ return n ? &{passed} : 0; }}
    int (*hands_on(int n))(int) {{ return n ? {handed} : 0; }}
    int jumps(int n) {{
        int to;
        asm("test %1, %1; jz {jump}f; mov $11, %0; 1: xor %0, %0; 2: ret" : "=r"(to) : "r"(n));
        return to;
    }}
"""
TARGETS_OF_ONE = {
    "call": "first", "read": "limit", "passed": "limit", "handed": "first", "jump": "1", "more": "",
    "looked_at": "empty",
}  # fmt: skip


@needs_compiler
@pytest.mark.parametrize("is_linked", [True, False])
@pytest.mark.parametrize(
    ("change", "function"),
    [
        ({"call": "second"}, "calls"),
        ({"read": "other"}, "reads"),
        ({"read": "pair.two"}, "reads"),
        # Without contents.
        ({"looked_at": "hollow"}, "looks"),
        ({"passed": "other"}, "passes"),
        ({"handed": "second"}, "hands_on"),
        ({"jump": "2"}, "jumps"),
    ],
)
def test_what_calls_jumps_or_reads_elsewhere_differs(
    tmp_path: Path, change: dict[str, str], function: str, *, is_linked: bool
) -> None:
    def of(**changes: str) -> Notes:
        text = TARGETS.format(**TARGETS_OF_ONE | changes)
        built = compiled(tmp_path, "targets.c", text, "-fno-pie", "-mcmodel=kernel")
        if not is_linked:
            return noted(built)
        linked = tmp_path / "targets"
        place = ["-Ttext=0xffffffff81000000", "--entry=first", "--build-id=none"]
        subprocess.run(["ld", *place, built, "-o", linked], check=True)
        return noted(linked)

    plain = of()
    assert changed(plain, of(**change)) == Changed(frozenset({function}))
    # All lies elsewhere.
    more = "int none[99], more[512] = {1}; int before(int n) { return n / 3 + more[n] + none[n]; }"
    found = changed(plain, of(more=more))
    assert found == Changed(frozenset({"before"}), frozenset({"more"}))


@needs_compiler
def test_a_modules_table_differs_by_what_it_points_to(tmp_path: Path) -> None:
    text = """
    int one(void) {{ return 1; }}
    int two(void) {{ return 2; }}
    {more}
    int (*table[])(void) = {{one, {call}}};
    const char *words[] = {{"a", "{word}"}};
    """

    def of(call: str = "one", word: str = "b", more: str = "") -> Notes:
        return noted(compiled(tmp_path, "m.c", text.format(call=call, word=word, more=more)))

    assert changed(of(), of(call="two")) == Changed(objects=frozenset({"table"}))
    assert changed(of(), of(word="c")) == Changed(objects=frozenset({"words"}))
    more = 'const char *before[] = {"x"}; int zero(void) { return 7; }'
    found = changed(of(), of(more=more))
    assert found == Changed(frozenset({"zero"}), frozenset({"before"}))


ALTERNATIVE = """
    .text
    .globl f, g
f:
1:  push %rax
    nop
    nop
    nop
    nop
    nop
2:  ret
g:
    push %rbx
    ret
    .section .altinstr_replacement, "ax"
3:  {replacement}
4:
    .section .altinstructions, "a"
    .long 1b - .
    .long 3b - .
    .long {feature}
    .byte 2b - 1b, 4b - 3b
"""


@needs_compiler
def test_what_is_written_over_a_function_is_part_of_it(tmp_path: Path) -> None:
    def of(replacement: str, feature: int = 7) -> Notes:
        text = ALTERNATIVE.format(replacement=replacement, feature=feature)
        built = compiled(tmp_path, "alternative.s", text)
        linked = tmp_path / "alternative"
        subprocess.run(["ld", "-Ttext=0x81000000", "--entry=f", built, "-o", linked], check=True)
        return noted(linked)

    plain = of("call g")
    assert set(plain.alternatives) == {"f"}
    # It lies elsewhere, and so does what it calls.
    assert changed(plain, of("call g; .pushsection .text; nop; .popsection")) == Changed()
    # It goes on within itself, and the same lies elsewhere, behind another one.
    within = "jmp 5f; nop; nop; 5: ret"
    elsewhere = f".subsection -1; push %rbx; .subsection 0; {within}"
    assert changed(of(within), of(elsewhere)) == Changed()
    for other in (of("lfence"), of("call g", feature=8), of("call f")):
        assert changed(plain, other) == Changed(frozenset({"f"}))


def test_changed_functions_are_those_whose_code_differs() -> None:
    before = f"9 {'0' * 16} same\n9 {'1' * 16} other\n9 {'2' * 16} gone\n9 {'3' * 16} twice\n" \
             f"8 {'4' * 16} twice\ndata 5 {'5' * 16} table\n"  # fmt: skip
    after = f"9 {'0' * 16} same\n9 {'a' * 16} other\n9 {'2' * 16} new\n8 {'4' * 16} twice\n" \
            f"9 {'b' * 16} twice\ndata 5 {'6' * 16} table\n"  # fmt: skip
    found = changed(notes_of(before), notes_of(after))
    assert found.functions == {"other", "gone", "new", "twice"}
    assert found.objects == {"table"}
    assert changed(notes_of(before), notes_of(before)) == Changed()


@needs_compiler
def test_other_code_is_another_function(tmp_path: Path) -> None:
    before = listed(tmp_path, "one")
    after = listed(tmp_path, "other", start=5)
    assert renamed(before, after) == {}


def test_what_could_be_one_of_several_is_not_said_to_be_renamed() -> None:
    code, short = Code(20, "0" * 16), Code(3, "1" * 16)
    assert renamed({"a": code}, {"b": code, "c": code}) == {}
    assert renamed({"a": code, "b": code}, {"c": code}) == {}
    assert renamed({"a": short}, {"b": short}) == {}
    assert renamed({"a": code, "b": short}, {"a": code, "c": code}) == {}


def test_what_is_stored_is_what_was_said() -> None:
    text = f"9 {'2' * 16} other\nblocks 2 8-{'a' * 12},8.{'b' * 12} other\n"
    assert unpacked(packed(text.encode())) == text
    # Builds of before stored the text itself.
    assert unpacked(text.encode()) == text
    for damaged in (packed(text.encode())[:-3], packed(b"x" * (LARGEST + 1))):
        with pytest.raises(InvalidInput, match="a kernel's functions: "):
            unpacked(damaged)


def test_blocks_that_earlier_builds_noted_are_passed_over() -> None:
    text = f"9 {'2' * 16} one\nblocks 2 8-{'a' * 12},8.{'b' * 12} one\n"
    assert set(notes_of(text).functions) == {"one"}


def test_a_name_of_several_functions_is_left_out() -> None:
    twice = f"20 {'0' * 16} same\n20 {'1' * 16} same\n9 {'2' * 16} other\n"
    assert notes_of(twice).of_one_name == {"other": Code(9, "2" * 16)}


@pytest.mark.parametrize(
    "line",
    [
        "20 xyz name",
        "x 0123456789abcdef f",
        "1 2",
        "20 0123456789abcdef a\0b",
        "other 20 0123456789abcdef f",
        "data 0123456789abcdef f",
    ],
)
def test_anything_else_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(InvalidInput, match="line 2"):
        notes_of(f"9 {'2' * 16} other\n{line}\n")


@needs_compiler
def test_names_of_a_strangers_making_are_noted_by_their_digests(tmp_path: Path) -> None:
    text = '"\x1b[31mred":\n\tpush %rax\n\tret\n"a b":\n\tret\ngood:\n\tpush %rbx\n\tret\n'
    strange, other, good = noted(compiled(tmp_path, "names.s", text)).functions
    assert all(re.fullmatch(r"\?[0-9a-f]{16}", name) for name in (strange, other))
    assert (good, strange != other) == ("good", True)


def test_renames_follow_one_another() -> None:
    steps = [{"a": "b", "x": "y"}, {"b": "c"}, {"y": "x", "n": "m"}]
    assert chained(steps) == {"a": "c", "n": "m"}


def test_what_the_patches_say_goes_before_what_the_code_shows() -> None:
    said = [Renamed(before="a", after="b", times=3)]
    shown = {"a": "c", "d": "b", "old": "new"}
    assert with_code(said, shown) == [*said, Renamed(before="old", after="new", times=0)]


def test_sizes_are_of_code_that_stays_of_code_that_goes_and_of_data() -> None:
    notes = notes_of(
        "12 0000000000000001 stays\n30 0000000000000002 starts\n"
        "boot 30 0000000000000002 starts\ndata 8 0000000000000003 table\n"
        "data 16 0000000000000004 table\n"
    )
    assert (notes.code_size, notes.boot_size, notes.data_size) == (12, 30, 24)


@needs_compiler
def test_the_release_that_names_a_build_is_no_difference(tmp_path: Path) -> None:
    text = 'char name[] = "{0}";'
    noted = [
        notes_of(said(compiled(tmp_path, f"{release}.c", text.format(release)), RELEASE=release))
        for release in ("7.2.12-mg01", "7.2.12-mg23")
    ]
    assert changed(*noted) == Changed()
    plain = [notes_of(said(tmp_path / f"7.2.12-mg{digits}.c.o")) for digits in ("01", "23")]
    assert changed(*plain) == Changed(objects=frozenset({"name"}))
