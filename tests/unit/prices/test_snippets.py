"""Pieces of assembly against each other."""

from __future__ import annotations

import os
import random
from pathlib import Path
from statistics import median

import pytest

from mitigauge.analysis.prices.snippets import (
    History,
    SnippetRun,
    compare_snippets,
    more_than_first,
)
from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import REPOSITORY
from pipelines.adapters.price_probe import Probe, compiled
from pipelines.adapters.snippet import assembled
from tests.unit.prices.test_probe import run

SNIPPETS = REPOSITORY / "experiments" / "snippets"


def runs(
    first: float, second: float, spread: float, history: tuple[float, float, float]
) -> list[SnippetRun]:
    draw = random.Random(3)
    made = []
    for _ in range(60):
        base = draw.gauss(100.0, 1.0)
        a, b = draw.gauss(first, spread), draw.gauss(second, spread)
        timed = run("snippet", base, base + b, again=a)
        made.append(SnippetRun(timed, History(history_ns=history)))
    return made


def test_what_hides_less_is_said_to_however_fast_it_is() -> None:
    found = compare_snippets(runs(60.0, 6.0, 0.5, (0.2, 7.2, 1.6)))
    assert found.hidden
    assert found.hidden.mean == pytest.approx(0.2)
    assert found.hides_less
    assert not compare_snippets(runs(60.0, 6.0, 0.5, (0.2, 7.2, 7.1))).hides_less


def test_where_the_first_hides_nothing_nothing_is_told_of_the_second() -> None:
    found = compare_snippets(runs(60.0, 60.0, 0.5, (5.0, 5.3, 9.0)))
    assert found.hidden is None
    assert not found.hides_less


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    return compiled(tmp_path_factory.mktemp("tools"))


def test_every_snippet_of_ours_runs(probe: Probe, tmp_path: Path) -> None:
    codes = [assembled(source, tmp_path, source.stem) for source in sorted(SNIPPETS.glob("*.s"))]
    assert len(codes) >= 6
    cpu = min(os.sched_getaffinity(0))
    for code in codes:
        assert probe.compared(codes[0], code, 0.01, 1, cpu).timed.samples > 0


def test_one_pass_takes_less_than_eighty_four(probe: Probe, tmp_path: Path) -> None:
    long, short = (
        assembled(SNIPPETS / f"clear-{name}.s", tmp_path, name) for name in ("12x7", "1x1")
    )
    cpu = min(os.sched_getaffinity(0))
    timed = [probe.compared(long, short, 0.05, seed, cpu) for seed in range(5)]
    assert median(map(more_than_first, timed)) < -0.5


@pytest.mark.parametrize(("text", "said"), [
    ("nonsense %eax", "does not assemble: .*nonsense"),
    ("call somewhere_else", "refers to something outside"),
    ("mov somewhere(%rip), %eax", "refers to something outside"),
    ("", "has 0 bytes"),
    (".data\n.long 1", "has 0 bytes"),
    (".fill 40000, 1, 0x90", "has 40000 bytes"),
])  # fmt: skip
def test_what_is_no_piece_of_code_is_refused(tmp_path: Path, text: str, said: str) -> None:
    source = tmp_path / "it.s"
    source.write_text(text + "\n")
    with pytest.raises(InvalidInput, match=said):
        assembled(source, tmp_path, "it")


def test_a_file_that_is_not_there_and_a_name_that_looks_like_an_option(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is no file"):
        assembled(tmp_path / "none.s", tmp_path, "it")
    source = tmp_path / "-o.s"
    source.write_text("nop\n")
    assert assembled(source, tmp_path, "it").read_bytes() == b"\x90"


@pytest.mark.parametrize("text", ["ud2", "mov (0), %eax", "int3", "xor %esp, %esp\n push %rax"])
def test_a_piece_that_faults_is_refused_and_ends_nothing(
    probe: Probe, tmp_path: Path, text: str
) -> None:
    source = tmp_path / "it.s"
    source.write_text(text + "\n")
    bad = assembled(source, tmp_path, "it")
    good = assembled(SNIPPETS / "clear-5x5.s", tmp_path, "good")
    cpu = min(os.sched_getaffinity(0))
    with pytest.raises(InvalidInput, match="a snippet faults"):
        probe.compared(good, bad, 0.01, 1, cpu)
