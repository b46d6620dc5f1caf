"""Counts are those of stackcollapse-perf.pl, over captures that come with that program.

They are not part of this repository: their licence is another one. A checkout of FlameGraph is
named by MITIGAUGE_FLAMEGRAPH. Captures of the same forms, made up, stand below with what is right.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from mitigauge.analysis.profiles.capture.collapse import Collapse

NAMED = os.environ.get("MITIGAUGE_FLAMEGRAPH", "")
CHECKOUT = Path(NAMED or "/nowhere")
CAPTURES = sorted((CHECKOUT / "test").glob("perf-*.txt"))


def folded(text: bytes) -> dict[str, int]:
    collapse = Collapse(as_peer=True)
    collapse.feed(text)
    stacks = collapse.finish().stacks()
    return {stack.decode(errors="replace"): count for stack, count in stacks.items()}


def peers(capture: Path) -> dict[str, int]:
    """What the program itself counts."""
    done = subprocess.run(
        ["perl", CHECKOUT / "stackcollapse-perf.pl", capture], capture_output=True, check=True
    )
    counts: Counter[str] = Counter()
    for line in done.stdout.decode(errors="replace").splitlines():
        stack, _, count = line.rpartition(" ")
        counts[stack] += int(count)
    return dict(counts)


@pytest.mark.skipif(not NAMED, reason="MITIGAUGE_FLAMEGRAPH names no checkout of FlameGraph")
@pytest.mark.skipif(not shutil.which("perl"), reason="perl is not installed")
def test_every_capture_of_flame_graphs_folds_alike() -> None:
    assert len(CAPTURES) >= 13
    unlike = [each.name for each in CAPTURES if folded(each.read_bytes()) != peers(each)]
    assert unlike == []


# One sample or more in each form that those captures have.
FORMS = {
    "two events, the first counts": (
        b"spin 21 [001] 14.984841: instructions: \n"
        b"\t          400544 main (/home/me/spin)\n\n"
        b"spin 21 [001] 14.984842: cycles: \n"
        b"\t          400544 main (/home/me/spin)\n\n",
        {"spin;main": 1},
    ),
    "no processor, a period": (
        b"cat 76 66.771979:   10101010 cpu-clock: \n"
        b"\tffffffff8103 native_read ([kernel.kallsyms])\n"
        b"\t    7f12ab34 [unknown] (/lib/libc.so.6)\n\n",
        {"cat;[libc.so.6];native_read": 10101010},
    ),
    "no time": (
        b"fun_ab 94 cpu-clock: \n"
        b"\t          40053d fun_a (/tmp/fun_ab)\n\n"
        b"fun_ab 94 cpu-clock: \n"
        b"\t          40053d fun_a (/tmp/fun_ab)\n\n",
        {"fun_ab;fun_a": 2},
    ),
    "process and thread": (
        b"perf 9/44 [000] 95.133575: cpu-clock: \n\tffffffff8103 send ([kernel.kallsyms])\n\n",
        {"perf;send": 1},
    ),
    "frames to the left, no blank behind the event": (
        b"java 83 cycles:\n"
        b"ffffffff8103 write_msr ([kernel.kallsyms])\n"
        b"7f1234 Lorg/a/B;::run (/tmp/perf-83.map)\n\n",
        {"java;org/a/B:::run;write_msr": 1},
    ),
    "an address, and a blank for its symbol": (
        b"java  44 cpu-clock: \n"
        b"\t    7f1e2215d058   (/lib/libpthread.so)\n"
        b"\t    7f1e2215d999 call (/lib/libjvm.so)\n\n"
        b"java  45 cpu-clock: \n"
        b"\t    7f1e2215d0c0   (/lib/libpthread.so)\n"
        b"\t    7f1e2215d999 call (/lib/libjvm.so)\n\n",
        {"java;call; ": 2},
    ),
    "Rust's and JavaScript's names": (
        b"node 12 5.008865:          3 cycles:u: \n"
        b"\t   1 <alloc::vec::Vec<T> as core::ops::Drop>::drop (/bin/x)\n"
        b"\t   2 LazyCompile:~run native 'a'.js:12 (/tmp/perf-12.map)\n\n",
        {"node;LazyCompile:~run native a.js:12;<alloc::vec::Vec<T> as core::ops::Drop>::drop": 3},
    ),
    "nobody's process, a name with blanks": (
        b"swapper     0 [002] 13.591: cpu-clock: \n\tffffffff8104 hlt ([kernel.kallsyms])\n\n"
        b"V8 Worker 7 [002] 13.592: cpu-clock: \n\tffffffff8104 hlt ([kernel.kallsyms])\n\n",
        {"swapper;hlt": 1, "V8_Worker;hlt": 1},
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_a_capture_is_counted(form: str) -> None:
    text, counts = FORMS[form]
    assert folded(text) == counts
