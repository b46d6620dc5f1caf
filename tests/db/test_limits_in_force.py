"""Limits in force: what is stored of an experiment at its end, and what is left as it was."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, text

from mitigauge.analysis.verdicts import conclusions, limit_service
from mitigauge.analysis.verdicts.limit_schemas import ExperimentLimits
from mitigauge.core.errors import Conflict, InvalidInput, NotFound
from mitigauge.reporting.letters.reply.service import answer
from mitigauge.reporting.letters.weekly import service as weekly
from mitigauge.reporting.letters.weekly.week import Week
from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.regressions.confirmation_service import confirm
from mitigauge.tracking.series.listing import revision_view, view_of
from mitigauge.tracking.series.schemas import Recipients
from mitigauge.tracking.series.service import find_revision
from tests.api.test_series import stored
from tests.confirmations_made import LEVEL, run_experiments, suspicions

FIGURE = "workload: syscall, metric: time_per_call"


def set_limits(engine: Engine, *lines: str, name: str = "ours") -> None:
    rows = "".join(f"- {{{FIGURE}, {line}}}\n" for line in lines)
    with transaction(engine) as session:
        limit_service.set_limits(
            session, f"limits: {name}\nlines:\n{rows}", name="limits.yml", by="mira"
        )


def ended(engine: Engine) -> int:
    """An experiment of two kernels, of which the second takes 3 % more of 100 ns."""
    suspicions(engine)
    confirm(engine, 40)
    run_experiments(engine, {"before": LEVEL, "after": 1.03 * LEVEL})
    with engine.connect() as connection:
        return int(
            connection.scalar(
                text("select experiment_id from confirmation where experiment_id is not null")
            )
        )


def outcome(engine: Engine, experiment: int) -> ExperimentLimits:
    with transaction(engine) as session:
        return limit_service.show_outcome(session, experiment)


def change(engine: Engine, statement: str, **values: object) -> None:
    with engine.begin() as connection:
        connection.execute(text(statement), values)


def test_what_ends_is_judged_by_what_is_in_force_the_broken_first(engine: Engine) -> None:
    set_limits(
        engine, "at_most: 200", "at_most: 101, because: the budget", "worse_by_percent: 3",
        "worse_by_percent: 1, than: before", "worse_by_percent: 1, than: another",
    )  # fmt: skip
    found = outcome(engine, ended(engine))
    assert [(row.kept, row.line, row.arm) for row in found.rows] == [
        ("fail", 2, "after"),
        ("fail", 4, "after"),
        ("cannot_tell", 3, "after"),
        ("pass", 1, "before"),
        ("pass", 1, "after"),
        ("pass", 2, "before"),
    ]
    assert found.counts.model_dump() == {"broken": 2, "cannot_tell": 1, "kept": 3}
    assert found.in_line.startswith("limits: 2 broken, 1 cannot tell of 6: syscall/time_per_call")
    first = found.rows[0]
    assert (first.file, first.because, first.emulated) == ("ours", "the budget", True)
    assert first.value == pytest.approx(103, abs=0.5)
    assert found.trouble == ""


def test_without_limits_nothing_is_stored_and_those_of_later_say_nothing(engine: Engine) -> None:
    experiment = ended(engine)
    assert outcome(engine, experiment).judged_at is None
    set_limits(engine, "at_most: 101")
    conclusions.conclude_closed(engine)
    found = outcome(engine, experiment)
    assert (found.judged_at, found.rows, found.in_force) == (None, [], 1)
    with transaction(engine) as session:
        anew = limit_service.judge_anew(session, experiment)
    assert (anew.counts.broken, anew.counts.kept) == (1, 1)
    assert outcome(engine, experiment) == anew


def test_what_was_said_stays_when_a_file_changes_or_ends(engine: Engine) -> None:
    set_limits(engine, "at_most: 101")
    experiment = ended(engine)
    before = outcome(engine, experiment)
    set_limits(engine, "at_most: 500")
    with transaction(engine) as session:
        limit_service.remove_limits(session, "ours")
    after = outcome(engine, experiment)
    assert (after.rows, after.judged_at) == (before.rows, before.judged_at)
    with transaction(engine) as session:
        limit_service.judge_anew(session, experiment)
    assert outcome(engine, experiment).judged_at is None


def test_limits_of_other_figures_have_no_row_and_no_line(engine: Engine) -> None:
    set_limits(engine, "case: {test: fork}, at_most: 101", "host_class: nowhere, at_most: 1")
    experiment = ended(engine)
    found = outcome(engine, experiment)
    assert found.judged_at is not None
    assert (found.rows, found.in_line) == ([], "")
    with transaction(engine) as session:
        assert limit_service.lines_of(session, [experiment, 99_999]) == {}


def test_a_judging_that_fails_keeps_no_experiment_from_its_end(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(engine, "at_most: 101")

    def fail(*_: object) -> None:
        raise ZeroDivisionError("no boots at all")

    monkeypatch.setattr(limit_service, "figures_of", fail)
    experiment = ended(engine)
    found = outcome(engine, experiment)
    assert "ZeroDivisionError: no boots at all" in found.trouble
    with engine.connect() as connection:
        assert connection.scalar(
            text("select concluded_at is not null from experiment where id = :n"), {"n": experiment}
        )
        said = connection.scalars(
            text("select text from event where experiment_id = :n"), {"n": experiment}
        )
        assert any("not judged by all limits" in each for each in said)


def test_what_cannot_be_stored_keeps_no_experiment_from_its_end(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(engine, "at_most: 101")
    columns = limit_service._columns
    monkeypatch.setattr(
        limit_service, "_columns", lambda row: {**columns(row), "case_id": 2_000_000_000}
    )
    experiment = ended(engine)
    with engine.connect() as connection:
        assert connection.scalar(
            text("select headline <> '' from experiment where id = :n"), {"n": experiment}
        )
    assert outcome(engine, experiment).rows == []


def test_a_file_that_another_version_wrote_is_named_and_the_others_hold(engine: Engine) -> None:
    set_limits(engine, "at_most: 101", name="old")
    set_limits(engine, "at_most: 101", name="young")
    change(engine, "update limit_file set text = 'limits: old\nlines: []' where name = 'old'")
    found = outcome(engine, ended(engine))
    assert {row.file for row in found.rows} == {"young"}
    assert "old.yml:2: lines" in found.trouble


def test_rows_that_are_too_many_are_counted_all_the_same(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limit_service, "MOST_ROWS", 1)
    set_limits(engine, "at_most: 101", "at_most: 200")
    found = outcome(engine, ended(engine))
    assert [row.kept for row in found.rows] == ["fail"]
    assert (found.counts.broken, found.counts.kept) == (1, 3)


def test_who_judges_again_judges_by_the_limits_in_force(engine: Engine) -> None:
    experiment = ended(engine)
    set_limits(engine, "at_most: 101")
    conclusions.judge_again(engine, experiment)
    assert outcome(engine, experiment).counts.broken == 1


def test_what_is_refused_changes_nothing(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(engine, "at_most: 101")
    wrong = "limits: ours\nlines:\n- {workload: syscall, metric: nothing, at_most: 1}\n"
    said = r"limits\.yml:3: lines\.0\.metric: syscall has no"
    with pytest.raises(InvalidInput, match=said), transaction(engine) as session:
        limit_service.set_limits(session, wrong, name="limits.yml", by="mira")
    with transaction(engine) as session:
        assert "at_most: 101" in limit_service.show_limits(session, "ours").text
    monkeypatch.setattr(limit_service, "MOST_FILES", 1)
    set_limits(engine, "at_most: 102")
    with pytest.raises(Conflict, match="1 files of limits are in force"):
        set_limits(engine, "at_most: 101", name="others")


def test_an_experiment_that_runs_or_is_not_there_cannot_be_judged(engine: Engine) -> None:
    suspicions(engine)
    confirm(engine, 40)
    with engine.connect() as connection:
        running = connection.scalar(text("select max(id) from experiment"))
    with transaction(engine) as session, pytest.raises(Conflict, match="is not over"):
        limit_service.judge_anew(session, running)
    with transaction(engine) as session, pytest.raises(NotFound):
        limit_service.judge_anew(session, 99_999)


def test_a_revision_and_the_answer_to_its_thread_say_it_in_one_line(engine: Engine) -> None:
    set_limits(engine, "at_most: 101", "at_most: 200")
    experiment = ended(engine)
    stored(engine)
    change(
        engine, "update series_revision set experiment_id = :n, message_id = 'a@b'", n=experiment
    )
    with transaction(engine) as session:
        revision = find_revision(session, "bhb", "")
        revision.recipients = Recipients(
            subject="toys", to=["list@example.org"], cc=[], references=[]
        )
        view = revision_view(session, revision)
        whole = view_of(session, revision.series)
        body = str(answer(session, revision, sender="us@example.org").get_content())
    assert view.limits.startswith("limits: 1 broken of 4: syscall/time_per_call at most 101 ns: ")
    assert {each.limits for each in whole.revisions} == {view.limits}
    assert view.limits in " ".join(body.split())


def test_the_week_says_what_was_broken_and_stays_when_somebody_judges_anew(engine: Engine) -> None:
    set_limits(engine, "at_most: 101")
    experiment = ended(engine)
    week = Week(2026, 40)
    change(engine, "update limit_judgement set judged_at = :at", at=week.start)
    [broken] = [s for s in weekly.make(engine, week).document.sections if s.id == "limits"]
    assert broken.title == "Limits: 1 broken, 0 cannot be told"
    with transaction(engine) as session:
        limit_service.judge_anew(session, experiment)
    assert weekly.make(engine, week).version == 1
    other = weekly.make(engine, Week(2026, 41))
    assert [section for section in other.document.sections if section.id == "limits"] == []


def test_who_deletes_an_experiment_deletes_what_limits_said_of_it(engine: Engine) -> None:
    set_limits(engine, "at_most: 101")
    experiment = ended(engine)
    with engine.connect() as connection:
        rules = connection.execute(
            text(
                "select conrelid::regclass::text, confdeltype from pg_constraint"
                " where contype = 'f' and conrelid::regclass::text like 'limit_%'"
            )
        ).all()
    assert outcome(engine, experiment).rows
    assert {rule for _, rule in rules} == {"c"}
