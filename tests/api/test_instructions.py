"""A function's instructions over the API and as a command: stored once, compared by boots."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session
from typer.testing import CliRunner

from cli.profile import app as command
from mitigauge.analysis.profiles.capture.capture import Pass
from mitigauge.analysis.profiles.capture.instructions import FunctionCode, Instructions, Line
from mitigauge.analysis.profiles.store.instructions import store_instructions
from mitigauge.analysis.profiles.store.service import store_imported
from mitigauge.analysis.profiles.store.tables import FunctionListing, Profile, ProfileFunction
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.runs.tables import Boot
from mitigauge.storage.database.engine import transaction
from tests.api.test_profiles import BASE, store_profiles, stored_in
from tests.postgres import filled

PLAIN = ("pushq %rbx", "nopl (%rax, %rax)", "popq %rbx")
PATCHED = ("pushq %rbx", "callq clear_bhb_loop", "popq %rbx")
LOOP = ("movl $5, %ecx", "loop @")


def function(
    texts: Sequence[str], *weights: int, name: str = "do_syscall_64", normal: str = ""
) -> FunctionCode:
    lines = tuple(Line(4 * at, text, normal or text) for at, text in enumerate(texts))
    samples = {at: (weight // 10, weight) for at, weight in enumerate(weights) if weight}
    return FunctionCode(name, lines, samples)


def give_code(session: Session, found: Mapping[str, Sequence[Instructions]]) -> None:
    """Give the profiles of each arm, in order, what *found* has for them."""
    left = {arm: list(each) for arm, each in found.items()}
    for profile in session.scalars(select(Profile).order_by(Profile.id)):
        arm = session.get_one(Boot, profile.boot_id).arm.name
        store_instructions(session, profile, left[arm].pop(0))


OFF = [Instructions((function(PLAIN, 300, weight, 400),)) for weight in (300, 310)]
ON = [
    Instructions(
        (
            function(PATCHED, 300, weight, 400),
            function(LOOP, 100, 300, name="clear_bhb_loop"),
        )
    )
    for weight in (320, 300)
]


@pytest.fixture
def asked(engine: Engine, experiment_id: int) -> dict[str, Any]:
    """What names the profiled case and both arms."""
    case = filled(engine, store_profiles, experiment_id)
    return {"experiment": experiment_id, "case": case, "host": "alpha", "a": "off", "b": "on"}


@pytest.fixture
def coded(engine: Engine, asked: dict[str, Any]) -> dict[str, Any]:
    """The same, with code in every profile."""
    filled(engine, code_both)
    return asked


def code_both(engine: Engine) -> None:
    with transaction(engine) as session:
        give_code(session, {"off": OFF, "on": ON})


def table(client: TestClient, asked: Mapping[str, Any], function: str = "") -> dict[str, Any]:
    answer = client.get("/api/profiles/instructions", params={**asked, "function": function})
    assert answer.status_code == 200, answer.text
    said: dict[str, Any] = answer.json()
    return said


def test_an_alternative_that_was_patched_is_gone_here_and_new_there(
    client: TestClient, coded: dict[str, Any]
) -> None:
    said = table(client, coded, "do_syscall_64")
    [part] = said["parts"]
    assert [(row["mark"], row["text_a"], row["text_b"]) for row in part["rows"]] == [
        ("", "pushq %rbx", "pushq %rbx"),
        ("gone", "nopl (%rax, %rax)", ""),
        ("new", "", "callq clear_bhb_loop"),
        ("", "popq %rbx", "popq %rbx"),
    ]
    new = part["rows"][2]
    # 10 operations a boot.
    assert (new["a"], new["b"], new["samples_b"]) == (0, 31, 62)
    assert new["low"] < 31 < new["high"]
    assert new["q"] < 0.01
    assert part["rows"][0]["difference"] == 0
    assert (said["unit"], said["boots_a"], said["boots_b"]) == ("ns/op", 2, 2)
    assert {each["kind"]: each["instructions"] for each in said["sums"]} == {
        "both": 2,
        "new": 1,
        "gone": 1,
    }
    assert said["emulated"]
    assert "timer's interrupt" in said["skid"]


def test_what_runs_on_one_side_alone_is_all_new(client: TestClient, coded: dict[str, Any]) -> None:
    said = table(client, coded, "clear_bhb_loop")
    [part] = said["parts"]
    assert (part["name_a"], part["name_b"]) == ("", "clear_bhb_loop")
    assert [(row["mark"], row["b"]) for row in part["rows"]] == [("new", 10), ("new", 30)]
    assert (said["boots_a"], said["missing_a"]) == (2, 0)


def test_without_a_function_those_with_code_are_listed_the_hottest_first(
    client: TestClient, coded: dict[str, Any]
) -> None:
    said = table(client, coded)
    assert said["functions"] == ["do_syscall_64", "clear_bhb_loop"]
    assert said["why_none"] == "No function is chosen."
    assert said["parts"] == []


def test_boots_of_one_kernel_share_a_listing(engine: Engine, coded: dict[str, Any]) -> None:
    with transaction(engine) as session:
        assert session.scalar(select(func.count()).select_from(FunctionListing)) == 3
        assert session.scalar(select(func.count()).select_from(ProfileFunction)) == 6
        before = session.scalars(select(Profile).order_by(Profile.id)).first()
        assert before
        # What is stored once stays: a step may be done again.
        store_instructions(session, before, ON[0])
        assert session.scalar(select(func.count()).select_from(ProfileFunction)) == 6


def test_a_boot_that_ran_the_function_and_kept_no_code_is_left_out_and_told(
    client: TestClient, engine: Engine, asked: dict[str, Any]
) -> None:
    other = Instructions((function(LOOP, 1, name="other"),))
    with transaction(engine) as session:
        give_code(session, {"off": [OFF[0], other], "on": ON})
    said = table(client, asked, "do_syscall_64")
    assert (said["boots_a"], said["missing_a"]) == (1, 1)
    assert all(row["low"] is None for row in said["parts"][0]["rows"])


def test_a_side_without_any_code_says_nothing_of_new_or_gone(
    client: TestClient, engine: Engine, asked: dict[str, Any]
) -> None:
    nothing = Instructions(detail="no instructions: /proc/kcore: Permission denied")
    with transaction(engine) as session:
        give_code(session, {"off": [nothing, nothing], "on": ON})
    said = table(client, asked, "do_syscall_64")
    assert (said["boots_a"], said["missing_a"], said["sums"]) == (0, 2, [])
    [part] = said["parts"]
    assert {(row["mark"], row["a"], row["difference"]) for row in part["rows"]} == {
        ("", None, None)
    }


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (None, "before instructions were kept"),
        (
            Instructions(detail="no instructions: /proc/kcore: Permission denied"),
            "Permission denied",
        ),
        (OFF[0], "elsewhere was not among the hottest functions"),
    ],
)
def test_where_there_are_none_the_answer_says_why(
    client: TestClient,
    engine: Engine,
    asked: dict[str, Any],
    found: Instructions | None,
    why: str,
) -> None:
    if found:
        with transaction(engine) as session:
            give_code(session, {"off": 2 * [found], "on": 2 * [found]})
    said = table(client, asked, "elsewhere")
    assert why in said["why_none"]
    assert (said["parts"], said["sums"]) == ([], [])


def test_a_guests_and_an_imported_profile_say_that_they_have_none(
    client: TestClient, engine: Engine, coded: dict[str, Any]
) -> None:
    with transaction(engine) as session:
        stored_in(session, coded["experiment"], system="guest")
        for label in ("before", "after"):
            of = Pass("cycles", label.rjust(64, "0"), samples=1)
            store_imported(session, tree="web", label=label, stacks=BASE, of=of)
    assert "guest's profile" in table(client, {**coded, "where": "guest"}, "f")["why_none"]
    imported = {"tree": "web", "a": "before", "b": "after"}
    assert "Imported profiles" in table(client, imported, "f")["why_none"]


def test_what_cannot_be_compared_is_refused(client: TestClient, coded: dict[str, Any]) -> None:
    for wrong, status in (({"a": "nothing"}, 404), ({"basis": "bits"}, 422), ({"case": 99}, 404)):
        answer = client.get("/api/profiles/instructions", params={**coded, **wrong})
        assert answer.status_code == status, answer.text


def test_the_command_shows_both_sides(
    engine: Engine, coded: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mitigauge.storage.database.engine.get_engine", lambda: engine)
    monkeypatch.setattr(
        "mitigauge.storage.database.engine.transaction", lambda: transaction(engine)
    )
    with transaction(engine) as session:
        case = (
            experiment_rows.experiment(session, coded["experiment"]).comparisons[0].cases[0].title
        )
    place = ["off", "on", "--experiment", str(coded["experiment"]), "--case", case]

    def said(*more: str) -> str:
        done = CliRunner().invoke(
            command, ["instructions", *place, *more], catch_exceptions=False,
            env={"COLUMNS": "200"},
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        return done.stdout

    assert "With instructions: do_syscall_64, clear_bhb_loop." in said()
    text = said("--function", "do_syscall_64")
    assert "EMULATED" in text
    assert "1 instructions new in B: +31" in text
    [new] = [line for line in text.splitlines() if "+4 callq clear_bhb_loop" in line]
    assert new.split()[:2] == ["31", "+31"]
    assert "new" in new.split()
    rows = json.loads(said("--function", "do_syscall_64", "--json"))["parts"][0]["rows"]
    assert [row["mark"] for row in rows] == ["", "gone", "new", ""]
