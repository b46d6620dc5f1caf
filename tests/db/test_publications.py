"""Results on their way out: nothing is lost and nothing twice, whatever the other side does."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import Engine, text

from mitigauge.analysis.verdicts.conclusions import judge_again
from mitigauge.core.settings import Settings, get_settings
from mitigauge.reporting.publications import repository, service
from mitigauge.reporting.publications.service import Ended
from mitigauge.reporting.publications.states import PublicationState, TargetName
from mitigauge.storage.database.engine import transaction
from pipelines import publishing
from pipelines.publishing import Publisher, targets_of
from tests.publications_made import experiment_of_revision

COMMIT = "0123456789" * 4
WAITING, PUBLISHED = PublicationState.WAITING, PublicationState.PUBLISHED


@dataclass
class Faulty:
    """KCIDB, patchwork and GitHub in one, which fail as *does* says: a word a request, in turn.

    ``ok``; a status; ``lost``: it does what was asked and hangs up before it answers.
    """

    does: list[str] = field(default_factory=list)
    kcidb: dict[str, dict[str, Any]] = field(default_factory=dict)
    checks: list[dict[str, Any]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)
    url: str = ""
    refusal: str = ""

    def next(self) -> str:
        with self.lock:
            return self.does.pop(0) if self.does else "ok"

    def answer(self, method: str, path: str, body: Any) -> Any:
        """What it keeps, and what it says."""
        asked = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(asked.query).items()}
        with self.lock:
            if asked.path == "/submit":
                self.kcidb.update({each["id"]: each for each in body["tests"]})
                return {}
            if asked.path == "/patches/":
                return [{"id": 7}] if query["msgid"] else []
            if asked.path == "/patches/7/checks/":
                return self._list(self.checks, method, body, query)
            if asked.path.endswith("/check-runs"):
                return {"check_runs": self._list(self.runs, method, body, {})}
        return None

    @staticmethod
    def _list(kept: list[Any], method: str, body: Any, query: dict[str, str]) -> Any:
        if method == "POST":
            kept.append(body)
        wanted = query.get("context")
        return [each for each in kept if wanted in (None, each.get("context"))]


@contextmanager
def serving(faulty: Faulty) -> Iterator[Faulty]:
    class Handler(BaseHTTPRequestHandler):
        def _do(self, method: str) -> None:
            does = faulty.next()
            faulty.tokens.add(self.headers.get("Authorization", ""))
            length = int(self.headers.get("Content-Length", "0"))
            body = json.loads(self.rfile.read(length)) if length else None
            if does.isdecimal():
                refusal = json.dumps({"detail": faulty.refusal}).encode() if faulty.refusal else b""
                self.send_response(int(does))
                self.send_header("Content-Length", str(len(refusal)))
                self.end_headers()
                self.wfile.write(refusal)
                return
            said = json.dumps(faulty.answer(method, self.path, body)).encode()
            if does == "lost":
                self.connection.close()
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def do_GET(self) -> None:
            self._do("GET")

        def do_POST(self) -> None:
            self._do("POST")

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    faulty.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield faulty
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def faulty() -> Iterator[Faulty]:
    with serving(Faulty()) as found:
        yield found


def settings_of(faulty: Faulty, *targets: TargetName) -> Settings:
    values = {
        TargetName.KCIDB: {"kcidb_url": f"{faulty.url}/submit", "kcidb_origin": "mitigauge",
                           "kcidb_token": "k"},
        TargetName.PATCHWORK: {"patchwork_url": faulty.url, "patchwork_token": "p"},
        TargetName.GITHUB: {"github_api_url": faulty.url, "github_repository": "o/linux",
                            "github_token": "g"},
    }  # fmt: skip
    wanted = {name: value for target in targets for name, value in values[target].items()}
    return get_settings().model_copy(update=wanted)


def due(engine: Engine) -> None:
    """Nobody waits for the next try."""
    with engine.begin() as connection:
        connection.execute(text("update publication set next_at = now() - interval '1 second'"))


def states(engine: Engine) -> dict[str, str]:
    with engine.connect() as connection:
        rows = connection.execute(text("select target, state from publication order by id"))
        return {str(row.target): str(row.state) for row in rows}


def publish(engine: Engine, settings: Settings, tries: int = 10) -> None:
    """As the job does, each time when the pause is over."""
    with transaction(engine) as session:
        service.take_in(session, targets_of(settings))
    for _ in range(tries):
        due(engine)
        while Publisher(engine, settings).send_next():
            pass


@pytest.fixture
def measured(engine: Engine) -> int:
    """A concluded experiment of a revision, whose kernels are from commits."""
    return experiment_of_revision(engine, commit=COMMIT)


ALL = tuple(TargetName)


@pytest.mark.parametrize(
    "does",
    [
        [], ["500"], ["500"] * 5, ["lost"], ["lost", "lost"], ["ok", "lost"], ["ok", "ok", "lost"],
        ["ok", "ok", "lost", "ok", "500"],
        ["503", "lost", "502", "lost", "500"], ["429", "ok", "lost"],
    ],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize("target", ALL)
def test_whatever_fails_each_target_has_it_once(
    engine: Engine, faulty: Faulty, measured: int, target: TargetName, does: list[str]
) -> None:
    faulty.does = list(does)
    publish(engine, settings_of(faulty, target))
    assert states(engine) == {target: PUBLISHED}
    kept = {TargetName.KCIDB: faulty.kcidb, TargetName.PATCHWORK: faulty.checks,
            TargetName.GITHUB: faulty.runs}[target]  # fmt: skip
    assert len(kept) == (2 if target is TargetName.KCIDB else 1)


def test_each_has_its_own_token_and_nothing_goes_anywhere_unasked(
    engine: Engine, faulty: Faulty, measured: int
) -> None:
    assert targets_of(get_settings()) == []
    publish(engine, settings_of(faulty, *ALL))
    assert states(engine) == dict.fromkeys(ALL, PUBLISHED)
    assert faulty.tokens == {"Bearer k", "Token p", "Bearer g"}


def test_verdicts_that_are_given_again_are_published_again(
    engine: Engine, faulty: Faulty, measured: int
) -> None:
    settings = settings_of(faulty, *ALL)
    publish(engine, settings)
    before = faulty.checks[-1]["state"], faulty.runs[-1]["conclusion"]
    # Judged again without a change: nothing new is said.
    judge_again(engine, measured)
    publish(engine, settings)
    assert (len(faulty.checks), len(faulty.runs)) == (1, 1)
    with engine.begin() as connection:
        # The revision's boots take half as long again: for the worse, whatever it was.
        connection.execute(
            text(
                "update measurement set mean = mean * 1.5 where boot_id in (select boot.id from"
                " boot join arm on arm.id = boot.arm_id where not is_baseline)"
            )
        )
    judge_again(engine, measured)
    publish(engine, settings)
    assert states(engine) == dict.fromkeys(ALL, PUBLISHED)
    assert (len(faulty.checks), len(faulty.runs)) == (2, 2)
    assert before == (faulty.checks[0]["state"], faulty.runs[0]["conclusion"])
    assert faulty.checks[-1] != faulty.checks[0]
    assert faulty.runs[-1]["output"]["title"] != faulty.runs[0]["output"]["title"]
    publish(engine, settings)
    assert (len(faulty.checks), len(faulty.runs)) == (2, 2)


def test_figures_that_are_withdrawn_do_not_stay_where_they_were_published(
    engine: Engine, faulty: Faulty, measured: int
) -> None:
    settings = settings_of(faulty, TargetName.KCIDB)
    publish(engine, settings)
    published = set(faulty.kcidb)
    assert "MISS" not in {test["status"] for test in faulty.kcidb.values()}
    withdraw = (
        "update boot set state = 'invalid', reason = 'disturbed' where id in (select boot.id from"
        " boot join arm on arm.id = boot.arm_id where not is_baseline)"
    )
    with engine.begin() as connection:
        connection.execute(text(withdraw))
    judge_again(engine, measured)
    publish(engine, settings)
    assert states(engine) == {TargetName.KCIDB: PUBLISHED}
    assert {number: test["status"] for number, test in faulty.kcidb.items()} == dict.fromkeys(
        published, "MISS"
    )


def test_an_origin_that_kcidb_does_not_take_is_said_and_sends_nothing(
    engine: Engine, faulty: Faulty, measured: int
) -> None:
    settings = settings_of(faulty, TargetName.KCIDB).model_copy(update={"kcidb_origin": "Our Lab"})
    publish(engine, settings, tries=1)
    assert (states(engine), faulty.kcidb) == ({TargetName.KCIDB: WAITING}, {})


def test_a_refusal_for_good_is_kept_with_its_words(
    engine: Engine, faulty: Faulty, measured: int
) -> None:
    faulty.does = ["422"] * 3
    publish(engine, settings_of(faulty, TargetName.KCIDB), tries=2)
    with transaction(engine) as session:
        [row] = repository.of_experiment(session, measured)
        assert (row.state, row.tries) == (PublicationState.NOTHING, 1)
        assert row.said == "it answers 422"


@pytest.mark.parametrize(
    "secret",
    ["Authorization: Token 0123456789abcdef", "ghp_0123456789abcdefghij", "the-token-of-ours",
     "github_pat_11ABCDEFG0123456789_abcdefghijk", "x" * 290 + " the-token-of-ours",
     'a header "Token 0123456789abcdef"', "api_key=0123456789abcdef"],
)  # fmt: skip
def test_what_a_server_repeats_holds_no_secret(
    engine: Engine, faulty: Faulty, measured: int, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty.refusal = f"not for {secret}"
    faulty.does = ["422"] * 3
    monkeypatch.setenv("MITIGAUGE_PATCHWORK_TOKEN", "the-token-of-ours")
    get_settings.cache_clear()
    publish(engine, settings_of(faulty, TargetName.KCIDB), tries=2)
    with transaction(engine) as session:
        [row] = repository.of_experiment(session, measured)
        assert row.said.startswith("it answers 422: not for ")
        assert secret.rpartition(" ")[2].rpartition("=")[2].strip('"')[:12] not in row.said


def test_a_commit_with_patches_on_it_gets_no_check_run(engine: Engine, faulty: Faulty) -> None:
    measured = experiment_of_revision(engine, commit=COMMIT, patched=True)
    publish(engine, settings_of(faulty, TargetName.GITHUB), tries=1)
    assert faulty.runs == []
    with transaction(engine) as session:
        [row] = repository.of_experiment(session, measured)
        assert row.state is PublicationState.NOTHING
        assert "is one commit alone" in row.said


def test_one_whose_sender_died_is_taken_again(
    engine: Engine, faulty: Faulty, measured: int
) -> None:
    settings = settings_of(faulty, TargetName.PATCHWORK)
    with transaction(engine) as session:
        service.take_in(session, targets_of(settings))
        begun = service.begin_next(session, targets_of(settings))
    assert begun is not None
    assert not Publisher(engine, settings).send_next()
    with engine.begin() as connection:
        connection.execute(text("update publication set begun_at = now() - interval '1 hour'"))
    publish(engine, settings)
    assert states(engine) == {TargetName.PATCHWORK: PUBLISHED}
    # Who comes back late changes nothing.
    with transaction(engine) as session:
        service.end(session, begun, Ended(WAITING, "late"))
    assert states(engine) == {TargetName.PATCHWORK: PUBLISHED}


def test_what_is_over_or_of_no_revision_is_not_taken(
    engine: Engine, faulty: Faulty, measured: int
) -> None:
    settings = settings_of(faulty, *ALL)
    with engine.begin() as connection:
        connection.execute(text("update experiment set concluded_at = now() - interval '8 days'"))
    publish(engine, settings)
    assert states(engine) == {}


@pytest.mark.parametrize("rows", [300, pytest.param(10_000, marks=pytest.mark.deep)])
def test_rows_that_four_workers_send_are_each_sent_once(
    engine: Engine, faulty: Faulty, measured: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sending itself is counted here: a third of it fails, and some answers are lost."""
    with engine.begin() as connection:
        connection.execute(text("set session_replication_role = replica"))
        connection.execute(
            text(
                "insert into publication (target, experiment_id)"
                " select 'kcidb', n from generate_series(100001, 100000 + :rows) n"
            ),
            {"rows": rows},
        )
    settings = settings_of(faulty, TargetName.KCIDB)
    taken: Counter[int] = Counter()
    lock, draw = threading.Lock(), random.Random(5)

    def send(_self: Publisher, begun: service.Begun) -> Ended:
        with lock:
            if draw.random() < 1 / 3:
                return Ended(WAITING, "it answers 500")
            taken[begun.experiment_id] += 1
        return Ended(PUBLISHED)

    monkeypatch.setattr(publishing.Publisher, "_send", send)

    def lane(_number: int) -> None:
        publisher = Publisher(engine, settings)
        while publisher.send_next():
            pass

    run: Callable[[int], None] = lane
    while Counter(states_of_all(engine))[WAITING]:
        due_waiting(engine)
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(run, range(4)))
    assert Counter(states_of_all(engine)) == {PUBLISHED: rows}
    assert len(taken) == rows
    assert set(taken.values()) == {1}


def states_of_all(engine: Engine) -> list[str]:
    with engine.connect() as connection:
        return list(connection.scalars(text("select state from publication")))


def due_waiting(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text(
            "update publication set next_at = now() - interval '1 second' where state = 'waiting'"
        ))  # fmt: skip
