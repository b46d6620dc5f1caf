"""desktop: how the load is driven, what the curve says, and what becomes of raw output."""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import socket
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from tests.loading import load
from tests.workload_cases import edit, refused_of_300

WORKLOAD = REPOSITORY / "workloads/desktop"
FIXTURES = sorted(path.parent for path in WORKLOAD.glob("fixtures/*/case.json"))
desktop = load("workloads/desktop/run")
parsing = load("workloads/desktop/parse.py")
actions, curves, summaries, sessions, host_samples, office = (
    sys.modules[name]
    for name in ("actions", "load_curve", "summary", "sessions", "host_samples", "office_guest")
)
channels, guests, seals = (
    sys.modules[f"_kit.{name}"] for name in ("guest_channel", "guest", "seal")
)

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def case_dir(tmp_path: Path) -> Path:
    """A copy of one real case to break."""
    return shutil.copytree(WORKLOAD / "fixtures/three-light", tmp_path / "case")


def broken(case_dir: Path, change: Change) -> str:
    """What the parser says of the case with its pass changed, and its digest made to fit."""
    name = "iteration-01.json"
    edit(case_dir / name, change)
    sealed = seals.of(case_dir, [name])
    edit(case_dir / "run.json", lambda record: record["sha256"].update(sealed))
    with pytest.raises(parsing.ParseError) as refused:
        parsing.parse(case_dir)
    return str(refused.value)


@pytest.mark.parametrize("directory", FIXTURES, ids=lambda path: path.name)
def test_a_real_case_gives_exactly_the_metrics_that_the_catalog_promises(directory: Path) -> None:
    declared = Catalog().workloads["desktop"]
    result = parsing.parse(directory)
    expected = declared.metrics_of(result["parameters"])
    assert set(result["metrics"]) == set(expected)
    for name, metric in expected.items():
        got = result["metrics"][name]
        assert (got["unit"], got["direction"]) == (metric.unit, metric.direction)
        assert len(got["values"]) == 1
    assert set(result["tools"]) >= {"gzip", "qemu", "guest_kernel"}


def test_every_metric_of_the_parser_is_declared_and_none_else() -> None:
    assert set(parsing.UNITS) == set(Catalog().workloads["desktop"].metrics)


def test_all_actions_are_kept_and_the_figures_follow_from_them(case_dir: Path) -> None:
    raw = json.loads((case_dir / "iteration-01.json").read_text())
    metrics = parsing.parse(case_dir)["metrics"]
    logins = [(a["ended_ns"] - a["began_ns"]) / 1e9 for a in raw["actions"] if a["kind"] == "login"]
    assert metrics["login_max"]["values"] == [max(logins)]
    assert metrics["login_time"]["values"] == [sorted(logins)[1]]
    assert metrics["failed_actions"]["values"] == [0.0]
    assert {a["session"] for a in raw["actions"]} == {0, 1, 2}


def test_details_are_those_of_the_pass_s_summary_in_the_form_that_is_declared() -> None:
    fixture = WORKLOAD / "fixtures/three-light"
    summary = json.loads((fixture / "iteration-01.summary.json").read_text())
    result = parsing.parse(fixture)
    [told] = result["details"]
    assert [p["value"] for p in told["curve"]] == [
        level["slowdown"] for level in summary["load_curve"]
    ]
    assert [(r["threshold"], r["load"]) for r in told["reached"]] == [
        (d["threshold"], d["sessions"]) for d in summary["density"]
    ]
    declared = Catalog().workloads["desktop"].details
    assert declared is not None
    # Nothing was traced, and the programs are those of its profile.
    assert told["breakdowns"].pop("wakers") == {}
    for name, rows in told["breakdowns"].items():
        form = declared.breakdowns[name]
        of_profile = actions.APPLICATIONS["light"] if name == "applications" else form.rows
        assert list(rows) == [row for row in form.rows if row in of_profile]
        # Every figure that is declared is told somewhere, and none else.
        assert {figure for row in rows.values() for figure in row} == set(form.figures)
    for name, figures in summary["phases"].items():
        assert figures.items() <= told["breakdowns"]["phases"][name].items()
    metrics, of_actions = result["metrics"], told["breakdowns"]["actions"]
    for kind, figures in of_actions.items():
        assert figures["median_s"] == metrics[f"{kind}_time"]["values"][0]
        assert figures["p95_s"] == metrics[f"{kind}_p95"]["values"][0]
        assert figures["max_s"] == metrics[f"{kind}_max"]["values"][0]
    steady = told["breakdowns"]["phases"]["steady"]
    assert steady["warm_response_s"] == pytest.approx(metrics["response_time"]["values"][0])


def test_a_failed_action_is_in_the_details_of_its_kind_and_phase(case_dir: Path) -> None:
    def fail(raw: dict[str, Any]) -> None:
        steady = raw["phases"]["steady"][0]
        saves = [a for a in raw["actions"] if a["kind"] == "save" and a["began"] >= steady]
        saves[0].update(status=1, said="no space left on device")

    edit(case_dir / "iteration-01.json", fail)
    sealed = seals.of(case_dir, ["iteration-01.json"])
    edit(case_dir / "run.json", lambda record: record["sha256"].update(sealed))
    [told] = parsing.parse(case_dir)["details"]
    failed = {kind: of["failed"] for kind, of in told["breakdowns"]["actions"].items()}
    assert {kind for kind, count in failed.items() if count} == {"save"}
    assert told["breakdowns"]["phases"]["steady"]["failed"] == 1
    assert told["breakdowns"]["phases"]["ramp"]["failed"] == 0


def test_each_kind_of_warm_action_is_of_one_application_of_its_profile() -> None:
    form = Catalog().workloads["desktop"].details
    assert form is not None
    known = set()
    for applications in actions.APPLICATIONS.values():
        kinds = [kind for kinds in applications.values() for kind in kinds]
        assert sorted(kinds) == sorted(actions.LOOP_KINDS)
        known |= set(applications)
    assert known == set(form.breakdowns["applications"].rows)


def test_an_application_has_the_times_of_its_actions_and_their_share(case_dir: Path) -> None:
    raw = json.loads((case_dir / "iteration-01.json").read_text())
    steady = raw["phases"]["steady"][0]
    took: dict[str, list[float]] = {}
    for a in raw["actions"]:
        if a["loop"] > 0 and a["began"] >= steady:
            took.setdefault(a["kind"], []).append((a["ended_ns"] - a["began_ns"]) / 1e9)
    [told] = parsing.parse(case_dir)["details"]
    rows = told["breakdowns"]["applications"]
    text = sorted([*took["open"], *took["edit"]])
    assert rows["text"]["actions"] == len(text)
    assert rows["text"]["median_s"] == statistics.median(text)
    assert rows["text"]["p95_s"] == text[math.ceil(0.95 * len(text)) - 1]
    every = sum(map(sum, took.values()))
    assert rows["text"]["share_percent"] == pytest.approx(100 * sum(text) / every)
    assert sum(row["share_percent"] for row in rows.values()) == pytest.approx(100)


def first(which: str, **changes: Any) -> Change:
    """Change the first action of a kind."""

    def change(raw: dict[str, Any]) -> None:
        next(a for a in raw["actions"] if a["kind"] == which).update(changes)

    return change


BROKEN: list[tuple[str, Change, str]] = [
    ("another order", first("copy", kind="open"), "the seed's order has"),
    ("one is gone", lambda r: r["actions"].pop(5), "the seed's order has"),
    ("a session is gone",
     lambda r: r.update(actions=[a for a in r["actions"] if a["session"] != 2]), "2 sessions"),
    ("too long", first("save", ended_ns=1 << 61), "but the host waited"),
    ("backwards", first("save", ended_ns=1), "but the host waited"),
    ("died", first("save", status=139), "status: not from 0 to 125"),
    ("another level", first("save", level=3), "the log-ins say 1"),
    ("disk counts down", first("save", writes=0), "writes: less than before"),
    ("cut off", lambda r: r["actions"].__delitem__(slice(-8, None)), "cut off"),
    ("no ramp", lambda r: r["phases"].pop("ramp"), "phases: baseline, steady, not"),
    ("short ramp", lambda r: r["phases"]["ramp"].__setitem__(1, r["phases"]["ramp"][0] + 1),
     "shorter than the case's ramp"),
    ("samples gone", lambda r: r.update(samples=r["samples"][:2]), "none at an end of phase"),
    ("busier than all", lambda r: r["samples"][-1].update(busy=1 << 50), "busy: more than all"),
    ("waited more than there is", lambda r: r["samples"][-1].update(waited_ns=1 << 60),
     "waited_ns: more than 3 processors have"),
    ("power unasked", lambda r: r.update(energy_range_uj=[5]), "energy_range_uj"),
    ("every save failed",
     lambda r: [a.update(status=1) for a in r["actions"] if a["kind"] == "save"],
     "no save ended well"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "said"), [b[1:] for b in BROKEN], ids=[b[0] for b in BROKEN])
def test_a_pass_that_cannot_be_is_refused_by_name(
    case_dir: Path, change: Change, said: str
) -> None:
    told = broken(case_dir, change)
    assert told.startswith("iteration-01.json: ")
    assert said in told


def test_a_failed_action_is_counted_and_its_time_is_in_no_figure(case_dir: Path) -> None:
    def fail(raw: dict[str, Any]) -> None:
        longest = max(
            (a for a in raw["actions"] if a["kind"] == "login"),
            key=lambda a: a["ended_ns"] - a["began_ns"],
        )
        longest.update(status=1, said="no space left on device")

    before = parsing.parse(case_dir)["metrics"]
    edit(case_dir / "iteration-01.json", fail)
    sealed = seals.of(case_dir, ["iteration-01.json"])
    edit(case_dir / "run.json", lambda record: record["sha256"].update(sealed))
    after = parsing.parse(case_dir)["metrics"]
    assert after["failed_actions"]["values"] == [1.0]
    assert after["login_max"]["values"] < before["login_max"]["values"]


def test_a_density_that_was_not_reached_is_no_number(case_dir: Path) -> None:
    edit(case_dir / "case.json", lambda c: c["parameters"].update(judge="density", threshold=9999))
    with pytest.raises(parsing.ParseError, match="raise sessions, or lower threshold"):
        parsing.parse(case_dir)


def at_line(case_dir: Path, line_ms: int) -> Any:
    """What the parser makes of the pass with a line."""
    edit(case_dir / "case.json", lambda c: c["parameters"].update(line_ms=line_ms))
    return parsing.parse(case_dir)


def test_the_density_at_a_line_is_where_the_curve_passes_that_time(case_dir: Path) -> None:
    """The slowdowns are 0, 238 and 431 %: the line is laid halfway between the last two."""
    curve = [
        level["slowdown"]
        for level in json.loads((case_dir / "iteration-01.summary.json").read_text())["load_curve"]
    ]
    raw = json.loads((case_dir / "iteration-01.json").read_text())
    alone_s = curves.response_alone(summaries.actions_of(raw), actions.LOOP_KINDS)
    line_ms = round(1000 * alone_s * (1 + (curve[1] + curve[2]) / 200))
    result = at_line(case_dir, line_ms)
    assert result["metrics"]["density_at_line"]["values"] == [pytest.approx(2.5, abs=0.01)]
    assert set(result["metrics"]) == set(
        Catalog().workloads["desktop"].metrics_of(result["parameters"])
    )
    # Both stand side by side.
    assert result["metrics"]["density"]["values"] == [pytest.approx(1.105, abs=0.001)]


def test_an_arm_that_is_slower_alone_too_has_fewer_sessions_at_a_line() -> None:
    """And the same density at a slowdown."""
    curve = [curves.Level(1, 9, 0.0), curves.Level(2, 9, 50.0), curves.Level(3, 9, 100.0)]
    assert curves.density_at(curve, 0.25, 0.375).sessions == 2.0
    assert curves.density_at(curve, 0.1875, 0.375).sessions == 3.0
    assert curves.density_at(curve, 0.125, 0.375).sessions is None
    assert curves.density_at(curve, 0.5, 0.375).threshold == -25


@pytest.mark.parametrize(
    ("line_ms", "said"), [(1, "line_ms is 1: raise line_ms"), (10**6, "or lower line_ms")]
)
def test_a_line_that_is_not_passed_or_by_one_session_alone_is_no_number(
    case_dir: Path, line_ms: int, said: str
) -> None:
    with pytest.raises(parsing.ParseError, match=said):
        at_line(case_dir, line_ms)


def test_a_line_needs_all_kinds_of_actions_of_the_first_session(case_dir: Path) -> None:
    def fail(raw: dict[str, Any]) -> None:
        [alone] = [
            a for a in raw["actions"] if (a["kind"], a["loop"], a["level"]) == ("save", 1, 1)
        ]
        alone.update(status=1)

    edit(case_dir / "iteration-01.json", fail)
    sealed = seals.of(case_dir, ["iteration-01.json"])
    edit(case_dir / "run.json", lambda record: record["sha256"].update(sealed))
    with pytest.raises(parsing.ParseError, match="one session alone did not end every action"):
        at_line(case_dir, 500)


@pytest.mark.parametrize("name", ["iteration-01.json", "run.json"])
def test_changed_output_gives_the_same_numbers_or_none(case_dir: Path, name: str) -> None:
    assert refused_of_300(parsing, case_dir, name) > 30


# The order of actions, and the curve.


def test_a_loop_has_every_kind_once_in_an_order_of_its_own() -> None:
    loops = [actions.loop_order(session, loop) for session in range(4) for loop in range(4)]
    for order in loops:
        assert sorted(order) == sorted(actions.LOOP_KINDS)
        assert order.index("open") < order.index("edit") < order.index("save")
        assert order.index("render") < order.index("print")
    assert len({tuple(order) for order in loops}) > 8
    assert loops[0] == actions.loop_order(0, 0)


def test_pauses_are_around_their_mean() -> None:
    pauses = [actions.think_s(0, loop, place, 2.0) for loop in range(40) for place in range(11)]
    assert min(pauses) >= 1.0
    assert max(pauses) <= 3.0
    assert sum(pauses) / len(pauses) == pytest.approx(2.0, abs=0.1)


def acted(level: int, took: float, count: int = 6, loop: int = 1, kind: str = "open") -> list[Any]:
    return [curves.Action(0, loop, kind, 0.0, took, took, level)] * count


def test_the_curve_is_the_slowdown_against_one_session_of_each_kind_alone() -> None:
    taken = [
        *acted(1, 1.0), *acted(1, 10.0, kind="copy"),
        *acted(2, 2.0), *acted(2, 20.0, kind="copy"), *acted(2, 99.0, loop=0),
        *acted(3, 8.0, count=4),
    ]  # fmt: skip
    one, two, three = curves.load_curve(taken, 3)
    assert (one.slowdown, two.slowdown) == (pytest.approx(0.0), pytest.approx(100.0))
    # Too few to tell; what was cold counts in none.
    assert (three.actions, three.slowdown) == (4, None)
    assert two.actions == 12


@pytest.mark.parametrize(
    ("threshold", "sessions"), [(25, 1.5), (50, 2.0), (100, 3.0), (125, 3.5), (151, None)]
)
def test_the_density_lies_on_a_straight_line_between_two_levels(
    threshold: float, sessions: float | None
) -> None:
    levels = [
        curves.Level(1, 9, 0.0), curves.Level(2, 9, 50.0), curves.Level(3, 9, 100.0),
        curves.Level(4, 9, 150.0),
    ]  # fmt: skip
    assert curves.density(levels, threshold).sessions == sessions


def test_a_level_that_tells_nothing_is_passed_over() -> None:
    levels = [curves.Level(1, 9, 0.0), curves.Level(2, 1, None), curves.Level(3, 9, 100.0)]
    assert curves.density(levels, 50).sessions == 2.0


def test_percentiles_are_values_that_were_seen() -> None:
    assert curves.percentile([3.0, 1.0, 2.0], 0.95) == 3.0
    assert curves.percentile(list(map(float, range(1, 101))), 0.95) == 95.0


def test_power_counts_on_where_a_counter_begins_anew() -> None:
    first, last = {"energy_uj": [900, 100]}, {"energy_uj": [100, 200]}
    assert summaries.power(first, last, [1000, 1000], 1.0) == pytest.approx(300e-6)
    assert summaries.power({"energy_uj": []}, {"energy_uj": []}, [], 1.0) is None


def test_a_host_without_rapl_is_told_to_leave_power_out(tmp_path: Path) -> None:
    (tmp_path / "intel-rapl:0:0").mkdir()
    (tmp_path / "intel-rapl:0:0/name").write_text("core")
    with pytest.raises(desktop.contract.CaseError, match="say power: without"):
        host_samples.require_rapl(tmp_path)
    (tmp_path / "intel-rapl:0").mkdir()
    (tmp_path / "intel-rapl:0/name").write_text("package-0\n")
    (tmp_path / "intel-rapl:0/energy_uj").write_text("5\n")
    assert [folder.name for folder in host_samples.require_rapl(tmp_path)] == ["intel-rapl:0"]


# The load, beside desktops that answer without a guest.


class Answering:
    """A desktop's other end: a thread that answers each action as it is told to."""

    def __init__(self, folder: Path, answer: Callable[[str, int], bytes | None]) -> None:
        path = folder / "port"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen()
        self.answer, self.count, self.gone = answer, 0, ""
        self.channel = channels.Channel(path, self.check)
        self.end, _ = listener.accept()
        listener.close()
        threading.Thread(target=self.serve, daemon=True).start()

    def check(self) -> None:
        if self.gone:
            raise guests.LabFault("guest-died", self.gone)

    def fault(self, kind: str, what: str) -> Any:
        return guests.LabFault(kind, what)

    def serve(self) -> None:
        with self.end, self.end.makefile("r") as lines, contextlib.suppress(OSError):
            for line in lines:
                said = self.answer(line.strip(), self.count)
                self.count += 1
                if said is None:
                    return
                self.end.sendall(b"MITIGAUGE DONE %d\n" % len(said) + said)


def done(kind: str, count: int, status: int = 0, said: str = "") -> bytes:
    began = 10**18 + count * 10**6
    disk = f"{count} {count} {count} {count}"
    return f"{kind} {status} {began} {began + 1000} {disk} {disk}\n{said}".encode()


def loaded(tmp_path: Path, *answers: Callable[[str, int], bytes | None], loops: int = 1) -> Any:
    made = []
    for number, answer in enumerate(answers):
        (tmp_path / str(number)).mkdir()
        guest = Answering(tmp_path / str(number), answer)
        made.append(sessions.Desktop(number, guest, guest.channel, 0.0))
    load = sessions.Load(made, host_samples.HostSamples([]), 0.2)
    try:
        load.run(loops)
    finally:
        for one in made:
            one.channel.close()
    return load


def test_a_long_wait_that_ends_is_all_in_one_sample() -> None:
    """Three processors wait for five seconds, and the kernel tells of it in the end."""
    sample = {"busy": 0, "all": 0, "ran_ns": 0, "energy_uj": []}
    done: Any = {
        "vcpus": 3, "energy_range_uj": [], "phases": {},
        "samples": [{**sample, "at": at, "waited_ns": 15 * 10**9 * (at == 5.0)}
                    for at in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)],
    }  # fmt: skip
    case = {"parameters": {"sessions": 3}}
    parsing.checked_samples(done, "pass", case)
    done["samples"][5]["waited_ns"] *= 2
    with pytest.raises(parsing.ParseError, match="waited_ns: more than 3 processors have"):
        parsing.checked_samples(done, "pass", case)


def test_the_load_is_one_session_alone_then_a_ramp_then_whole_loops_of_all(tmp_path: Path) -> None:
    load = loaded(tmp_path, done, done, done)
    assert list(load.phases) == ["baseline", "ramp", "steady"]
    alone = [
        a for a in load.actions if a["level"] == 1 and a["ended"] <= load.phases["baseline"][1]
    ]
    assert {a["session"] for a in alone} == {0}
    assert sum(a["kind"] == "copy" for a in alone) == 2
    logins = sorted((a["began"], a["session"]) for a in load.actions if a["kind"] == "login")
    assert [session for _, session in logins] == [0, 1, 2]
    # A ramp of 0.2 s for two: a busy machine makes the second one late, nothing makes it early.
    assert 0.02 < logins[2][0] - logins[1][0] < 30
    raw = {"phases": load.phases, "actions": load.actions}
    assert all(parsing.whole_loops(raw, s, *load.phases["steady"]) >= 1 for s in range(3))
    parsing.checked_actions(raw, "pass", 3)


def test_a_failed_action_is_kept_with_its_words_and_the_session_goes_on(tmp_path: Path) -> None:
    load = loaded(
        tmp_path, lambda kind, count: done(kind, count, int(kind == "save"), "no space left")
    )
    failed = [a for a in load.actions if a["status"]]
    assert {a["kind"] for a in failed} == {"save"}
    assert failed[0]["said"] == "no space left"
    assert len(failed) >= 2


def test_an_application_that_dies_fails_the_case_with_its_reason(tmp_path: Path) -> None:
    with pytest.raises(
        desktop.contract.CaseError, match=r"the application of print died with status 139: core"
    ):
        loaded(tmp_path, lambda kind, count: done(kind, count, 139 * (kind == "print"), "core"))


@pytest.mark.parametrize(
    ("said", "kind"),
    [(b"nonsense", "guest-channel"), (b"open 0 1 2", "guest-channel"),
     (b"login 0 x 2 3 4 5 6 7 8 9 10", "guest-channel"), (None, "guest-channel")],
)  # fmt: skip
def test_a_desktop_that_answers_wrongly_or_goes_is_a_fault(
    tmp_path: Path, said: bytes | None, kind: str
) -> None:
    with pytest.raises(guests.LabFault) as fault:
        loaded(tmp_path, lambda *_: said)
    assert fault.value.kind == kind


def test_a_desktop_that_never_ends_an_action_is_a_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(kind: str, count: int) -> bytes:
        threading.Event().wait(5)
        return done(kind, count)

    monkeypatch.setattr(sessions, "ACTION_LIMIT_S", 0.2)
    monkeypatch.setattr(sessions, "EVERY_S", 0.1)
    with pytest.raises(guests.LabFault, match=r"login had no end in 0\.2 s") as fault:
        loaded(tmp_path, slow)
    assert fault.value.kind == "guest-hang"


def test_parameters_are_filled_in_and_refused_by_name() -> None:
    filled = desktop.checked({})
    known = Catalog().workloads["desktop"].parameters
    # What was added since is not filled in: a stored case does not have it.
    assert set(filled) == {name for name, one in known.items() if not one.added}
    assert {name: known[name].fallback for name in desktop.ADDED} == desktop.ADDED
    assert desktop.checked({"trace": "sched"})["trace"] == "sched"
    for wrong in ({"profile": "heavy"}, {"sessions": 0}, {"loops": 1.5}, {"judge": "density",
                  "sessions": 1}, {"line_ms": 500, "sessions": 1}, {"trace": "all"}):  # fmt: skip
        with pytest.raises(desktop.contract.CaseError, match="parameter "):
            desktop.checked(wrong)


def test_defaults_are_the_catalog_s() -> None:
    declared = Catalog().workloads["desktop"].parameters
    for name, value in desktop.checked({}).items():
        assert value == declared[name].fallback, name


def test_an_office_image_that_is_not_there_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guests, "GUEST", tmp_path)
    (tmp_path / "manifest.json").write_text('{"memory_mb": 256}')
    with pytest.raises(desktop.contract.CaseError, match="run workloads/desktop/office/build"):
        office.manifest(tmp_path / "office")


# The actions of profile light, on this machine.


@pytest.mark.skipif(shutil.which("busybox") is None, reason="no busybox here")
def test_each_light_action_leaves_what_it_should_and_fails_without_its_document(
    tmp_path: Path,
) -> None:
    script = (WORKLOAD / "guest/actions").read_text()
    busybox = shutil.which("busybox")
    # In a folder of the test, without touching this machine's own.
    script = script.replace("/tmp/", f"{tmp_path}/t/")
    script = script.replace("home=/home", f"home={tmp_path}/home")
    script = script.replace("b=/bin/busybox", f"b={busybox}")
    (tmp_path / "t").mkdir()
    (tmp_path / "actions").write_text(script)
    text = (
        f". {tmp_path}/actions; furnish 1 || exit 9\n"
        'for kind in $kinds; do (do_"$kind"); echo "$kind $?"; done\n'
        f"rm {tmp_path}/home/docs/table.csv; (do_recalc) 2> {tmp_path}/error; echo gone $?\n"
    )
    ran = subprocess.run(
        [str(busybox), "sh"], input=text, capture_output=True, text=True, check=True, timeout=120
    )
    told = dict(line.split() for line in ran.stdout.splitlines())
    assert told == {**dict.fromkeys(actions.KINDS, "0"), "gone": "1"}, ran.stderr
    home = tmp_path / "home"
    assert (home / "high.tar.gz").stat().st_size < (home / "low.tar.gz").stat().st_size
    assert (home / "copy/note-11.txt").read_bytes() == (home / "tree/note-11.txt").read_bytes()
    assert math.isclose((home / "docs/letter.txt").stat().st_size, 8000, rel_tol=0.5)
