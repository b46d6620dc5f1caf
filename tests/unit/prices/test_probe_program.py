"""The timing program as it runs: compiled here, on the processor that is here."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mitigauge.analysis.prices.definitions import INSTRUCTION, Processor
from mitigauge.analysis.prices.probe import BILLED, CHECK, HELPERS, ProbeRun
from mitigauge.core.errors import NotReady
from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog, read_definition
from pipelines.adapters import price_probe
from pipelines.adapters.price_probe import Probe, ProbeFailed, compiled, time_all

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="events of x86")


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    return compiled(tmp_path_factory.mktemp("tools"))


def children(probe: Probe) -> set[str]:
    """Processes of this copy of the program that live."""
    named = subprocess.run(["pgrep", "-f", str(probe.file)], capture_output=True, check=False)
    return set(named.stdout.decode().split())


def test_each_event_of_the_program_has_a_file_or_a_use(probe: Probe) -> None:
    known = {INSTRUCTION, *Catalog().events}
    for event in probe.listed():
        if event.event.startswith(CHECK):
            assert event.bill
            assert event.parts.keys() <= known
        elif event.event not in HELPERS:
            assert BILLED.get(event.event, event.event) in known
            assert not event.bill


def test_every_event_is_timed_or_refused_with_a_reason_and_leaves_nobody(probe: Probe) -> None:
    before = children(probe)
    for event in probe.listed():
        run = probe.timed(event.event, 0.01, seed=7, cpu=min(os.sched_getaffinity(0)))
        assert run.event == event.event
        if run.refused:
            continue
        assert run.samples > 0
        assert run.times == event.times
        assert run.cycle_ns[0] > 0
    deadline = time.monotonic() + 10
    while children(probe) - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert children(probe) - before == set()


def test_what_takes_longer_is_seen_to_take_longer(probe: Probe) -> None:
    """12 x 7 passes have three times the branches of 5 x 5."""
    cpu = min(os.sched_getaffinity(0))
    short, long = (
        min(probe.timed(event, 0.1, seed, cpu).difference for seed in range(5))
        for event in ("bhb-short", "bhb-long")
    )
    assert 1.5 < long / short < 6


def test_branches_behind_an_event_run_in_all_ways(probe: Probe) -> None:
    words = ["system-call", "0.02", "1", "0"]
    alone, followed = (
        ProbeRun.model_validate_json(
            subprocess.run([probe.file, *words, *more], capture_output=True, check=True).stdout
        )
        for more in ((), ("indirect", "1024"))
    )
    assert alone.without
    assert followed.without
    assert followed.without.low > 100 * alone.without.low


def test_a_branch_costs_more_where_the_processor_forgot_it(probe: Probe) -> None:
    """By more than ten times what nothing adds; a jump to where it always went costs a cycle.

    Of three runs the clearest: other load on the machine hides the effect in single ones.
    """
    cpu = min(os.sched_getaffinity(0))
    runs = [
        probe.timed("branch-eviction", 0.1, seed, cpu, behind=("indirect", 1024))
        for seed in range(3)
    ]
    clearest = max(run.difference for run in runs)
    assert clearest > 1024 * runs[0].cycle_ns[0]
    assert min(abs(run.null) for run in runs) < 0.1 * clearest


@pytest.mark.parametrize("behind", [("taken", 0), ("taken", 1 << 20), ("calls", 4), ("mixed", -1)])
def test_what_cannot_follow_an_event_is_refused(probe: Probe, behind: tuple[str, int]) -> None:
    assert "how many" in probe.timed("bhb-long", 0.01, 1, 0, behind=behind).refused


@pytest.mark.parametrize(
    "words", [["nothing", "1", "1", "0"], ["lfence"], [], ["lfence", "1", "1"]]
)
def test_words_that_are_none_end_with_how_to_call_it(probe: Probe, words: list[str]) -> None:
    done = subprocess.run([probe.file, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage: probe list" in done.stderr


def test_a_processor_that_is_not_there_is_refused(probe: Probe) -> None:
    assert "sched_setaffinity" in probe.timed("lfence", 0.01, 1, cpu=900).refused


# prctl and seccomp by number, as the kernel's headers for x86-64 have them.
PRCTL_CALL, SECCOMP_CALL = 157, 317
FORBID = (
    (0x20, 0, 0, 0),  # the call's number
    (0x15, 0, 1, PRCTL_CALL),
    (0x06, 0, 0, 0x00050001),  # EPERM
    (0x06, 0, 0, 0x7FFF0000),
)


def forbid_prctl() -> None:
    """As a container's filter does: this process may not call prctl any more."""
    code = b"".join(struct.pack("HBBI", *each) for each in FORBID)
    kept = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxP", len(FORBID), ctypes.addressof(kept))
    libc = ctypes.CDLL(None)
    libc.prctl(38, 1, 0, 0, 0)
    assert libc.syscall(SECCOMP_CALL, 1, 0, program) == 0


@pytest.mark.parametrize("event", ["ibpb", "ssbd-switch", "seccomp-filter", "l1d-flush"])
def test_a_container_that_forbids_prctl_is_told_and_nothing_hangs(probe: Probe, event: str) -> None:
    done = subprocess.run(
        [probe.file, event, "0.05", "1", "0"], capture_output=True, text=True, timeout=30,
        check=True, preexec_fn=forbid_prctl,
    )  # fmt: skip
    refused = ProbeRun.model_validate_json(done.stdout).refused
    assert "Operation not permitted (PR_SET" in refused or "not allowed here (prctl)" in refused


def pretended(tmp_path: Path, script: str) -> Probe:
    file = tmp_path / "pretended"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return Probe(file, "0" * 64)


@pytest.mark.parametrize(("script", "said"), [
    ("echo nonsense", "no figure: 'nonsense"),
    ("echo oh no >&2; exit 3", "ended with 3 for lfence 0.010 1 0: 'oh no"),
    ("head -c 100000 /dev/zero | tr '\\0' x", "no figure"),
    ("kill -SEGV $$", "ended with -11"),
])  # fmt: skip
def test_a_program_that_does_otherwise_is_an_error_for_people(
    tmp_path: Path, script: str, said: str
) -> None:
    with pytest.raises(ProbeFailed, match=said):
        pretended(tmp_path, script).timed("lfence", 0.01, 1, 0)


def test_a_program_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(price_probe, "MARGIN_S", 0.2)
    with pytest.raises(ProbeFailed, match="did not end within"):
        pretended(tmp_path, "exec sleep 60").timed("lfence", 0.01, 1, 0)


def test_without_a_compiler_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotReady, match="no C compiler") as told:
        compiled(tmp_path / "tools")
    assert "gcc" in told.value.hint
    assert list((tmp_path / "tools").iterdir()) == []


def test_all_events_are_timed_as_often_and_refused_ones_once(probe: Probe) -> None:
    told: list[tuple[int, int]] = []
    listed, runs = time_all(
        probe, seconds=1, processes=2, seed=1, progress=lambda done, of: told.append((done, of))
    )
    assert runs.keys() == {event.event for event in listed}
    for of in runs.values():
        assert len(of) == (1 if of[0].refused else 2)
    number = 2 * sum(not of[0].refused for of in runs.values())
    assert told == [(done, number) for done in range(number)]


@pytest.mark.long("the events are timed for five seconds")
def test_the_command_writes_a_file_that_is_read_or_says_why_it_has_nothing(tmp_path: Path) -> None:
    words = [
        "price",
        "measure",
        "--here",
        "--seconds",
        "5",
        "--processes",
        "5",
        "-o",
        str(tmp_path),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", *words], cwd=REPOSITORY, capture_output=True, text=True,
        env={**os.environ, "MITIGAUGE_HOME": str(tmp_path / "home"), "COLUMNS": "200"}, check=False,
    )  # fmt: skip
    files = list(tmp_path.glob("*.yml"))
    if done.returncode:
        # Beside enough other load no figure stands.
        assert "nothing was written: no event has a usable price" in done.stderr
        assert files == []
        return
    [file] = files
    processor = read_definition(file, Processor, tmp_path)
    assert [machine.machine for machine in processor.machines] == ["first"]
    for price in processor.prices:
        assert f"{price.event} " in done.stdout
    for event, why in processor.machines[0].refused.items():
        assert event in done.stdout
        assert why
