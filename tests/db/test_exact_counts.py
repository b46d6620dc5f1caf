"""Exact counts: taken from a job's archive, stored once, compared between arms."""

from __future__ import annotations

import hashlib
import io
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from mitigauge.analysis.profiles.diff.sides import Selection
from mitigauge.analysis.profiles.exact.coverage import CountedCase, case_key
from mitigauge.analysis.profiles.exact.ledger import Ledger
from mitigauge.analysis.profiles.exact.reach import coverage, newest_counts
from mitigauge.analysis.profiles.exact.service import CountedPass, store_counts
from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.settings import get_settings
from mitigauge.reporting.pages import exact as pages_exact
from mitigauge.reporting.pages.exact import exact_difference, price_list
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import blob_store
from pipelines.steps.measure import CaseOutput, collect
from tests.crash.job_archive import packed
from tests.fuzz.builders import spin_case
from tests.made import Made, make
from tests.specs import CATALOG
from tests.unit.exact.ledgers import function, ledger
from tests.unit.exact.test_reading import REAL

CASE = {
    "case_id": "1", "workload": "spin", "parameters": {"size": 1}, "iterations": 3, "warmup": 1,
    "timeout_s": 30, "profile_hz": None, "exact": True,
}  # fmt: skip
PASS = {f"exact/{path.name}": path.read_bytes() for path in REAL.iterdir()}


def taken(tmp_path: Path, files: dict[str, bytes]) -> CaseOutput:
    """What is taken in of a job whose case left these files besides."""
    archive = tmp_path / "job.tar.gz"
    archive.write_bytes(packed("j", [CASE], files=files))
    [output] = collect(archive, [spin_case(profile_hz=None)], CATALOG)
    assert output.state == "measured"
    return output


def test_a_counted_pass_is_read_and_its_windows_are_kept_by_their_hash(
    tmp_path: Path, home: Path
) -> None:
    output = taken(tmp_path, PASS)
    assert output.counted is not None
    assert output.counted.ledger is not None
    assert output.counted.ledger.operations == 300_000
    assert output.raw_sha256
    with tarfile.open(
        fileobj=io.BytesIO(blob_store(get_settings()).read(output.raw_sha256))
    ) as tar:
        names = tar.getnames()
    assert "1/exact/exact.json" in names
    assert not [name for name in names if "window" in name]


def test_a_pass_that_cannot_be_read_costs_no_figure(tmp_path: Path, home: Path) -> None:
    output = taken(tmp_path, PASS | {"exact/window-1.z": b"torn"})
    assert output.result is not None
    assert output.counted is not None
    assert (output.counted.ledger, output.profile_error) == (None, "")
    assert output.counted.detail


def test_without_a_counted_pass_nothing_is_said_of_one(tmp_path: Path, home: Path) -> None:
    assert taken(tmp_path, {}).counted is None


def boots(engine: Engine) -> list[tuple[int, int, int]]:
    """(boot, arm, block) in order."""
    with engine.connect() as connection:
        rows = connection.execute(text("select id, arm_id, block from boot order by id"))
        return [tuple(row) for row in rows]


def counted_boot(more: int) -> Ledger:
    """A boot whose operation runs so many nops in its entry."""
    lines = {"push": 1, **{f"nop{number}": 1 for number in range(more)}, "ret": 1}
    return ledger(function("enter", lines), function("tick", {"inc": 0.4}))


def counted(engine: Engine) -> Made:
    """A made experiment whose second arm runs ten instructions more, in two boots an arm."""
    made = make(engine)
    baseline = min(arm for _, arm, _ in boots(engine))
    with transaction(engine) as session:
        for boot, arm, block in boots(engine):
            if block <= 2:
                found = CountedPass(counted_boot(0 if arm == baseline else 10))
                store_counts(session, boot, 1, found)
    return made


def sides(engine: Engine, made: Made) -> tuple[Selection, Selection]:
    """Both arms of the first case."""
    with engine.connect() as connection:
        host = connection.scalar(
            text("select h.name from host h join run r on r.host_id = h.id where r.id = :run"),
            {"run": made.run},
        )
        names = connection.scalars(text("select name from arm order by position")).all()
    one, other = (Selection(made.experiment, 1, str(host), name) for name in names[:2])
    return one, other


def test_arms_are_compared_to_the_instruction(engine: Engine) -> None:
    made = counted(engine)
    with transaction(engine) as session:
        table = exact_difference(session, *sides(engine, made), function="enter")
    assert (table.exact, table.a.boots, table.b.boots) == (10, 2, 2)
    assert [(row.function, row.exact) for row in table.functions if row.exact] == [("enter", 10)]
    assert sum(row.mark == "new" for row in table.instructions) == 10


def test_boots_that_do_not_count_are_left_out(engine: Engine) -> None:
    made = counted(engine)
    with engine.begin() as connection:
        connection.execute(text("update boot set state = 'not_effective' where block = 1"))
    with transaction(engine) as session:
        table = exact_difference(session, *sides(engine, made))
    assert (table.a.boots, table.b.boots) == (1, 1)


def test_a_pass_that_failed_is_kept_with_its_reason(engine: Engine) -> None:
    made = make(engine)
    with transaction(engine) as session:
        for boot, _, block in boots(engine):
            if block == 1:
                store_counts(session, boot, 1, CountedPass(detail="marks: no answer"))
        table = exact_difference(session, *sides(engine, made))
    assert "marks: no answer" in table.why_none


def test_the_first_counts_of_a_boot_stay(engine: Engine) -> None:
    made = counted(engine)
    with transaction(engine) as session:
        for boot, _, _ in boots(engine)[:4]:
            store_counts(session, boot, 1, CountedPass(counted_boot(99)))
        assert exact_difference(session, *sides(engine, made)).exact == 10


def test_other_cases_and_arms_are_refused_by_name(engine: Engine) -> None:
    made = counted(engine)
    one, other = sides(engine, made)
    with transaction(engine) as session:
        with pytest.raises(InvalidInput, match="different cases"):
            exact_difference(session, one, Selection(made.experiment, 2, one.host, other.arm))
        with pytest.raises(NotFound, match="no arm 'x'"):
            exact_difference(session, one, Selection(made.experiment, 1, one.host, "x"))


def test_predictions_for_this_machine_and_for_whom_is_asked_stand_first(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = counted(engine)
    monkeypatch.setattr(pages_exact, "_processors_here", lambda: ("amd-26-2-1",))
    with transaction(engine) as session:
        both = sides(engine, made)
        asked = exact_difference(session, *both, processors=["zen", "skylake-2018"])
        assert [each.processor for each in asked.predictions[:3]] == [
            "amd-26-2-1", "zen", "skylake-2018",
        ]  # fmt: skip
        assert len(asked.predictions) == len(price_list().processors)
        with pytest.raises(NotFound, match="no prices of 'nobody'"):
            exact_difference(session, *both, processors=["nobody"])


def test_this_machine_is_known_by_number_and_flags(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By both numbers and all flags: one flag less is another processor."""
    told = "vendor_id: AuthenticAMD\ncpu family: 26\nmodel: 2\nstepping: 1\nflags: {}\n"
    flags = "fpu vme de"
    digest = hashlib.sha256(" ".join(sorted(flags.split())).encode()).hexdigest()
    known = price_list()
    file = known.processors["amd-26-2-1"]
    assert file.identity
    alike = file.model_copy(update={"identity": file.identity.model_copy(update={"flags": digest})})
    monkeypatch.setattr(
        pages_exact, "price_list", lambda: replace(known, processors={"amd-26-2-1": alike})
    )
    here = tmp_path / "cpuinfo"
    monkeypatch.setattr(pages_exact, "CPUINFO", here)
    for text_, found in ((flags, ("amd-26-2-1",)), ("fpu vme", ())):
        here.write_text(told.format(text_))
        pages_exact._processors_here.cache_clear()
        assert pages_exact._processors_here() == found
    here.unlink()
    pages_exact._processors_here.cache_clear()
    assert pages_exact._processors_here() == ()
    pages_exact._processors_here.cache_clear()


def test_what_a_case_ran_last_is_its_coverage(engine: Engine) -> None:
    counted(engine)
    with transaction(engine) as session:
        newest = max(boot for boot, _, block in boots(engine) if block == 3)
        store_counts(session, newest, 1, CountedPass(ledger(function("leave", {"ret": 1}))))
        row = session.execute(
            text("""
                select c.workload, c.parameters, a.family || '/' || a.mode as mode,
                    h.environment, h.name
                from boot b join arm a on a.id = b.arm_id join run r on r.id = b.run_id
                    join host h on h.id = r.host_id, benchmark_case c
                where c.id = 1 and b.id = :boot
            """),
            {"boot": newest},
        ).one()
        asked = CountedCase(
            row.workload, case_key(row.parameters), row.mode, row.environment, row.name
        )
        others = [
            replace(asked, mode="nothing/else"), replace(asked, host="other"),
            replace(asked, parameters="{}"),
        ]  # fmt: skip
        counts = newest_counts(session, {asked, *others})
        found = coverage(session, counts)
        assert coverage(session, counts)[asked][0].functions == {"leave"}
        # What was stored before has its ledger alone.
        session.execute(text("update exact_count set run_code = null"))
        assert coverage(session, counts) == found
    assert list(found) == [asked]
    assert found[asked][0].functions == {"leave"}
