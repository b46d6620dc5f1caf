"""Folding counts what stackcollapse-perf.pl counts. The expected stacks below are what that
program printed for the same text."""

from __future__ import annotations

import gzip
import io
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from mitigauge.analysis.profiles.capture.collapse import Collapse
from mitigauge.analysis.profiles.capture.decompress import pieces
from mitigauge.core.errors import InvalidInput

SAMPLE = """\
perf 12/13 [001] 100.000001: 250000 cpu-clock:ppp:
\tffffffff81a0 clear_bhb_loop+0x1f ([kernel.kallsyms])
\tffffffff81b0 do_syscall_64+0x4b ([kernel.kallsyms])
\t    7f0012ab syscall (/usr/lib/libc.so.6)

"""


def folded(text: str, *, piece: int = 1 << 20, **options: bool | str) -> dict[str, int]:
    collapse = Collapse(**options)  # type: ignore[arg-type]
    data = text.encode()
    for start in range(0, len(data), piece):
        collapse.feed(data[start : start + piece])
    return {stack.decode(): count for stack, count in collapse.finish().stacks().items()}


def one(*frames: str, head: str = "perf 12 [000] 1.5: 1 cycles:") -> str:
    return "".join(f"{line}\n" for line in (head, *(f"\t{frame}" for frame in frames))) + "\n"


def test_a_sample_is_its_thread_and_its_callers_from_the_outside_in() -> None:
    assert folded(SAMPLE) == {"perf;syscall;do_syscall_64;clear_bhb_loop": 250000}


@pytest.mark.parametrize("piece", [1, 7, 64, 1000])
def test_where_the_text_is_cut_into_pieces_changes_nothing(piece: int) -> None:
    assert folded(SAMPLE * 3, piece=piece) == {"perf;syscall;do_syscall_64;clear_bhb_loop": 750000}


def test_the_same_callers_with_another_leaf_are_another_stack() -> None:
    other = SAMPLE.replace("clear_bhb_loop+0x1f", "ksys_read+0x2")
    assert folded(SAMPLE + other + SAMPLE) == {
        "perf;syscall;do_syscall_64;clear_bhb_loop": 500000,
        "perf;syscall;do_syscall_64;ksys_read": 250000,
    }


@pytest.mark.parametrize(
    ("frame", "names"),
    [
        ("1 [unknown] (/usr/lib/libc.so.6)", ";[libc.so.6]"),
        ("1 [unknown] ([unknown])", ";[unknown]"),
        ("1 [unknown] ([kernel.kallsyms])", ";[[kernel.kallsyms]]"),
        ("1 outer->inner->innermost (/bin/x)", ";outer;inner_[i];innermost_[i]"),
        ("1 f(int, char*)+0x1 (/bin/x)", ";f"),
        ("1 ns::(anonymous namespace)::f(int) (/bin/x)", ";ns::(anonymous namespace)::f"),
        ("1 net/http.(*Client).Do (/bin/go)", ";net/http.(*Client).Do"),
        ("1 a;b (/bin/x)", ";a:b"),
        ("1 RegExp:[&<>\"'] (/tmp/perf-1.map)", ";RegExp:[&<>]"),
        ("1 two words (/bin/x (deleted))", ";two words"),
        ("1 (/bin/x) (/bin/x)", ""),
        ("ffff vmx_vmexit+0x1 ([guest.kernel.kallsyms])", ";vmx_vmexit"),
        ("1 <T as core::fmt>::fmt (/bin/x)", ";<T as core::fmt>::fmt"),
    ],
)
def test_names_are_spelled_as_flame_graphs_spell_them(frame: str, names: str) -> None:
    assert folded(one(frame)) == {f"perf{names}": 1}


def test_javas_signatures_lose_their_l_in_javas_threads_only() -> None:
    frame = "1 Lorg/a/B;::call(Lx;)V (/tmp/perf-1.map)"
    java = one(frame, head="java 12 [000] 1.5: 1 cycles:")
    assert folded(java) == {"java;org/a/B:::call": 1}
    assert folded(one(frame)) == {"perf;Lorg/a/B:::call": 1}


@pytest.mark.parametrize(
    ("head", "counted"),
    [
        ("CPU 0/KVM 12/34 [001] 1.5: 7 cycles: ", {"CPU_0/KVM": 7}),
        ("V8 Worker 12 1.5: 7 cycles:", {"V8_Worker": 7}),
        ("swapper     0 [000] 1.5: cpu-clock: ", {"swapper": 1}),
        ("swapper     0 [000] 1.5: 0 cpu-clock: ", {"swapper": 1}),
        ("qemu 1 [000] 1.5: sched:sched_switch: prev_comm=qemu prev_pid=1 ==> next", {"qemu": 1}),
        ("x:y 1 z 12 [000] 1.5: 3 cycles:", {"x:y_1_z": 3}),
        ("t 12 1.5: 3 cycles:", {"t": 3}),
        ("1 12 1.5: 3 cycles:", {"1": 3}),
        (": 12 1.5: 3 cycles:", {":": 3}),
        ("tmux: server (x) 12 1.5: 3 cycles:", {"tmux:_server_(x)": 3}),
        ("t 12 3 cycles:", {"t": 3}),
        ("t 12 [000] 3 cycles:", {"t": 3}),
        ("t 12 cycles:", {"t": 1}),
        ("t 12 1.5: 3", {"t": 3}),
        ("t 12 1.5: 3 cycles:  ffff888100000040", {"t": 3}),
        ("t 12 1.5: 3 cycles:u:  ffff888100000040 ffff 12", {"t": 3}),
        ("t 12 [000] K 1.5: 3 cycles:", {"t": 3}),
        ("swapper -1 [001] 1.5: 3 cycles:", {"swapper": 3}),
        (":-1 -1/-1 [001] 1.5: 3 cycles:", {":-1": 3}),
    ],
)
def test_headers_of_all_kinds_are_read(head: str, counted: dict[str, int]) -> None:
    assert folded(head + "\n\n") == counted


def test_only_the_first_event_is_counted_unless_another_is_named() -> None:
    text = one("1 f (x)") + one("1 g (x)", head="perf 12 [000] 1.5: 5 instructions:")
    assert folded(text) == {"perf;f": 1}
    assert folded(text, event="instructions") == {"perf;g": 5}


@pytest.mark.parametrize("chosen", ["", "cycles", "cpu_atom/cycles/P"])
def test_an_event_of_two_kinds_of_cores_is_one(chosen: str) -> None:
    text = one("1 f (x)", head="a 1 1.5: 3 cpu_core/cycles/P:") + one(
        "1 f (x)", head="a 1 1.5: 4 cpu_atom/cycles/P:"
    )
    collapse = Collapse(strict=True, event=chosen)
    collapse.feed(text.encode() * 2)
    found = collapse.finish()
    assert (found.event, found.stacks(), found.samples) == (b"cycles", {b"a;f": 14}, 4)


def test_privilege_is_part_of_an_event_of_cores_and_precision_is_not() -> None:
    text = one("1 f (x)", head="a 1 1.5: 3 cpu_core/cycles/ppk:") + one(
        "1 f (x)", head="a 1 1.5: 4 cpu_atom/cycles/u:"
    )
    with pytest.raises(InvalidInput, match=r"a second event, cpu_atom/cycles/u, after cycles:k"):
        folded(text, strict=True)


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_samples_of_one_line_are_read_after_comments(piece: int) -> None:
    text = (
        "# perf\n#\n\n"
        "   a b 1/2 [000] 1.5:    7 cycles:u:   ffff f+0x1 ([kernel.kallsyms])\n"
        "   a b 1/2 [000] 1.6:    1 cycles:u:   ffff g+0x1 (x y)\n"
    )
    assert folded(text, piece=piece, strict=True) == {"a_b;f": 7, "a_b;g": 1}
    with pytest.raises(InvalidInput, match=r"capture:6: neither a sample"):
        folded(text + "rubbish\n", piece=piece, strict=True)


def test_comments_and_lines_that_are_nothing_are_left_out() -> None:
    text = "# captured on: today\n" + one("1 f (x)", "garbage", "2 g (x)") + "\n\n"
    assert folded(text) == {"perf;g;f": 1}


def test_a_last_sample_without_its_empty_line_is_cut_off() -> None:
    assert folded(SAMPLE + SAMPLE.rstrip("\n")) == {
        "perf;syscall;do_syscall_64;clear_bhb_loop": 250000
    }


def test_memory_of_parsed_text_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mitigauge.analysis.profiles.capture.collapse.REMEMBERED", 1000)
    text = "".join(one(f"1 leaf{i} (x)", f"2 caller{i} (x)") for i in range(500))
    assert folded(text * 2) == {f"perf;caller{i};leaf{i}": 2 for i in range(500)}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "capture has no sample"),
        ("# only a comment\n\n", "capture has no sample"),
        ("hello\nworld\n\n", r"capture:1: neither a sample nor a frame: 'hello'"),
        (SAMPLE + "\x00\x01\x02\n\n", r"capture:6: neither a sample nor a frame: '\\x00"),
        (SAMPLE + one("1 g (x)", head="perf 12 [000] 1.5: 5 instructions:"),
         "capture:6: a second event, instructions, after cpu-clock:ppp: choose one"),
        (one(f"1 {'x' * (1 << 21)} (x)"), "capture:2: 2097159 characters in one line"),
    ],
)  # fmt: skip
def test_what_is_no_capture_is_refused_by_line(text: str, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        folded(text, strict=True)


@pytest.mark.parametrize("strict", [True, False])
def test_a_file_without_empty_lines_does_not_fill_the_memory(strict: bool) -> None:
    collapse = Collapse(strict=strict)
    collapse.feed(SAMPLE.encode())
    collapse.feed(b"x" * (16 << 20))
    with pytest.raises(InvalidInput, match="capture:6: no empty line in 16 MiB"):
        collapse.feed(b"x")


@pytest.mark.skipif(not shutil.which("stackcollapse-perf.pl"), reason="FlameGraph is not installed")
@pytest.mark.parametrize("seed", range(5))
def test_any_text_gives_what_the_program_itself_gives(seed: int, tmp_path: Path) -> None:
    text = awkward(random.Random(seed))
    capture = tmp_path / "capture.txt"
    capture.write_text(text)
    done = subprocess.run(["stackcollapse-perf.pl", capture], capture_output=True, check=True)
    lines = (line.rpartition(" ") for line in done.stdout.decode().splitlines())
    assert folded(text, piece=100) == {stack: int(count) for stack, _, count in lines}


def awkward(rng: random.Random) -> str:
    """Samples with everything that goes wrong in practice."""
    frames = ["f+0x1", "[unknown]", "a->b", "->x", "x->", "(gone)", "f(a;b)", '""', "g (h)"]
    modules = ["([kernel.kallsyms])", "(/lib/libc.so.6)", "([unknown])", "()", "(/x)"]
    # What is left out here with its frames, unlike there, is in tests of its own.
    heads = ["perf 1 [0] 1.5: 7 cycles:", "java 1/2 1.5: 1 cycles: ", "CPU 0/KVM 3 1.5: 2 cycles:",
             "no header", "# comment"]  # fmt: skip
    lines = []
    for _ in range(300):
        lines += rng.choices(heads, k=rng.choice([1, 1, 1, 2, 0]))
        for _ in range(rng.randrange(5)):
            indent = rng.choice(["\t", "    ", "\t", ""])
            lines.append(
                f"{indent}{rng.getrandbits(32):x} {rng.choice(frames)} {rng.choice(modules)}"
            )
        lines += [""] * rng.choice([1, 1, 1, 2, 0])
    return "\n".join(lines)


SWITCH = one("1 schedule (x)", head="perf 12 [000] 1.6: 1 sched:sched_switch: prev_comm=a ==> b:")
NAMELESS = one("1 g (x)", head="perf 12 [000] 1.6: 5")


@pytest.mark.parametrize("other", [SWITCH, NAMELESS, SWITCH.replace("1 sched:", "sched:")])
def test_a_sample_of_another_event_or_of_none_that_is_read_is_not_counted(other: str) -> None:
    collapse = Collapse()
    collapse.feed((one("1 f (x)") + other).encode())
    found = collapse.finish()
    assert found.stacks() == {b"perf;f": 1}
    assert found.other_events + found.unrecognised == 1
    why = "a second event, sched:sched_switch, after cycles|no event is read here, after cycles"
    with pytest.raises(InvalidInput, match=f"capture:4: ({why})"):
        folded(one("1 f (x)") + other, strict=True)


def test_text_without_names_of_events_is_of_one_and_mixes_with_none() -> None:
    assert folded(NAMELESS * 2, strict=True) == {"perf;g": 10}
    with pytest.raises(InvalidInput, match="a second event, cycles, after some without"):
        folded(NAMELESS + one("1 f (x)"), strict=True)


@pytest.mark.parametrize(
    ("frame", "names"),
    [
        ("do_wait+0x1 ([kernel.kallsyms])", ";do_wait"),
        ("schedule ([kernel.kallsyms])", ";schedule"),
        ("add+0x1 (/bin/x)", ";add"),
        ("add (/bin/x)", ";add"),
        ("ns::f(int, char*)+0x1 (/bin/x)", ";ns::f"),
        ("ffffffff81000001 ([kernel.kallsyms])", ";[[kernel.kallsyms]]"),
    ],
)
def test_frames_are_read_with_and_without_addresses(frame: str, names: str) -> None:
    other = one("sys_wait ([kernel.kallsyms])")
    assert folded(one(frame) + other) == {f"perf{names}": 1, "perf;sys_wait": 1}


def test_an_address_of_data_before_a_frame_of_one_line_is_none_of_its_name() -> None:
    text = "a 1 [000] 1.5: 7 cycles:  ffff888100000040  ffffffff81000001 f+0x1 (k)\n"
    assert folded(text, strict=True) == {"a;f": 7}


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_a_byte_order_mark_and_ends_of_lines_are_no_part_of_a_text(size: int) -> None:
    content = b"\xef\xbb\xbf" + SAMPLE.replace("\n", "\r\n").encode() + b"\r"

    class Slow(io.BytesIO):
        def read(self, wanted: int | None = -1, /) -> bytes:
            return super().read(min(size, wanted if wanted and wanted > 0 else size))

    assert b"".join(pieces(Slow(content), name="x")) == SAMPLE.encode() + b"\n"
    assert b"".join(pieces(Slow(b"\xef"), name="x")) == b"\xef"
    assert b"".join(pieces(Slow(b""), name="x")) == b""
    packed = gzip.compress(content)
    assert b"".join(pieces(io.BytesIO(packed), name="x")) == SAMPLE.encode() + b"\n"
    with pytest.raises(InvalidInput, match="x is UTF-16 text"):
        list(pieces(Slow("a 1".encode("utf-16")), name="x"))


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("a 1 1.5: 3 cpu_core/cycles:u/:\n\nb 1 1.5: 4 cpu_atom/cycles:Pu/:\n\n",
         {"a": 3, "b": 4}),
        ("a 1 1.5: 3 cpu_core/cpu-cycles/:\n\nb 1 1.5: 4 cpu_atom/cycles/:\n\n",
         {"a": 3, "b": 4}),
        ("a 1 1.5: 3 cpu_core/instructions:u/:\n\na 1 1.5: 4 cpu_atom/instructions/u:\n\n",
         {"a": 7}),
    ],
)  # fmt: skip
def test_an_event_of_kinds_of_cores_is_one_wherever_its_modifiers_stand(
    text: str, counted: dict[str, int]
) -> None:
    assert folded(text, strict=True) == counted


@pytest.mark.parametrize(
    ("frame", "names"),
    [
        ("1 spin+0x19 (/tmp/build/bench (deleted))", ";spin"),
        ("1 spin (/tmp/build/bench (deleted))", ";spin"),
        ("1 [unknown] (/memfd:doublemapper (deleted))", ";[memfd:doublemapper (deleted)]"),
        ("1 [unknown] (/SYSV00000000 (deleted))", ";[SYSV00000000 (deleted)]"),
        ("1 f+0x1 (/opt/My App (x86)/prog)", ";f"),
        ("1 f (/opt/My App (x86)/prog)", ";f"),
        ("1 f+0x1 (/tmp/a (1/prog)", ";f"),
        ("1 f (/tmp/a (1/prog)", ";f"),
        ("1 f (/tmp/a) 1/prog)", ";f"),
        ("1 f(int, char*) (/tmp/x (2) (deleted))", ";f"),
        ("1 RegExp:a (/b) (/tmp/perf-1.map)", ";RegExp:a "),
        ("1 [unknown] (/lib/libc.so.6+0x1234)", ";[libc.so.6]"),
    ],
)
def test_brackets_in_a_files_name_are_none_of_the_functions(frame: str, names: str) -> None:
    assert folded(one(frame)) == {f"perf{names}": 1}
    assert folded(one(frame), strict=True) == {f"perf{names}": 1}


@pytest.mark.parametrize("address", ["7f1e2215d058", "401136", "7", "ffffffff81000010"])
@pytest.mark.parametrize("blanks", [1, 2, 3])
def test_an_address_without_a_symbol_is_named_after_its_file(address: str, blanks: int) -> None:
    frame = f"{address:>16}{' ' * blanks}(/lib/libc.so.6)"
    assert folded(one(frame)) == {"perf;[libc.so.6]": 1}
    # stackcollapse-perf.pl writes a blank, where one stands in the symbol's place.
    peers = {"perf; ": 1} if blanks > 1 else {"perf;[libc.so.6]": 1}
    assert folded(one(frame), as_peer=True) == peers
    alone = f"perf 12 [000] 1.5: 1 cycles: {frame}\n"
    assert folded(alone, strict=True) == {"perf;[libc.so.6]": 1}


RECORDS = [
    "perf 12/12 [000] 1.4: PERF_RECORD_COMM exec: bench:12/12",
    "perf 12 PERF_RECORD_SWITCH OUT preempt",
    "perf 12/12 [000] 1.4: PERF_RECORD_MMAP2 12/12: [0x4000(0x1000) @ 0 08:01 7 0]: r-xp /x (y)",
    "add 12/12 [000] 1.4: PERF_RECORD_LOST lost 144",
    "swapper 0 [000] 1.4: PERF_RECORD_NAMESPACES 12/12 - nr_namespaces: 7",
    "Processed 4346 events and lost 144 chunks!",
    "[ perf record: Captured and wrote 1 MB perf.data (12 samples) ]",
    "perf 12 [000] 2025-11-02",
    "perf 12 [000] 1.4: unknown 7",
]


@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("end", ["\n", "\n\n", "\n\t\t[0/net: 3/0xf0000081]\n"])
def test_what_is_no_sample_is_left_out_and_told_of_by_its_line(record: str, end: str) -> None:
    first, second = one("1 f (x)"), one("1 g (x)")
    for text, line in ((record + end + first + second, 1), (first + record + end + second, 4)):
        collapse = Collapse()
        collapse.feed(text.encode())
        found = collapse.finish()
        assert found.stacks() == {b"perf;f": 1, b"perf;g": 1}
        assert found.first_unrecognised.startswith(f"line {line}: ")
        assert found.unrecognised
        with pytest.raises(InvalidInput, match=f"capture:{line}: "):
            folded(text, strict=True)


def test_frames_behind_what_is_left_out_are_left_out_with_it() -> None:
    kept = one("1 f (x)", "2 main (x)")
    for head in ("perf 12 [000] 1.5: PERF_RECORD_SWITCH IN", "perf 12 [000] 1.5: 9",
                 "perf 12 [000] 1.5: cycles:", "perf 12 [000] 1.5: 9 other:"):  # fmt: skip
        out = one("1 wrong (x)", head=head)
        # With an empty line between both, and without.
        assert folded(kept + out + kept) == {"perf;main;f": 2}, head
        assert folded(kept + kept.removesuffix("\n") + out) == {"perf;main;f": 2}, head


def test_records_before_samples_of_one_line_are_no_end_of_them() -> None:
    line = "perf 12 [000] 1.5: 7 cycles: ffff f+0x1 (x)\n"
    assert folded(f"{RECORDS[0]}\n" * 2000 + line * 2, piece=999) == {"perf;f": 14}


@pytest.mark.parametrize(
    "head",
    [
        "VM:13377 VCPU:003      CPU 3/KVM 13389/13392 [003]   100.1:     7 cycles: ",
        "VM:   12 VCPU:-1 CPU 3/KVM 13389 100.1: 7 cycles: ",
        "VM:13377 CPU 3/KVM 13389 [003] 2025-11-02 10:11:12.000001 100.1: 7 cycles:",
        "VCPU:003 CPU 3/KVM 13389 [003] G 2025-11-02 10:11:12 7 cycles:",
        "CPU 3/KVM 13389 2025-11-02 10:11:12.000001 7 cycles:",
    ],
)
def test_a_guest_and_the_time_of_day_are_no_part_of_a_command(head: str) -> None:
    text = one("1 f (x)", head=head)
    assert folded(text * 2, strict=True) == {"CPU_3/KVM;f": 14}


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_carriage_returns_alone_end_lines(size: int) -> None:
    class Slow(io.BytesIO):
        def read(self, wanted: int | None = -1, /) -> bytes:
            return super().read(min(size, wanted if wanted and wanted > 0 else size))

    content = SAMPLE.replace("\n", "\r").encode()
    assert b"".join(pieces(Slow(content), name="x")) == SAMPLE.encode()
    assert b"".join(pieces(Slow(b"a 1\rb 2"), name="x")) == b"a 1\nb 2"
    assert b"".join(pieces(Slow(b"a 1\nb 2\rc 3\n"), name="x")) == b"a 1\nb 2\nc 3\n"


@pytest.mark.parametrize("strict", [False, True])
def test_a_sample_without_an_empty_line_behind_it_keeps_its_frames(strict: bool) -> None:
    text = (
        "prog 1 [000] 1.0: 10 cycles:\n\tff alpha+0x1 (/x)\n"
        "other 2 [000] 1.1: 990 cycles:\n\tff beta+0x1 (/y)\n\n"
    )
    assert folded(text, strict=strict) == {"prog;alpha": 10, "other;beta": 990}
