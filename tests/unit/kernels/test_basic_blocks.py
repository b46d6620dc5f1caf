"""Blocks of functions, from what our own script says of real objects: which of them differ."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.kernels.basic_blocks import Block, Range, blocks_of, differing
from mitigauge.kernels.functions import (
    Changed,
    Notes,
    changed,
    notes_of,
    parts,
    with_blocks,
)
from tests.unit.kernels.test_functions import compiled, needs_compiler, said

# A branch that is taken, one that is not as a rule, and their end.
LINES = """
f:
    push %rbx
    test %edi, %edi
    {condition} 2f
    mov ${usual}, %eax
    {usually}
1:  pop %rbx
    ret
2:  mov ${seldom}, %eax
    {seldomly}
    jmp 1b
{behind}
"""
PLAIN = {
    "condition": "jne",
    "usual": "1",
    "usually": "",
    "seldom": "2",
    "seldomly": "",
    "behind": "",
}


def noted(built: Path) -> Notes:
    """What is noted of an ELF file that has no function but `f` and `write`."""
    return whole(said(built))


def whole(text: str) -> Notes:
    return with_blocks(notes_of(text), text, {"f", "write"})


def function(directory: Path, **other: str) -> str:
    """What is noted of the function."""
    built = compiled(directory, "f.s", LINES.format(**PLAIN | other))
    return noted(built).blocks["f"][0]


def differs(directory: Path, **other: str) -> list[Range] | None:
    """What of the plain function differs."""
    return differing(function(directory), function(directory, **other))


# The last one reaches as far as its last instruction may.
ENTRY, USUAL, END, SELDOM = Range(0, 5), Range(5, 10), Range(10, 12), Range(12, 32)


@needs_compiler
def test_blocks_have_their_bytes_and_what_they_lead_to(tmp_path: Path) -> None:
    blocks = blocks_of(function(tmp_path))
    assert [block.place for block in blocks] == [ENTRY, USUAL, END, SELDOM]
    assert [block.follows for block in blocks] == [True, True, False, False]
    assert [block.targets for block in blocks] == [(3,), (), (), (2,)]


@needs_compiler
@pytest.mark.parametrize(
    ("change", "ranges"),
    [
        ({}, []),
        ({"usual": "3"}, [USUAL]),
        ({"seldom": "3"}, [SELDOM]),
        ({"seldomly": "call other"}, [SELDOM]),
        # It lies elsewhere, and so do all jumps beyond it.
        ({"usually": "call other"}, [USUAL]),
        # Blocks more, on the way and at the end of another.
        ({"usually": "test %eax, %eax; jne 2f"}, [USUAL]),
        ({"seldomly": "test %eax, %eax; jne 1b; inc %eax"}, [SELDOM]),
    ],
)
def test_what_differs_is_told_by_its_bytes(
    change: dict[str, str], ranges: list[Range], tmp_path: Path
) -> None:
    assert differs(tmp_path, **change) == ranges


@needs_compiler
def test_who_jumps_elsewhere_differs_though_the_code_is_the_same(tmp_path: Path) -> None:
    behind = "3:  nop; nop; mov $9, %ecx; jmp 1b"
    other = LINES.format(**PLAIN | {"behind": behind})
    led = other.replace("jne 2f", "jne 3f")
    before, after = (noted(compiled(tmp_path, "f.s", text)).blocks["f"][0] for text in (other, led))
    assert differing(before, after) == [ENTRY]


@needs_compiler
def test_new_code_that_nothing_seems_to_lead_to_makes_all_of_it_differ(tmp_path: Path) -> None:
    assert differs(tmp_path, behind="mov $9, %ecx; jmp 1b") is None


@needs_compiler
def test_another_beginning_makes_all_of_it_differ(tmp_path: Path) -> None:
    assert differs(tmp_path, condition="je") is None


@needs_compiler
def test_code_before_all_others_makes_all_of_it_differ(tmp_path: Path) -> None:
    text = LINES.format(**PLAIN).replace("f:", "f: mov %rsi, %rsi\n3: dec %esi; jne 3b")
    new = noted(compiled(tmp_path, "f.s", text)).blocks["f"][0]
    assert differing(function(tmp_path), new) is None


@needs_compiler
def test_a_function_that_jumps_by_a_table_has_no_blocks(tmp_path: Path) -> None:
    text = "f: cmp $3, %edi; ja 1f; jmp *table(,%rdi,8)\n1: ret\n"
    assert "f" not in noted(compiled(tmp_path, "f.s", text)).blocks
    # A call by a pointer comes back.
    text = "f: cmp $3, %edi; ja 1f; call *table(,%rdi,8)\n1: ret\n"
    assert "f" in noted(compiled(tmp_path, "f.s", text)).blocks


KEY = """
struct key {{ long value; void *entries; }};
struct key outer, other;
#pragma weak __start___jump_table
#pragma weak __stop___jump_table
extern char __start___jump_table[], __stop___jump_table[];
char *table[] = {{ __start___jump_table, __stop___jump_table }};
int g(int n) {{ return n * 7; }}
static inline int on(struct key *const key)
{{
    asm goto("1: .byte 0x0f,0x1f,0x44,0,0\\n\\t.pushsection __jump_table,\\"aw\\"\\n\\t"
             ".balign 8\\n\\t.long 1b - ., %l[yes] - .\\n\\t.quad %c0 + {flags} - .\\n\\t"
             ".popsection" :: "i"(key) :: yes);
    return 0;
yes:
    return 1;
}}
int f(int n) {{ if (__builtin_expect({test}, 0)) return g(n) * 3; return n + g(1); }}
"""


def keyed(directory: Path, *, is_linked: bool, test: str = "on(&outer)", flags: int = 0) -> Notes:
    """A function with a branch that a static key changes, of a kernel or of a module."""
    text = KEY.format(test=test, flags=flags)
    built = compiled(directory, "f.c", text, "-finline", "-fno-pic", "-mcmodel=kernel")
    if not is_linked:
        return noted(built)
    linked = directory / "linked"
    place = ["-Ttext=0xffffffff81000000", "--entry=f", "--build-id=none"]
    subprocess.run(["ld", *place, built, "-o", linked], check=True)
    return noted(linked)


@needs_compiler
@pytest.mark.parametrize("is_linked", [True, False])
def test_where_a_static_key_leads_is_known(tmp_path: Path, *, is_linked: bool) -> None:
    before = keyed(tmp_path, is_linked=is_linked)
    [entry, *_] = blocks_of(before.blocks["f"][0])
    assert entry.follows
    assert len(entry.targets) == 1
    for change in ({"flags": 2}, {"test": "on(&other)"}):
        after = keyed(tmp_path, is_linked=is_linked, **change)
        assert after.functions["f"] == before.functions["f"]
        assert changed(before, after) == Changed(frozenset({"f"}))
    # Without it there is one block.
    assert "f" not in keyed(tmp_path, is_linked=is_linked, test="0").blocks


def test_a_function_of_a_thousand_blocks_that_are_alike_is_compared_at_once() -> None:
    alike = ",".join(["8-" + "a" * 12] * 5000)
    assert differing(alike, f"8-{'b' * 12},{alike},8-{'c' * 12}") is None
    both = f"8-{'b' * 12},{alike},8.{'c' * 12}"
    other = f"8-{'b' * 12},{','.join(['8-' + 'd' * 12] * 5000)},8.{'c' * 12}"
    found = differing(both, other)
    assert found is not None
    assert len(found) == 5000


@pytest.mark.parametrize("noted", ["", "8", "8-abc", "8+aaaaaaaaaaaa", "8-aaaaaaaaaaaa>", "x"])
def test_anything_else_is_no_block(noted: str) -> None:
    with pytest.raises(InvalidInput, match="no block"):
        blocks_of(noted)


def test_a_block_names_blocks_that_there_are_not_without_harm() -> None:
    wild = f"8-{'a' * 12}>77,4.{'b' * 12}"
    assert blocks_of(wild)[0] == Block(Range(0, 8), True, "a" * 12, (77,))
    assert differing(wild, wild) == []


def of(*lines: str) -> Notes:
    return whole("".join(f"{line}\n" for line in lines))


A, B, C = "a" * 12, "b" * 12, "c" * 12
WRITE = f"4 {'0' * 16} write"


def test_parts_of_a_function_are_those_that_differ_from_any_kernel() -> None:
    one, two, three = (
        of(WRITE, f"blocks 3 {text} write")
        for text in (f"8-{A},8-{A},8.{A}", f"8-{A},8-{B},8.{A}", f"8-{A},8-{A},8.{C}")
    )
    behind = Range(24, 1 << 32)
    assert parts(one, [one, two], ["write"])["write"] == [Range(8, 16), behind]
    found = parts(one, [one, two, three], ["write"])["write"]
    assert found == [Range(8, 16), Range(16, 24), behind]
    assert parts(one, [one, one], ["write"]) == {"write": [behind]}


@pytest.mark.parametrize(
    "lines",
    [
        (WRITE,),
        (WRITE, WRITE, f"blocks 2 8-{A},8.{B} write"),
        (WRITE, f"blocks 2 8-{A},8.{B} write", f"blocks 2 8-{A},8.{B} write"),
        (WRITE, f"alternative 4 {'9' * 16} write", f"blocks 2 8-{A},8.{B} write"),
        (),
    ],
)
def test_where_it_is_not_sure_the_whole_function_differs(lines: tuple[str, ...]) -> None:
    base = of(WRITE, f"blocks 2 8-{A},8.{A} write")
    assert parts(base, [base, of(*lines)], ["write"]) == {}
    assert parts(of(*lines), [base], ["write"]) == {}


SHAPES = [(0, False), (1, True), (1, False), (2, True), (0, True)]
"""By a block's code: how many blocks it names, and whether the next one may follow."""
MOST_STEPS = 200


class Made(NamedTuple):
    """A block of a function that is made up."""

    code: int
    targets: tuple[int, ...]


def made(chance: random.Random, blocks: int) -> list[Made]:
    """A function of random blocks, some of which are alike."""
    codes = [chance.randrange(12) for _ in range(blocks)]
    return [
        Made(code, tuple(chance.randrange(blocks) for _ in range(SHAPES[code % len(SHAPES)][0])))
        for code in codes
    ]


def edited(chance: random.Random, function: list[Made]) -> list[Made]:
    """The same with a few changes: blocks that are new, gone, or lead elsewhere."""
    kept: list[tuple[int | None, Made]] = list(enumerate(function))
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(kept))
        what = chance.choice(["new", "gone", "other", "elsewhere"])
        if what == "new":
            kept.insert(at, (None, made(chance, len(function))[0]))
        elif what == "gone" and len(kept) > 1:
            del kept[at]
        elif what == "other":
            kept[at] = (kept[at][0], made(chance, len(function))[0])
        elif what == "elsewhere":
            number, block = kept[at]
            targets = tuple(chance.randrange(len(function)) for _ in block.targets)
            kept[at] = (number, Made(block.code, targets))
    # A label moves with its block; one whose block is gone is on what stands there now.
    place = {number: now for now, (number, _) in enumerate(kept) if number is not None}
    return [
        Made(block.code, tuple(place.get(to, min(to, len(kept))) for to in block.targets))
        for _, block in kept
    ]


def noted_as(function: list[Made]) -> str:
    """As a build notes it, each block of four bytes."""
    return ",".join(
        f"4{'-' if SHAPES[block.code % len(SHAPES)][1] else '.'}{block.code:012x}"
        + "".join(f">{to}" for to in block.targets)
        for block in function
    )


def run(function: list[Made], seed: int) -> tuple[list[int], set[int]]:
    """The codes that run, and numbers of their blocks. The way depends on what ran before alone."""
    number = 0
    trace: list[int] = []
    visited: set[int] = set()
    chance = random.Random(seed)
    while number < len(function) and len(trace) < MOST_STEPS:
        block = function[number]
        trace.append(block.code)
        visited.add(number)
        ways = [*block.targets, *([number + 1] if SHAPES[block.code % len(SHAPES)][1] else [])]
        if not ways:
            break
        number = ways[chance.randrange(len(ways))]
    return trace, visited


def test_who_runs_nothing_that_differs_runs_the_same_in_both() -> None:
    compared = left_out = 0
    for seed in range(3000):
        chance = random.Random(seed)
        before = made(chance, chance.randrange(2, 14))
        after = edited(chance, before)
        ranges = differing(noted_as(before), noted_as(after))
        for way in range(5):
            trace, visited = run(before, way)
            compared += 1
            if ranges is None or any(Range(4 * each, 4 * each + 4) in ranges for each in visited):
                continue
            left_out += 1
            assert run(after, way)[0] == trace, seed
    # Else it would say nothing.
    assert left_out > compared / 10
