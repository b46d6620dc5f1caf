"""The source that is compiled: C without any header of the system, the same bytes everywhere.

It is made from a seed by arithmetic alone, since Python's own random numbers may differ from one
release to the next. What a compiler finds in it is what it finds in a kernel: one large header
of structures and small inline functions, and units of functions with loops, branches, tables,
lists and calls from one unit into another. Standard library only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

STRUCTURES = 48
INLINES = 96
# Of all units: making the source takes some seconds, and so does checking it.
MOST_FUNCTIONS = 200_000
FIELDS = ("u8", "u16", "u32", "u64")
OPERATORS = ("+", "-", "^", "|", "&", "*")
COMPARISONS = ("<", ">", "==", "!=", "<=", ">=")
# A change in what is made changes every figure: results of two versions are not to be compared.
VERSION = 1

MAKEFILE = """\
# Objects alone: linking them is one process, and not what is measured.
OBJECTS := {objects}
all: $(OBJECTS)
%.o: %.c shared.h
\tgcc -std=gnu11 -O2 -ffreestanding -fno-pie -fno-stack-protector -c -o $@ $<
"""


class Numbers:
    """Numbers from a seed: xorshift64* (Vigna 2016), by whole numbers alone."""

    def __init__(self, *seed: int) -> None:
        text = " ".join(map(str, (VERSION, *seed)))
        self.state = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") | 1

    def below(self, limit: int) -> int:
        """One from 0 to `limit` - 1."""
        x = self.state
        x ^= x >> 12
        x ^= (x << 25) & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 27
        self.state = x
        return ((x * 0x2545F4914F6CDD1D & 0xFFFFFFFFFFFFFFFF) >> 32) % limit

    def one(self, of: tuple[str, ...]) -> str:
        """One of these."""
        return of[self.below(len(of))]


def unit_name(number: int) -> str:
    """A unit's name, without its ending."""
    return f"unit-{number:04}"


def makefile(units: int) -> str:
    """Builds all objects of so many units."""
    return MAKEFILE.format(objects=" ".join(f"{unit_name(n)}.o" for n in range(units)))


def shared_header(seed: int) -> str:
    """What every unit includes: structures, and inline functions over them."""
    numbers = Numbers(seed, 0)
    lines = [
        "typedef unsigned char u8;",
        "typedef unsigned short u16;",
        "typedef unsigned int u32;",
        "typedef unsigned long long u64;",
    ]
    for number in range(STRUCTURES):
        lines += [f"struct s{number} {{", f"\tstruct s{number} *next;"]
        lines += [f"\t{numbers.one(FIELDS)} f{field};" for field in range(8)]
        lines += [f"\tu32 table[{8 << numbers.below(4)}];", "};"]
    for number in range(INLINES):
        of = numbers.below(STRUCTURES)
        lines += [
            f"static inline u64 inline{number}(struct s{of} *p, u64 x)",
            "{",
            f"\tif (p->f{numbers.below(8)} {numbers.one(COMPARISONS)} (x & {numbers.below(255)}))",
            f"\t\treturn x {numbers.one(OPERATORS)} p->f{numbers.below(8)};",
            f"\tp->f{numbers.below(8)} = x >> {1 + numbers.below(31)};",
            f"\treturn p->table[x & 7] {numbers.one(OPERATORS)} {1 + numbers.below(9999)};",
            "}",
        ]
    return "\n".join(lines) + "\n"


def _loop(numbers: Numbers) -> list[str]:
    """Arithmetic over a table."""
    return [
        f"\tfor (i = 0; i < {4 + numbers.below(60)}; i++) {{",
        f"\t\tx = (x << {1 + numbers.below(7)}) {numbers.one(OPERATORS)} p->table[i & 7];",
        f"\t\tif (x & {1 << numbers.below(16)})",
        f"\t\t\tp->table[i & 7] {numbers.one(OPERATORS)}= x;",
        "\t}",
    ]


def _list(numbers: Numbers) -> list[str]:
    """A walk over a list, with a way out of it."""
    return [
        "\tfor (q = p; q; q = q->next) {",
        f"\t\tif (q->f{numbers.below(8)} {numbers.one(COMPARISONS)} {numbers.below(200)})",
        f"\t\t\tx {numbers.one(OPERATORS)}= q->f{numbers.below(8)};",
        f"\t\tif ((x & {1 + numbers.below(1000)}) == {numbers.below(100)})",
        "\t\t\tbreak;",
        "\t}",
    ]


def _switch(numbers: Numbers) -> list[str]:
    """One of some cases."""
    lines = ["\tswitch (x & 15) {"]
    for case in range(3 + numbers.below(6)):
        lines += [
            f"\tcase {case}:",
            f"\t\tx {numbers.one(OPERATORS)}= p->f{numbers.below(8)} + {numbers.below(999)};",
            "\t\tbreak;",
        ]
    return [*lines, "\tdefault:", f"\t\tp->f{numbers.below(8)}++;", "\t}"]


def _function(numbers: Numbers, unit: int, number: int, units: int) -> list[str]:
    """One function, which calls one of another unit and one before it in its own."""
    of = numbers.below(STRUCTURES)
    other = f"u{numbers.below(units)}_f0"
    parts = (_loop, _list, _switch)
    lines = [
        f"u64 {other}(void *, u64);",
        f"u64 u{unit}_f{number}(void *at, u64 x)",
        "{",
        f"\tstruct s{of} *p = at, *q;",
        "\tu32 i;",
        "",
    ]
    for _ in range(2):
        lines += parts[numbers.below(3)](numbers)
    lines += [
        f"\tx += inline{numbers.below(INLINES)}(at, x);",
        f"\tx ^= inline{numbers.below(INLINES)}(at, x + i_of(x));",
        f"\tif (x {numbers.one(COMPARISONS)} {numbers.below(1 << 20)})",
        f"\t\treturn {other}(at, x);",
    ]
    if number:
        lines.append(f"\tx -= u{unit}_f{numbers.below(number)}(p, x >> 3);")
    return [*lines, "\tq = p;", "\ti = x;", "\treturn x + i + (q == p);", "}", ""]


def unit(seed: int, number: int, functions: int, units: int) -> str:
    """One translation unit."""
    numbers = Numbers(seed, 1, number)
    lines = ['#include "shared.h"', "static u32 i_of(u64 x)", "{", "\treturn x >> 5;", "}", ""]
    for function in range(functions):
        lines += _function(numbers, number, function, units)
    return "\n".join(lines) + "\n"


def files(seed: int, units: int, functions: int, times: int = 1) -> Iterator[tuple[str, str]]:
    """(name, text) of every file, in a fixed order; each unit so many times, under other names."""
    yield "Makefile", makefile(units * times)
    yield "shared.h", shared_header(seed)
    for number in range(units * times):
        yield f"{unit_name(number)}.c", unit(seed, number % units, functions, units)


def digest(seed: int, units: int, functions: int) -> str:
    """SHA-256 over names and texts of all files."""
    total = hashlib.sha256()
    for name, text in files(seed, units, functions):
        total.update(f"{name}\0{len(text)}\0{text}".encode())
    return total.hexdigest()
