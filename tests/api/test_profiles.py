"""Profiles over the API: stored once, compared by boots, refused clearly."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, func, select, update
from sqlalchemy.orm import Session
from typer.testing import CliRunner

from cli.profile import app as command
from mitigauge.analysis.profiles.capture.capture import Pass
from mitigauge.analysis.profiles.diff import draw
from mitigauge.analysis.profiles.diff.function_table import function_table
from mitigauge.analysis.profiles.diff.payload import DiffHeader
from mitigauge.analysis.profiles.diff.sides import Selection
from mitigauge.analysis.profiles.store.export import folded_group
from mitigauge.analysis.profiles.store.pack import unpacked
from mitigauge.analysis.profiles.store.service import store_boot_profile, store_imported
from mitigauge.analysis.profiles.store.tables import FrameSymbol, FrameTree, Profile, digest_of
from mitigauge.core.errors import InvalidInput
from mitigauge.kernels import renames
from mitigauge.kernels import service as kernel_service
from mitigauge.kernels.service import Built
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Boot
from mitigauge.reporting.pages.profiles import case_sides
from mitigauge.storage.database.engine import transaction
from tests.postgres import filled

BASE = {b"bench;syscall;do_syscall_64": 1000, b"bench;main": 500, b"swapper;default_idle": 9000}
LOOP = {**BASE, b"bench;syscall;do_syscall_64;clear_bhb_loop": 400}


def stored_in(session: Session, experiment_id: int, *, system: str = "host") -> int:
    """Give every boot of the first case a profile; returns the case."""
    experiment = experiment_rows.experiment(session, experiment_id)
    case = experiment.comparisons[0].cases[0]
    for boot in run_rows.boots_of(
        session, [run.id for run in run_rows.runs_of(session, experiment_id)]
    ):
        boot.state = BootState.EFFECTIVE
        stacks = LOOP if boot.arm.name == "on" else BASE
        jitter = {stack: count + 3 * boot.block for stack, count in stacks.items()}
        store_boot_profile(
            session, boot_id=boot.id, case_id=case.id, workload=case.workload, stacks=jitter,
            system=system,
            of=Pass("cpu-clock", "0" * 64, samples=10, operations=10.0, overhead_percent=2.0,
                    counters={"instructions": 1000.0 + len(stacks)}),
        )  # fmt: skip
    return case.id


def store_profiles(engine: Engine, experiment_id: int) -> int:
    """Profiles in every boot of the experiment; the case's number."""
    with transaction(engine) as session:
        return stored_in(session, experiment_id)


@pytest.fixture
def case_id(engine: Engine, experiment_id: int) -> int:
    return filled(engine, store_profiles, experiment_id)


def decoded(body: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    magic, version, length, _ = struct.unpack_from("<4sIII", body)
    assert (magic, version) == (b"MGPD", 1)
    header = json.loads(body[16 : 16 + length])
    arrays = {
        name: np.frombuffer(body, place["type"], place["length"], 16 + length + place["offset"])
        for name, place in header["arrays"].items()
    }
    return header, arrays


def test_a_cases_arms_are_compared_by_operation(
    client: TestClient, experiment_id: int, case_id: int
) -> None:
    asked = {"experiment": experiment_id, "case": case_id, "host": "alpha", "a": "off", "b": "on"}
    answer = client.get("/api/profiles/diff", params=asked)
    header, arrays = decoded(answer.content)
    assert (header["basis"], header["unit"]) == ("operation", "ns/op")
    assert (header["a"]["label"], header["b"]["boots"]) == ("off", 2)
    names = [header["names"][symbol] for symbol in arrays["symbol"]]
    loop = names.index("clear_bhb_loop")
    assert arrays["a"][loop] == 0
    assert arrays["b"][loop] == pytest.approx(40.45)
    assert arrays["flags"][loop] == 1
    assert "default_idle" not in names
    assert header["a"]["idle_percent"] == pytest.approx(85.7, abs=0.1)
    own = [header["names"][symbol] for symbol in arrays["f_symbol"]].index("clear_bhb_loop")
    assert arrays["f_self_b"][own] == pytest.approx(40.45)


def test_the_header_of_a_diff_is_what_the_api_describes(
    client: TestClient, experiment_id: int, case_id: int
) -> None:
    asked = {"experiment": experiment_id, "case": case_id, "host": "alpha", "a": "off", "b": "on"}
    header, _ = decoded(client.get("/api/profiles/diff", params=asked).content)
    document = client.get("/api/openapi.json").json()
    answer = document["paths"]["/api/v1/profiles/diff"]["get"]["responses"]["200"]["content"]
    schema = answer["application/octet-stream"]["schema"]["x-header"]
    assert schema == {"$ref": "#/components/schemas/DiffHeader"}
    described = document["components"]["schemas"]
    for name, part in (("DiffHeader", header), ("DiffSide", header["a"])):
        assert sorted(part) == sorted(described[name]["required"])
    for place in header["arrays"].values():
        assert sorted(place) == sorted(described["DiffArray"]["required"])
    assert DiffHeader.model_validate(header).a.of == Selection(
        experiment_id, case_id, "alpha", "off"
    )


def test_a_function_with_another_name_in_the_other_kernel_is_one_function(
    client: TestClient, engine: Engine, experiment_id: int
) -> None:
    with transaction(engine) as session:
        arms = experiment_rows.experiment(session, experiment_id).comparisons[0].arms
        kernels = []
        for arm, release in zip(arms, ("7.2-v1", "7.2-v2", "7.2-v3"), strict=False):
            arm.kernel = release
            new = Built(release, "ab", "cd", digest_of(release).hex(), 1)
            kernels.append(kernel_service.brought_in(session, new, release).id)
        renames.store(session, kernels[0], kernels[1], {"clear_bhb_loop": "clear_bhb_seq"})
        case_id = stored_in(session, experiment_id)
        for profile in session.scalars(select(Profile)):
            boot = session.get_one(Boot, profile.boot_id)
            session.delete(profile)
            session.flush()
            function = b"clear_bhb_seq_[k]" if boot.arm.name == "on" else b"clear_bhb_loop_[k]"
            stacks = {**BASE, b"bench;syscall;do_syscall_64;" + function: 400 + boot.block}
            store_boot_profile(
                session, boot_id=boot.id, case_id=case_id, workload=profile.tree.name,
                stacks=stacks, of=Pass("cpu-clock", "0" * 64, samples=10, operations=10.0),
            )  # fmt: skip
        assert renames.between(session, "7.2-v2", "7.2-v1") == {"clear_bhb_seq": "clear_bhb_loop"}
    asked = {"experiment": experiment_id, "case": case_id, "host": "alpha", "a": "off", "b": "on"}
    header, arrays = decoded(client.get("/api/profiles/diff", params=asked).content)
    names = [header["names"][symbol] for symbol in arrays["symbol"]]
    assert "clear_bhb_loop_[k]" not in names
    one = names.index("clear_bhb_seq_[k]")
    assert arrays["a"][one] == arrays["b"][one] > 0
    assert arrays["flags"][one] == 0
    assert header["renamed"] == {str(arrays["symbol"][one]): "clear_bhb_loop_[k]"}
    own = [header["names"][symbol] for symbol in arrays["f_symbol"]].index("clear_bhb_seq_[k]")
    assert arrays["f_self_a"][own] == arrays["f_self_b"][own] > 0
    with transaction(engine) as session:
        sides = case_sides(
            session, Selection(experiment_id, case_id, "alpha", "off"),
            Selection(experiment_id, case_id, "alpha", "on"), system="host",
        )  # fmt: skip
        rows = function_table(session, sides, basis=None, limit=9).functions
    assert {row.function: row.was for row in rows}["clear_bhb_seq_[k]"] == "clear_bhb_loop_[k]"
    asked = {"experiment": experiment_id, "case": case_id, "host": "alpha"}
    shown = client.get("/api/profiles/case", params=asked).json()
    assert shown["arms"][1]["functions"] == []


def test_the_guests_profiles_are_compared_apart_from_the_hosts(
    client: TestClient, engine: Engine, experiment_id: int, case_id: int
) -> None:
    asked = {"experiment": experiment_id, "case": case_id, "host": "alpha", "a": "off", "b": "on"}
    header, _ = decoded(client.get("/api/profiles/diff", params=asked).content)
    assert (header["where"], header["wheres"]) == ("host", ["host"])
    with transaction(engine) as session:
        boot = session.scalars(select(Profile.boot_id)).first()
        stored_in(session, experiment_id, system="guest")
        assert len(session.scalars(select(Profile).where(Profile.boot_id == boot)).all()) == 2
    of_guest = client.get("/api/profiles/diff", params={**asked, "where": "guest"})
    header, _ = decoded(of_guest.content)
    assert (header["where"], header["wheres"]) == ("guest", ["host", "guest"])
    assert (header["a"]["boots"], header["b"]["boots"]) == (2, 2)


def test_the_functions_that_explain_a_difference_are_named(
    client: TestClient, experiment_id: int, case_id: int
) -> None:
    asked = {"experiment": experiment_id, "case": case_id, "host": "alpha"}
    shown = client.get("/api/profiles/case", params=asked).json()
    off, on = shown["arms"]
    assert (off["profiles"], off["functions"], shown["unit"]) == (2, [], "ns/op")
    assert on["difference"] == pytest.approx(40.45)
    assert on["functions"][0]["function"] == "clear_bhb_loop"
    assert on["functions"][0]["percent_of_total"] == pytest.approx(100)
    assert on["overhead_percent"] == 2.0
    assert on["counters"][0]["difference_percent"] == pytest.approx(0.0997, abs=0.001)


def test_a_workload_without_operations_has_no_difference_of_everything(
    client: TestClient, engine: Engine, experiment_id: int, case_id: int
) -> None:
    with transaction(engine) as session:
        session.execute(update(Profile).values(operations=None))
    asked = {"experiment": experiment_id, "case": case_id, "host": "alpha"}
    shown = client.get("/api/profiles/case", params=asked).json()
    on = shown["arms"][1]
    assert (shown["unit"], on["difference"], on["total"]) == ("%", None, pytest.approx(100))
    assert on["functions"][0]["function"] == "clear_bhb_loop"
    assert on["functions"][0]["percent_of_total"] is None


def test_a_host_is_compared_with_another_and_a_revision_with_an_earlier_one(
    client: TestClient, engine: Engine, experiment_id: int, later_id: int, case_id: int
) -> None:
    with transaction(engine) as session:
        other_case = stored_in(session, later_id)
    asked = {"experiment": experiment_id, "case": case_id, "host": "alpha", "a": "off", "b": "off"}
    offered = client.get(
        "/api/profiles/groups", params={"experiment": experiment_id, "case": case_id}
    ).json()
    assert {(g["experiment_id"], g["case_id"], g["arm"], g["profiles"]) for g in offered} == {
        (at, case, arm, 2)
        for at, case in ((experiment_id, case_id), (later_id, other_case))
        for arm in ("off", "on")
    }
    answer = client.get(
        "/api/profiles/diff", params={**asked, "b_experiment": later_id, "b_case": other_case}
    )
    header, _ = decoded(answer.content)
    assert header["a"]["label"] == f"off in experiment {experiment_id}"
    assert header["b"]["label"] == f"off in experiment {later_id}"
    assert header["b"]["of"] == {
        "experiment_id": later_id, "case_id": other_case, "host": "alpha", "arm": "off",
    }  # fmt: skip


def test_the_diff_is_drawn_by_the_tool_that_is_installed_or_it_says_what_to_install(
    client: TestClient, experiment_id: int, case_id: int
) -> None:
    asked = {"experiment": experiment_id, "case": case_id, "host": "alpha", "a": "off", "b": "on"}
    header, _ = decoded(client.get("/api/profiles/diff", params=asked).content)
    assert header["svg_by"] == draw.installed()
    answer = client.get("/api/profiles/diff.svg", params=asked)
    if header["svg_by"] is None:
        assert (answer.status_code, "is installed" in answer.json()["message"]) == (404, True)
        return
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert answer.headers["content-security-policy"] == "sandbox"
    assert "clear_bhb_loop" in answer.text


def test_different_cases_are_not_compared(
    client: TestClient, engine: Engine, experiment_id: int, case_id: int
) -> None:
    with transaction(engine) as session:
        cases = experiment_rows.experiment(session, experiment_id).comparisons[0].cases
        other = next(case for case in cases if case.id != case_id)
        said = f"{cases[0].title!r} and {other.title!r} are different cases"
        other_id = other.id
    asked = {"experiment": experiment_id, "case": case_id, "host": "alpha", "a": "off", "b": "on"}
    answer = client.get("/api/profiles/diff", params={**asked, "b_case": other_id})
    assert (answer.status_code, answer.json()["message"]) == (422, said)


@pytest.mark.parametrize(
    ("asked", "status", "complaint"),
    [
        ({"a": "off", "b": "on"}, 422, "neither a case nor imported profiles"),
        ({"a": "off", "b": "gone", "host": "alpha"}, 404, "no arm 'gone'"),
        ({"a": "off", "b": "on", "host": "beta"}, 404, "not planned on host 'beta'"),
        ({"a": "off", "b": "on", "host": "alpha", "where": "guest"}, 404, "no profile of off"),
        ({"a": "off", "b": "on", "host": "alpha", "basis": "cost"}, 422, "basis"),
        ({"tree": "none", "a": "x", "b": "y"}, 404, "no profile of x"),
    ],
)
def test_what_cannot_be_compared_is_said(
    client: TestClient, experiment_id: int, case_id: int, asked: dict[str, str], status: int,
    complaint: str,
) -> None:  # fmt: skip
    place = {"experiment": experiment_id, "case": case_id} if "host" in asked else {}
    answer = client.get("/api/profiles/diff", params={**place, **asked})
    assert answer.status_code == status
    assert complaint in answer.json()["message"]


def test_a_profile_is_stored_once_with_its_functions(
    engine: Engine, experiment_id: int, case_id: int
) -> None:
    with transaction(engine) as session:
        before = counts(session)
        stored_in(session, experiment_id)
        assert counts(session) == before
        loop = session.scalars(
            select(FrameSymbol.id).where(FrameSymbol.name == "clear_bhb_loop")
        ).one()
        totals = []
        for functions in session.scalars(select(Profile.functions)):
            symbols, _, total = unpacked(functions)
            totals += total[symbols == loop].tolist()
        assert sorted(totals) == [403, 406]


def counts(session: Session) -> tuple[int, ...]:
    return tuple(
        session.scalar(select(func.count()).select_from(table)) or 0
        for table in (Profile, FrameSymbol, FrameTree)
    )


def test_files_of_anyone_are_imported_once_and_compared(
    client: TestClient, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mitigauge.storage.database.engine.require_head", lambda _: None)
    monkeypatch.setattr("mitigauge.storage.database.engine.get_engine", lambda: engine)
    monkeypatch.setattr(
        "mitigauge.storage.database.engine.transaction", lambda: transaction(engine)
    )
    files = []
    for boot, weight in enumerate((100, 103)):
        files.append(tmp_path / f"{boot}.folded")
        files[-1].write_text(f"web;main;handle {weight}\nweb;main;<b>log</b> 7\n")
    arguments = ["import", *map(str, files), "--tree", "web", "--group"]
    assert "2 of 2 profiles new" in CliRunner().invoke(command, [*arguments, "before"]).output
    assert "0 of 2 profiles new" in CliRunner().invoke(command, [*arguments, "before"]).output
    assert "2 of 2 profiles new" in CliRunner().invoke(command, [*arguments, "after"]).output
    asked = {"tree": "web", "a": "before", "b": "after", "basis": "raw"}
    header, arrays = decoded(client.get("/api/profiles/diff", params=asked).content)
    assert header["bases"] == ["share", "raw"]
    assert "<b>log</b>" in header["names"]
    assert arrays["a"][0] == arrays["b"][0] == 108.5


def test_names_that_a_database_cannot_hold_are_spelled_out(engine: Engine) -> None:
    with transaction(engine) as session:
        store_imported(
            session, tree="t", label="g", stacks={b"a\0;\xff": 1}, of=Pass("x", "0" * 64, samples=1)
        )
        names = set(session.scalars(select(FrameSymbol.name)))
    assert names == {"a\\x00", "\\xff"}


def test_names_that_a_terminal_would_obey_are_spelled_out(engine: Engine) -> None:
    stacks = {"a\x1b[2J;\x9b1m\u202e".encode(): 1}
    with transaction(engine) as session:
        store_imported(session, tree="t", label="g", stacks=stacks, of=Pass("x", "0" * 64, 1))
        names = set(session.scalars(select(FrameSymbol.name)))
    assert names == {"a\\x1b[2J", "\\x9b1m\\u202e"}


def test_names_of_any_length_are_stored_and_found_again(engine: Engine) -> None:
    # Random, since an index packs what repeats.
    long = "".join(random.Random(2).choices("abcdefgh<>:", k=60_000))
    stacks = {f"t;{long};{long}x".encode(): 3, f"t;{long}".encode(): 4}
    with transaction(engine) as session:
        for digest in ("0", "1"):
            profile, new = store_imported(
                session, tree="t", label="g", stacks=stacks, of=Pass("x", digest * 64, samples=7)
            )
            assert new
            assert folded_group(session, [profile]) == stacks
        assert set(session.scalars(select(FrameSymbol.name))) == {"t", long, long + "x"}


@pytest.mark.parametrize("name", ["", "x" * 3000, "a\x1b[2J", "a\0"])
@pytest.mark.parametrize("what", ["tree", "label"])
def test_what_an_index_cannot_take_is_refused_as_a_name(
    engine: Engine, what: str, name: str
) -> None:
    names = {"tree": "t", "label": "g"} | {what: name}
    with (
        transaction(engine) as session,
        pytest.raises(InvalidInput, match="cannot be the name"),
    ):
        store_imported(session, **names, stacks={b"a;b": 1}, of=Pass("x", "0" * 64, samples=1))


def test_a_tree_does_not_grow_without_end(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mitigauge.analysis.profiles.store.tree.MOST_NODES", 10)
    stacks = {f"a;{n};x".encode(): 1 for n in range(20)}
    with transaction(engine) as session, pytest.raises(InvalidInput, match="more than 10 frames"):
        store_imported(session, tree="t", label="g", stacks=stacks, of=Pass("x", "0" * 64, 1))


def test_the_command_folds_as_flame_graphs_do(tmp_path: Path) -> None:
    capture = tmp_path / "capture.txt"
    capture.write_bytes(b"CPU 0/KVM 1 [000] 1.5: 7 cycles:\n\t1 f.cold (x)\n\n")
    raw = CliRunner().invoke(command, ["fold", "--raw", str(capture)])
    assert raw.stdout_bytes == b"CPU_0/KVM;f.cold 7\n"
    merged = CliRunner().invoke(command, ["fold"], input=capture.read_bytes())
    assert merged.stdout_bytes == b"CPU_*/KVM;f 7\n"
