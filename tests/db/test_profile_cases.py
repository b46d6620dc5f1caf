"""Profiles as people really have them, through the command as a process.

`tests/fixtures/cases` holds each input with what is right.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import CASES, Command

ONE_LETTER = CASES / "02-one-letter-comm.perf.txt"
HYBRID = CASES / "03-hybrid-cycles.perf.txt"
ONE_LINE = CASES / "19-one-line-samples.perf.txt"


@pytest.fixture
def command(tmp_path: Path, database_url: str) -> Command:
    return Command(tmp_path, database_url)


def brought_in(command: Command, path: Path) -> str:
    """What `profile export` prints of a file that was imported."""
    said = command.run("profile", "import", path, "--tree", "web", "--group", "before").stdout
    assert said == "1 of 1 profiles new in group before of web\n"
    return command.run("profile", "export", "before", "--tree", "web").stdout


def test_folded_text_is_brought_in(command: Command) -> None:
    assert brought_in(command, CASES / "01-profile-import.folded") == "a;b;c 10\na;d 5\n"


@pytest.mark.parametrize("options", [[], ["--raw"]])
@pytest.mark.parametrize(
    ("path", "text", "note"),
    [
        (ONE_LETTER, "t;_dl_setup_hash;page_fault 500000\n", ""),
        (HYBRID, "perf;clear_bhb_loop 520000\n", ""),
        (ONE_LINE, "false;[unknown] 1\nfalse;_dl_start 1\n", "cycles and cycles:u were added up"),
    ],
)
def test_perfs_text_is_folded(
    command: Command, path: Path, text: str, note: str, options: list[str]
) -> None:
    done = command.run("profile", "fold", *options, path)
    assert done.stdout == text
    assert note in done.stderr
    assert bool(done.stderr) == bool(note)


def test_what_is_stored_adds_no_two_events_up(command: Command) -> None:
    given = ("profile", "import", ONE_LINE, "--tree", "web", "--group", "before")
    done = command.run(*given, code=1)
    assert f"{ONE_LINE}:2: a second event, cycles, after cycles:u: choose one" in done.stderr
    command.run(*given, "--event", "cycles")
    assert command.run("profile", "export", "before", "--tree", "web").stdout == (
        "false;_dl_start 1\n"
    )


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (ONE_LETTER, "t;_dl_setup_hash;page_fault 500000\n"),
        (HYBRID, "perf;clear_bhb_loop 520000\n"),
        (
            CASES / "05-austin-header.folded",
            "P1;T1;mod.py:f:12;mod.py:g:20 105\nP1;T1;mod.py:f:12;mod.py:h:30 186\n",
        ),
    ],
)
def test_other_texts_are_brought_in(command: Command, path: Path, text: str) -> None:
    assert brought_in(command, path) == text


def test_two_counts_a_line_are_refused(command: Command) -> None:
    path = CASES / "04-difffolded-two-counts.folded"
    done = command.run("profile", "import", path, "--tree", "web", "--group", "before", code=1)
    assert f"{path}:1: two counts, 31 and 56, as difffolded.pl writes them" in done.stderr


def test_of_several_files_none_is_stored_where_one_is_refused(command: Command) -> None:
    right = CASES / "01-profile-import.folded"
    wrong = CASES / "04-difffolded-two-counts.folded"
    words = ("profile", "import", "--tree", "web", "--group", "before")
    command.run(*words, right, wrong, code=1)
    said = command.run(*words, right, ONE_LETTER, right).stdout
    assert said == "2 of 3 profiles new in group before of web\n"


@pytest.mark.parametrize(
    ("case", "text", "note"),
    [
        ("28-second-event-switch", "bench;sys_wait;do_wait 250000\n",
         "1 samples of other events than cycles were left out"),
        ("29-pid-minus-one",
         ":-1;exc_nmi 270000\nbench;do_wait 250000\nswapper;cpuidle_enter 260000\n", ""),
        ("31-frames-without-address", "bench;sys_wait;do_wait 300000\n", ""),
        ("32-data-address", "bench;sys_wait;do_wait 300000\n", ""),
        ("33-bom", "bench;sys_wait;do_wait 300000\n", ""),
        ("34-crlf", "bench;sys_wait;do_wait 300000\n", ""),
    ],
)  # fmt: skip
def test_perfs_text_in_other_forms_is_folded_and_brought_in(
    command: Command, case: str, text: str, note: str
) -> None:
    path = CASES / f"{case}.perf.txt"
    done = command.run("profile", "fold", "--raw", path)
    assert done.stdout == text
    assert note in done.stderr
    if note:
        given = ("profile", "import", path, "--tree", "web", "--group", "before")
        assert "a second event, sched:sched_switch" in command.run(*given, code=1).stderr
    else:
        assert brought_in(command, path) == text


def test_a_comment_between_stacks_is_none(command: Command) -> None:
    path = CASES / "30-comment-between.folded"
    assert brought_in(command, path) == "bench;sys_wait;do_wait 40\nbench;sys_wait;schedule 8\n"


@pytest.mark.parametrize(
    ("case", "raw", "right"),
    [
        ("52-hybrid-names", True, "bench;sys_wait;do_wait 990000\n"),
        (
            "53-deleted-program",
            True,
            "bench;main;[memfd:doublemapper (deleted)] 250000\nbench;main;spin 500000\n",
        ),
        ("54-records-first", True, "bench;sys_wait;do_wait 510000\n"),
        ("55-guest-and-vcpu", False, "CPU_*/KVM;sys_wait;do_wait 500000\n"),
        ("56-wall-clock", True, "bench;sys_wait;do_wait 510000\n"),
        ("57-lost-chunks", True, "bench;sys_wait;do_wait 250000\n"),
        (
            "58-io-uring-workers",
            False,
            "iou-sqp-*;sys_wait;do_wait 250000\niou-wrk-*;sys_wait;do_wait 750000\n",
        ),
        ("65-address-without-symbol", False, "bench;sys_write;[libc.so.6] 500000\n"),
    ],
)
def test_text_as_other_machines_print_it(
    command: Command, case: str, raw: bool, right: str
) -> None:
    options = ["--raw"] if raw else []
    path = CASES / f"{case}.perf.txt"
    assert command.run("profile", "fold", *options, path).stdout == right


def test_what_is_no_sample_is_told_with_its_line(command: Command) -> None:
    told = command.run("profile", "fold", CASES / "54-records-first.perf.txt").stderr
    assert "line 1: 'bench  4242/4242  [001]   100.000000: PERF_RECORD_COMM exec:" in told


def test_carriage_returns_alone_end_lines(command: Command) -> None:
    stacks = brought_in(command, CASES / "64-carriage-returns.folded")
    assert stacks == "load;copy;memcpy 40\nload;sys_unlink;do_unlink 8\n"


@pytest.mark.parametrize(
    ("case", "text"),
    [
        ("52-hybrid-names", "bench;sys_wait;do_wait 990000\n"),
        ("53-deleted-program",
         "bench;main;[memfd:doublemapper (deleted)] 250000\nbench;main;spin 500000\n"),
        ("55-guest-and-vcpu",
         "CPU_1/KVM;sys_wait;do_wait 250000\nCPU_3/KVM;sys_wait;do_wait 250000\n"),
        ("56-wall-clock", "bench;sys_wait;do_wait 510000\n"),
    ],
)  # fmt: skip
def test_what_perf_prints_beside_a_sample_changes_nothing_of_it(
    command: Command, case: str, text: str
) -> None:
    path = CASES / f"{case}.perf.txt"
    done = command.run("profile", "fold", "--raw", path)
    assert (done.stdout, done.stderr) == (text, "")
    assert brought_in(command, path) == text


@pytest.mark.parametrize(
    ("case", "text", "told", "refused"),
    [
        ("54-records-first", "bench;sys_wait;do_wait 510000\n",
         "3 lines that are neither sample nor frame were left out, with the frames behind them; "
         "the first is line 1: "
         "'bench  4242/4242  [001]   100.000000: PERF_RECORD_COMM",
         ":1: PERF_RECORD_COMM is no sample"),
        ("57-lost-chunks", "bench;sys_wait;do_wait 250000\n",
         "3 lines that are neither sample nor frame were left out, with the frames behind them; "
         "the first is line 1: "
         "'Warning:'",
         ":1: neither folded stacks nor what `perf script` prints"),
    ],
)  # fmt: skip
def test_records_and_messages_are_no_samples(
    command: Command, case: str, text: str, told: str, refused: str
) -> None:
    path = CASES / f"{case}.perf.txt"
    done = command.run("profile", "fold", "--raw", path)
    assert done.stdout == text
    assert told in done.stderr
    given = ("profile", "import", path, "--tree", "web", "--group", "before")
    assert f"{path}{refused}" in command.run(*given, code=1).stderr


def test_threads_of_io_uring_are_one_by_kind(command: Command) -> None:
    path = CASES / "58-io-uring-workers.perf.txt"
    text = "iou-sqp-*;sys_wait;do_wait 250000\niou-wrk-*;sys_wait;do_wait 750000\n"
    assert command.run("profile", "fold", path).stdout == text


def test_carriage_returns_alone_end_the_lines_of_folded_text(command: Command) -> None:
    path = CASES / "64-carriage-returns.folded"
    assert brought_in(command, path) == "load;copy;memcpy 40\nload;sys_unlink;do_unlink 8\n"


def test_an_address_without_a_symbol_is_no_function(command: Command) -> None:
    path = CASES / "65-address-without-symbol.perf.txt"
    # As stackcollapse-perf.pl counts it, and as it is named where profiles are compared.
    assert command.run("profile", "fold", "--raw", path).stdout == "bench;sys_write;  500000\n"
    named = "bench;sys_write;[libc.so.6] 500000\n"
    assert command.run("profile", "fold", path).stdout == named
    assert brought_in(command, path) == named
