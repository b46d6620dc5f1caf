"""Limits of a spec: what is stored of an experiment at its end."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, text

from mitigauge.analysis.verdicts import conclusions, limit_service
from mitigauge.analysis.verdicts.limit_schemas import ExperimentLimits
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


def ended(engine: Engine, *limits: str) -> int:
    """An experiment of two kernels, of which the second takes 3 % more of 100 ns."""
    suspicions(engine)
    confirm(engine, 40)
    if limits:
        lines = "".join(f"- {{{FIGURE}, {line}}}\n" for line in limits)
        change(
            engine, "update experiment set spec_text = spec_text || :more where id = "
            "(select max(experiment_id) from confirmation)", more=f"\nlimits:\n{lines}",
        )  # fmt: skip
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


def test_what_ends_is_judged_by_the_limits_of_its_spec_the_broken_first(engine: Engine) -> None:
    experiment = ended(
        engine, "at_most: 200", "at_most: 101, because: the budget", "worse_by_percent: 3",
        "worse_by_percent: 1, than: before", "worse_by_percent: 1, than: another",
    )  # fmt: skip
    found = outcome(engine, experiment)
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
    assert (first.because, first.emulated) == ("the budget", True)
    assert first.value == pytest.approx(103, abs=0.5)
    assert found.trouble == ""


def test_limits_of_other_figures_have_no_row_and_no_line(engine: Engine) -> None:
    experiment = ended(
        engine, "case: {test: fork}, at_most: 101", "host_class: nowhere, at_most: 1"
    )
    found = outcome(engine, experiment)
    assert found.judged_at is not None
    assert (found.rows, found.in_line) == ([], "")
    with transaction(engine) as session:
        assert limit_service.lines_of(session, [experiment, 99_999]) == {}


def test_a_judging_that_fails_keeps_no_experiment_from_its_end(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:

    def fail(*_: object) -> None:
        raise ZeroDivisionError("no boots at all")

    monkeypatch.setattr(limit_service, "figures_of", fail)
    experiment = ended(engine, "at_most: 101")
    found = outcome(engine, experiment)
    assert "ZeroDivisionError: no boots at all" in found.trouble
    with engine.connect() as connection:
        assert connection.scalar(
            text("select concluded_at is not null from experiment where id = :n"), {"n": experiment}
        )
        said = connection.scalars(
            text("select text from event where experiment_id = :n"), {"n": experiment}
        )
        assert any("not judged by its limits" in each for each in said)


def test_what_cannot_be_stored_keeps_no_experiment_from_its_end(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = limit_service._columns
    monkeypatch.setattr(
        limit_service, "_columns", lambda row: {**columns(row), "case_id": 2_000_000_000}
    )
    experiment = ended(engine, "at_most: 101")
    with engine.connect() as connection:
        assert connection.scalar(
            text("select headline <> '' from experiment where id = :n"), {"n": experiment}
        )
    assert outcome(engine, experiment).rows == []


def test_rows_that_are_too_many_are_counted_all_the_same(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limit_service, "MOST_ROWS", 1)
    found = outcome(engine, ended(engine, "at_most: 101", "at_most: 200"))
    assert [row.kept for row in found.rows] == ["fail"]
    assert (found.counts.broken, found.counts.kept) == (1, 3)


def test_a_revision_and_the_answer_to_its_thread_say_it_in_one_line(engine: Engine) -> None:
    experiment = ended(engine, "at_most: 101", "at_most: 200")
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


def test_the_week_says_what_was_broken(engine: Engine) -> None:
    ended(engine, "at_most: 101")
    week = Week(2026, 40)
    change(engine, "update limit_judgement set judged_at = :at", at=week.start)
    [broken] = [s for s in weekly.make(engine, week).document.sections if s.id == "limits"]
    assert broken.title == "Limits: 1 broken, 0 cannot be told"
    assert weekly.make(engine, week).version == 1
    other = weekly.make(engine, Week(2026, 41))
    assert [section for section in other.document.sections if section.id == "limits"] == []


def test_who_deletes_an_experiment_deletes_what_limits_said_of_it(engine: Engine) -> None:
    experiment = ended(engine, "at_most: 101")
    with engine.connect() as connection:
        rules = connection.execute(
            text(
                "select conrelid::regclass::text, confdeltype from pg_constraint"
                " where contype = 'f' and conrelid::regclass::text like 'limit_%'"
            )
        ).all()
    assert outcome(engine, experiment).rows
    assert {rule for _, rule in rules} == {"c"}


def test_a_spec_without_limits_is_judged_by_none(engine: Engine) -> None:
    found = outcome(engine, ended(engine))
    assert (found.judged_at, found.rows, found.in_line) == (None, [], "")


def test_limits_that_another_version_took_are_said_and_keep_nothing_from_its_end(
    engine: Engine,
) -> None:
    found = outcome(engine, ended(engine, "at_most: 101, at_least: 1"))
    assert "none that this version takes" in found.trouble
    assert found.rows == []


def test_who_judges_again_judges_by_the_same_limits(engine: Engine) -> None:
    experiment = ended(engine, "at_most: 101")
    conclusions.judge_again(engine, experiment)
    assert outcome(engine, experiment).counts.broken == 1
