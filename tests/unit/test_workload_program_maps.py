"""Where the code lies of programs that a pass starts."""

from __future__ import annotations

import subprocess
import time
from typing import Any

from tests.loading import load

program_maps = load("workloads/_kit/program_maps.py")
Mapping, mappings = program_maps.Mapping, program_maps.mappings
unambiguous = program_maps.unambiguous

SEEN_WITHIN_S = 30
MAPS = """\
00400000-00401000 r--p 00000000 08:01 1    /usr/bin/one
00401000-00405000 r-xp 00001000 08:01 1    /usr/bin/one
7ffff7f00000-7ffff7f01000 r-xp 00000000 00:00 0    [vdso]
"""


def test_code_of_files_alone_is_told() -> None:
    assert list(mappings(MAPS)) == [Mapping(0x401000, 0x405000, 0x400000, "/usr/bin/one")]


def test_an_address_that_two_files_share_is_of_neither() -> None:
    one = Mapping(0x1000, 0x9000, 0, "/one")
    two = Mapping(0x3000, 0x5000, 0x3000, "/two")
    assert list(unambiguous([one, two, one])) == [
        Mapping(0x1000, 0x3000, 0, "/one"),
        Mapping(0x5000, 0x9000, 0, "/one"),
    ]


def test_one_file_at_one_place_in_two_programs_is_that_file() -> None:
    one = Mapping(0x1000, 0x9000, 0, "/one")
    assert list(unambiguous([one, Mapping(0x1000, 0x4000, 0, "/one")])) == [
        Mapping(0x1000, 0x4000, 0, "/one"),
        Mapping(0x4000, 0x9000, 0, "/one"),
    ]


def is_sleep(mapping: Any) -> bool:
    return mapping.path.endswith(("/sleep", "/coreutils"))


def test_a_program_that_runs_is_seen_in_the_form_of_its_maps() -> None:
    with program_maps.Watch() as watch, subprocess.Popen(["sleep", "60"]) as program:
        until = time.monotonic() + SEEN_WITHIN_S
        while not any(map(is_sleep, set(watch.found))) and time.monotonic() < until:
            time.sleep(0.01)
        program.kill()
    assert any(map(is_sleep, mappings(watch.told())))
