"""Series, kernels, bisections and mails under faults: nothing lost, sent twice, stuck, or ended
wrongly.

Rounds of one revision, one bisection and one mail each, over a real database and a real mail
server; kernels are pretended and experiments only said to have run. `MITIGAUGE_FAULTS=300` makes a
campaign of it. What is a fault: a worker that is killed before or after a commit, a database that
hangs up, a full disk and a mirror that is away under a build, a mail server that refuses, for now
or for good.
"""

from __future__ import annotations

import errno
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path

import pytest
from sqlalchemy import Engine, event, select, text
from sqlalchemy.orm import Session

from mitigauge.core.errors import NotReady
from mitigauge.core.settings import get_settings
from mitigauge.reporting.deliveries import service as deliveries
from mitigauge.reporting.deliveries.states import DeliveryState
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.bisect import decision_service
from mitigauge.tracking.bisect.states import BisectionState
from mitigauge.tracking.bisect.tables import Bisection
from mitigauge.tracking.series import service
from mitigauge.tracking.series.mail_thread import revisions
from mitigauge.tracking.series.service import SeriesOptions
from mitigauge.tracking.series.states import RevisionState
from mitigauge.tracking.series.tables import SeriesRevision
from pipelines.bisect_run import Driver
from pipelines.kernel_order import Order
from pipelines.mail_post import post
from pipelines.series_watch import Watcher
from tests.bisections import BREAKS, Pretended, begun, patches, run_open_experiments
from tests.db.test_bisections import Kill, Killed, halving, slow_from
from tests.mail_server import mail_server
from tests.series_mails import diff, series

FAULTS = int(os.environ.get("MITIGAUGE_FAULTS", "40"))
GOOD, BUSY, BAD = "good@example.org", "busy@example.org", "bad@example.org"
MOST_TICKS = 400
# More in a row would set a revision aside, as it should.
MOST_BUILD_FAULTS = 5


class Faulty(Pretended):
    """Builds fail now and then through no fault of their patches."""

    next_error: BaseException | None = None

    def build(self, order: Order, *, anew: bool = False) -> int:
        error, type(self).next_error = type(self).next_error, None
        if error is not None:
            raise error
        return super().build(order, anew=anew)


@dataclass
class Round:
    """What one round began, and what must come of it."""

    revision: int
    builds: bool
    bisection: int
    culprit: int
    mail: str
    build_faults: int = 0


@dataclass
class World:
    """The services, the faults that were done to them, and the rounds."""

    engine: Engine
    builder: Faulty
    chance: random.Random
    server: object
    faults: Counter[str] = field(default_factory=Counter)
    rounds: list[Round] = field(default_factory=list)

    @property
    def where(self) -> str:
        return f"127.0.0.1:{self.server.port}"  # type: ignore[attr-defined]

    def begin(self) -> Round:
        number = len(self.rounds)
        builds, culprit = self.chance.random() < 0.75, self.chance.randint(1, 3)
        content = f"toy {number}" if builds else f"toy {number} {BREAKS}"
        with Session(self.engine) as session:
            mails = series(1, [diff(f"toys/{number}.c", "a", content)], change_id=f"toy-{number}")
            [added] = service.add(
                session, revisions(mails), self.builder.blobs,
                wanted=SeriesOptions(f"toys-{number}", "vmscape"),
            )  # fmt: skip
            service.approve(session, added)
            session.commit()
            revision = added.id
        texts = [f"one {number}", f"two {number}", f"three {number}"]
        bisection = begun(self.engine, self.builder.blobs, patches(*texts))
        self.rounds.append(Round(revision, builds, bisection, culprit, f"mail-{number}"))
        return self.rounds[-1]

    def actions(self, now: Round) -> list[Callable[[], object]]:
        return [
            Watcher(self.builder, get_settings(), lambda _line: None).start,
            Driver(self.builder).tick_all,
            lambda: post(self.engine, now.mail, letter(now.mail), [GOOD, BUSY, BAD], self.where,
                         encrypted=False),
        ]  # fmt: skip

    def tick(self, now: Round) -> None:
        """Each service once, one of them under a fault, most often."""
        actions = self.actions(now)
        struck = self.chance.randrange(len(actions)) if self.chance.random() < 0.5 else None
        for place, act in enumerate(actions):
            fault = self.fault(now) if place == struck else suppress(Exception)
            with fault:
                act()
        self.pass_time()

    def fault(self, now: Round) -> AbstractContextManager[object]:
        kinds = ["killed before a commit", "killed after a commit", "database away", "SMTP"]
        if now.build_faults < MOST_BUILD_FAULTS:
            kinds += ["disk full", "mirror away"]
        return self.struck(self.chance.choice(kinds), now)

    @contextmanager
    def struck(self, kind: str, now: Round) -> Iterator[None]:
        self.faults[kind] += 1
        undo: Callable[[], None] = lambda: None  # noqa: E731
        if kind.startswith("killed"):
            undo = kill_at(self.chance.randint(1, 6), after="after" in kind)
        elif kind == "database away":
            hang_up(self.engine)
        elif kind == "SMTP":
            refused = self.server.handler.refuses  # type: ignore[attr-defined]
            self.server.handler.refuses = {**refused, GOOD: "451 later", BUSY: "421 go away"}  # type: ignore[attr-defined]

            def undo() -> None:
                self.server.handler.refuses = refused  # type: ignore[attr-defined]
        else:
            now.build_faults += 1
            Faulty.next_error = (
                OSError(errno.ENOSPC, "No space left on device")
                if kind == "disk full"
                else NotReady("the mirror is away")
            )
        try:
            # Whatever it was, the services go on.
            with suppress(Killed, Exception):
                yield
        finally:
            undo()

    def pass_time(self) -> None:
        """Pauses are over, and a sender that died is known to have."""
        with self.engine.begin() as connection:
            # Those of revisions have many cases, and nobody waits for them here.
            connection.execute(text("update experiment set state = 'finished', "
                                    "finished_at = now(), concluded_at = now() "
                                    "where name not like 'bisect-%'"))  # fmt: skip
        if self.chance.random() < 0.5:
            run_open_experiments(self.engine, self.level)
        with self.engine.begin() as connection:
            for table in ("series_revision", "bisection"):
                connection.execute(text(f"update {table} set again_at = now()"))
            by = {"by": deliveries.LOST_AFTER * 2}
            connection.execute(text("update mail_delivery set begun_at = begun_at - :by"), by)

    def level(self, point: int, block: int) -> float | None:
        return slow_from(self.rounds[-1].culprit)(point, block)

    def is_over(self, now: Round) -> bool:
        with Session(self.engine) as session:
            state = session.get_one(SeriesRevision, now.revision).state
            bisection = session.get_one(Bisection, now.bisection).state
            standing = deliveries.standing(session, now.mail)
        posted = standing.of(*DeliveryState) and not standing.is_open
        over = state in (RevisionState.MEASURING, RevisionState.FAILED, RevisionState.SET_ASIDE)
        return bool(over and bisection != BisectionState.RUNNING and posted)


def letter(name: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["Subject"], message["To"] = "r@example.com", name, GOOD
    message.set_content("text")
    return message


def kill_at(commit: int, *, after: bool) -> Callable[[], None]:
    """End whatever runs at the commit of that number; the way to take it back."""
    kill = Kill(commit, after=after)
    event.listen(Session, "before_commit", kill.before_commit)
    event.listen(Session, "after_commit", kill.after_commit)

    def undo() -> None:
        event.remove(Session, "before_commit", kill.before_commit)
        event.remove(Session, "after_commit", kill.after_commit)

    return undo


def hang_up(engine: Engine) -> None:
    """End every other connection to the database."""
    with engine.begin() as connection:
        connection.execute(
            text(
                "select pg_terminate_backend(pid) from pg_stat_activity "
                "where datname = current_database() and pid <> pg_backend_pid()"
            )
        )


def check(world: World) -> list[str]:
    """What went wrong, a line a thing."""
    wrong = []
    sent = Counter((m["Subject"], r) for m in world.server.handler.mails  # type: ignore[attr-defined]
                   for r in str(m["X-RcptTo"]).split(", "))  # fmt: skip
    with Session(world.engine) as session:
        for each in world.rounds:
            revision = session.get_one(SeriesRevision, each.revision)
            wanted = RevisionState.MEASURING if each.builds else RevisionState.FAILED
            if revision.state != wanted:
                wrong.append(f"ended wrongly: revision {revision.state}: {revision.why}")
            bisection = session.get_one(Bisection, each.bisection)
            found = bisection.answer.candidates if bisection.answer else bisection.why
            if found != [each.culprit]:
                wrong.append(f"ended wrongly: bisection {found}, not {each.culprit}")
            standing = deliveries.standing(session, each.mail)
            for who in (GOOD, BUSY):
                copies = sent[each.mail, who]
                if copies > 1:
                    wrong.append(f"twice: {each.mail} to {who}, {copies} copies")
                told = standing.of(DeliveryState.TAKEN, DeliveryState.UNKNOWN)
                if not copies and who not in told:
                    wrong.append(f"lost: {each.mail} to {who}")
            if sent[each.mail, BAD]:
                wrong.append(f"sent to whom the server refused: {each.mail}")
        measured = session.scalars(
            select(SeriesRevision.experiment_id).where(SeriesRevision.experiment_id.is_not(None))
        ).all()
        named = session.scalar(
            text("select count(*) from experiment where name not like 'bisect-%'")
        )
        if named != len(measured):
            wrong.append(f"twice: {named} experiments of {len(measured)} revisions")
    return wrong


def test_nothing_is_lost_sent_twice_stuck_or_ended_wrongly(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decision_service, "next_action", halving)
    seed = int(os.environ.get("MITIGAUGE_SEED", "7"))
    with mail_server(refuses={BAD: "550 no"}) as server:
        builder = Faulty(home, engine, blob_store(get_settings()))
        world = World(engine, builder, random.Random(seed), server)
        stuck = 0
        while sum(world.faults.values()) < FAULTS:
            now = world.begin()
            for _ in range(MOST_TICKS):
                if world.is_over(now):
                    break
                world.tick(now)
            else:
                stuck += 1
        wrong = check(world)
    said = ", ".join(f"{kind}: {number}" for kind, number in sorted(world.faults.items()))
    print(f"\n{sum(world.faults.values())} faults in {len(world.rounds)} rounds: {said}; "
          f"{stuck} stuck; {len(wrong)} wrong")  # fmt: skip
    assert (stuck, wrong) == (0, [])
