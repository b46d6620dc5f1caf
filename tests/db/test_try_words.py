"""What `mitigauge try` says: counted time as instructions, and a spec that is one."""

from __future__ import annotations

import re
from email import message_from_bytes
from pathlib import Path

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from cli import try_patches as trying
from cli.try_outcome import CANNOT_TELL, RUNS, RUNS_NONE, _run_of, exact_answer, instructions
from cli.try_plan import BASE_ARM, GUESTS_HOST, HOST, spec_of
from mitigauge.analysis.profiles.exact.schemas import ExactFunctionRow, ExactTable
from mitigauge.kernels.schemas import KernelView
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.experiments.spec_faults import KnownHost
from mitigauge.reporting.pages import experiments as views
from tests.recording import load
from tests.series_mails import diff, mailbox, raw_series
from tests.web.exact_made import count_exactly


def kernel(release: str) -> KernelView:
    return KernelView.model_construct(release=release)


def test_a_difference_is_said_in_instructions(engine: Engine) -> None:
    load(engine)
    with Session(engine) as session:
        view = views.show_experiment(session, 1)
    lines = list(instructions(view))
    basic = next(line for line in lines if line.startswith("syscall basic"))
    said = re.search(r"([+-][\d.]+) instructions a call \[([+-][\d.]+), ([+-][\d.]+)\]", basic)
    assert said, basic
    row = next(r for c in view.comparisons for r in c.rows if r.case == "syscall basic")
    off, loop = (cell.mean for cell in row.cells[:2])
    assert off
    assert loop
    # Two nanoseconds an instruction.
    assert float(said[1]) == pytest.approx((loop - off) / 2, abs=0.1)
    assert float(said[2]) < float(said[1]) < float(said[3])
    assert basic.endswith(f": {row.cells[1].verdict}")


def answered(engine: Engine, *, boots: int, changed: list[str]) -> list[str]:
    """The exact answer of the recorded experiment, of which so many boots an arm were counted."""
    load(engine)
    count_exactly(engine)
    with engine.begin() as connection:
        connection.execute(
            text(
                "delete from exact_count using boot where boot.id = exact_count.boot_id "
                "and boot.block > :boots"
            ),
            {"boots": boots},
        )
    with Session(engine) as session:
        view = views.show_experiment(session, 1)
        return list(exact_answer(session, view, "loop", changed))


def test_one_boot_tells_what_the_patches_change_and_no_more(engine: Engine) -> None:
    lines = answered(engine, boots=1, changed=["do_syscall_64"])
    assert "syscall basic: exactly +10 instructions an operation in do_syscall_64" in lines
    assert not [line for line in lines if "clear_bhb_loop" in line or "predicted" in line]
    assert [line for line in lines if "1 function that the patches do not change" in line]


def test_two_boots_tell_every_function_that_differs(engine: Engine) -> None:
    lines = answered(engine, boots=2, changed=["do_syscall_64"])
    assert [line for line in lines if "+120 instructions an operation in clear_bhb_loop" in line]
    # Three of the processors whose prices are known, whichever machine this is.
    assert sum(line.startswith("syscall basic: predicted for") for line in lines) == 3
    assert [line for line in lines if "more processors are known" in line]


@pytest.mark.parametrize(
    ("changed", "said"),
    [(["do_syscall_64"], RUNS), (["sched_fork"], CANNOT_TELL), ([], CANNOT_TELL)],
    ids=["one of its functions", "none, and yet it differs", "not known"],
)
def test_a_case_is_said_to_run_nothing_of_it_only_where_nothing_differs(
    engine: Engine, changed: list[str], said: str
) -> None:
    lines = answered(engine, boots=2, changed=changed)
    assert [line for line in lines if line.startswith("cases") and "syscall basic" in line] == [
        next(line for line in lines if line.startswith(f"{said}: syscall basic"))
    ]


def test_a_case_that_is_alike_and_runs_no_changed_function_runs_none() -> None:
    row = ExactFunctionRow.model_construct(function="do_syscall_64", exact=0)
    alike = ExactTable.model_construct(functions=[row], exact=0, left_out=0)
    assert _run_of(alike, ["sched_fork"]) == RUNS_NONE
    for doubt in ({"left_out": 1}, {"exact": 40}):
        assert _run_of(alike.model_copy(update=doubt), ["sched_fork"]) == CANNOT_TELL
    assert _run_of(alike, ["do_syscall_64"]) == RUNS


def test_one_boot_has_no_interval(engine: Engine) -> None:
    load(engine)
    with engine.begin() as connection:
        connection.execute(text("update verdict set ci_low_percent = null, ci_high_percent = null"))
    with Session(engine) as session:
        lines = list(instructions(views.show_experiment(session, 1)))
    assert lines
    assert all(line.endswith("no interval from one boot") for line in lines)


@pytest.mark.parametrize("profiled", [True, False])
@pytest.mark.parametrize("exits", [True, False])
def test_the_spec_it_makes_is_one(*, profiled: bool, exits: bool) -> None:
    releases = ["7.2.12-mg0123456789", "7.2.12-mgabcdef0123"]
    cases = [case for case in trying.CASES if exits or case.host != GUESTS_HOST]
    spec_text = spec_of(cases, *map(kernel, releases), 4, profiled=profiled)
    hosts = {
        "lab": {
            HOST: KnownHost(HOST, frozenset()),
            GUESTS_HOST: KnownHost(GUESTS_HOST, frozenset({"kvm"})),
        }
    }
    spec = read_spec(spec_text, name="try", catalog=Catalog(), hosts=hosts)
    assert len(spec.comparisons) == 1 + exits
    for comparison in spec.comparisons:
        assert [arm.kernel for arm in comparison.arms] == releases
        assert comparison.baseline == BASE_ARM
    measured = [w for c in spec.comparisons for w in c.workloads]
    assert [w.workload for w in measured if w.profile] == ["syscall"] * profiled
    assert {w.workload for w in measured} >= {"syscall", "paths"}


def test_the_answer_to_what_was_tried_goes_to_its_thread(
    engine: Engine,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load(engine)
    monkeypatch.setattr("mitigauge.storage.database.engine.get_engine", lambda: engine)
    mails = tmp_path / "v2.mbox"
    mails.write_bytes(mailbox(raw_series(2, [diff("toys/one.c", "a", "b")])))
    revision = trying._revision([str(mails)], "https://lists.example.org/all")
    assert revision is not None
    label, patches = trying._patches([str(mails)], revision)
    assert (label, len(patches)) == ("v2", 1)
    done = trying.TryOutcome(1, tmp_path / "report.md", finished=True, code=0)
    trying._write_answer(revision, done, "https://lists.example.org/all")
    assert "not sent" in capsys.readouterr().out
    answer = message_from_bytes((tmp_path / "report.mail").read_bytes())
    assert answer["In-Reply-To"] == "<v2-0@example.org>"
    assert answer["To"] == "Author One <one@example.org>, list@example.org"
    assert "syscall basic" in answer.get_payload()


def test_patches_without_mails_are_tried_without_an_answer(tmp_path: Path) -> None:
    patch = tmp_path / "mend.patch"
    patch.write_text(diff("toys/one.c", "a", "b"))
    assert trying._revision([str(patch)], "") is None
    label, patches = trying._patches([str(patch)], None)
    assert (label, len(patches)) == ("mend", 1)
