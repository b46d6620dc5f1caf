"""Every command that changes something leaves an entry; every other is known to change nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
import typer
from sqlalchemy import Engine, text
from typer.testing import CliRunner

from cli.main import build
from mitigauge.core.actor import Way, person_at_command
from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.jobs import service as jobs
from mitigauge.jobs.states import Ability
from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.series import service as series
from mitigauge.tracking.series.request import RequestKind
from mitigauge.tracking.series.schemas import Recipients
from mitigauge.tracking.series.states import Attested, RequestState
from mitigauge.tracking.series.tables import SeriesRequest
from mitigauge.tracking.trends.update import update
from tests.api.conftest import planned
from tests.api.test_series import stored as store_series
from tests.audit_entries import entries
from tests.db.test_commands import DEMO, FOLDED, PATCHES, _names
from tests.db.test_jobs import ASKED
from tests.db.test_kernels import built
from tests.regressions_made import decided_cell, found_regressions
from tests.trends_made import weeks
from tests.workers import announce

PATCH = sorted((REPOSITORY / "tests" / "series" / "bisect").glob("*.patch"))[1]


class Person:
    """Calls commands in this process, over the test's database."""

    def __init__(self, engine: Engine, home: Path, patch: pytest.MonkeyPatch) -> None:
        self.engine, self.home, self.patch = engine, home, patch

    def __call__(self, *words: object) -> str:
        done = CliRunner().invoke(build(), [str(word) for word in words])
        assert done.exit_code == 0, f"{words}: {done.output} {done.exception!r}"
        return done.stdout

    def execute(self, statement: str) -> Any:
        with self.engine.begin() as connection:
            return connection.execute(text(statement)).scalar()


@pytest.fixture
def person(
    engine: Engine, database_url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> Person:
    monkeypatch.setenv("MITIGAUGE_DATABASE_URL", database_url)
    monkeypatch.setattr("mitigauge.storage.database.engine.get_engine", lambda: engine)
    monkeypatch.setattr("pipelines.adapters.mail.send", lambda *_, **__: None)
    get_settings.cache_clear()
    # Nobody starts a worker of their own.
    announce(engine, jobs=[Ability.KERNELS])
    return Person(engine, home, monkeypatch)


def submit(person: Person) -> None:
    person("experiment", "submit", REPOSITORY / "experiments" / "lab-demo.yml")


def qualify(person: Person) -> None:
    spec = REPOSITORY / "experiments" / "lab-small.yml"
    person("experiment", "qualify", spec, "--host", "lab-amd")


def order_blocks(person: Person) -> None:
    """Of one that is over, whose own entry is not the last."""
    submit(person)
    person.execute("update experiment set state = 'finished' returning id")
    person("experiment", "undecided", 1, "--blocks", 3)
    assert len(entries(person.engine, "experiment.submit")) == 2


def cancel_experiment(person: Person) -> None:
    person("experiment", "cancel", planned(person.engine))


def import_experiment(person: Person) -> None:
    person("experiment", "import", DEMO)


def judge(person: Person) -> None:
    import_experiment(person)
    person("experiment", "judge", 1)


def cancel_job(person: Person) -> None:
    with transaction(person.engine) as session:
        number = jobs.ask(session, ASKED).id
    person("job", "cancel", number)


def set_aside(person: Person) -> None:
    planned(person.engine)
    person("host", "set-aside", "alpha", "--reason", "its fan")


def resume(person: Person) -> None:
    set_aside(person)
    person("host", "resume", "alpha")


def reserve(person: Person) -> None:
    planned(person.engine)
    person("host", "reserve", "alpha", "--until", "8h", "--reason", "a new BIOS")


def release(person: Person) -> None:
    reserve(person)
    person("host", "release", "alpha")


def build_kernel(person: Person) -> None:
    person("kernel", "build", "--no-wait")


def import_kernel(person: Person) -> None:
    package = person.home / "a.deb"
    package.write_bytes(b"deb")
    person.patch.setattr("pipelines.kernel_import.read_package", lambda *_: built("6.19.0-mine"))
    person("kernel", "import", package)


def remove_kernel(person: Person) -> None:
    import_kernel(person)
    person("kernel", "remove", "6.19.0-mine")


def add_series(person: Person) -> None:
    person("series", "add", PATCHES)


def set_series(person: Person) -> None:
    store_series(person.engine)
    person("series", "set", "bhb", "--base", "linux-source-6.12")


def approve_series(person: Person) -> None:
    store_series(person.engine)
    with transaction(person.engine) as session:
        digest = series.find_revision(session, "bhb", "v2").digest
    person("series", "approve", "bhb", "v2", digest)


def start_series(person: Person) -> None:
    approve_series(person)
    person("series", "start", "bhb", "v2", "--no-wait")


def study_series(person: Person) -> None:
    approve_series(person)
    person("series", "study", "bhb", "selection", "v2", "--no-wait")


def retest(person: Person) -> None:
    store_series(person.engine)
    person("series", "retest", "bhb", "v2", "--with", PATCH)


def ignore(person: Person) -> None:
    with transaction(person.engine) as session:
        session.add(
            SeriesRequest(
                message_id="a@b", sender="ann@example.org", subject="s", signature="", line="",
                recipients=Recipients(subject="s", to=[], cc=[], references=[]), why="",
                attested=Attested.MISSING, mail_sha256="0" * 64, asked=RequestKind.STOP,
                state=RequestState.WAITING,
            )
        )  # fmt: skip
    person("series", "ignore", person.execute("select id from series_request"))


def bisect(person: Person) -> int:
    said = person("bisect", "start", PATCH.parent, "--no-wait", "--json")
    return int(json.loads(said)["id"])


def cancel_bisection(person: Person) -> None:
    person("bisect", "cancel", bisect(person))


def changed_trend(person: Person) -> tuple[int, int]:
    weeks(person.engine, [1.0] * 10 + [1.05] * 8)
    update(person.engine)
    change = person.execute("select min(id) from trend_change")
    return person.execute(f"select trend_id from trend_change where id = {change}"), change


def annotate(person: Person) -> None:
    person("trends", "annotate", changed_trend(person)[0], "the rack moved")


def accept(person: Person) -> None:
    person("trends", "accept", changed_trend(person)[1], "the new allocator")


def set_regression(person: Person) -> None:
    person("regression", "set", found_regressions(person.engine)[0], "--owner", "alice")


def ask_for_fresh_boots(person: Person) -> None:
    person("regression", "confirm", found_regressions(person.engine)[0])


def file_regression(person: Person) -> None:
    cell = decided_cell(person.engine)
    person("regression", "file", cell["experiment_id"], "--host", cell["host"], "--case",
           cell["case_id"], "--arm", cell["arm"], "--metric", cell["metric"])  # fmt: skip


def subscribe(person: Person) -> int:
    said = person("subscription", "add", "week", "--mail", "a@example.org", "--json")
    return int(json.loads(said)["subscription"]["id"])


def pause_subscription(person: Person) -> int:
    number = subscribe(person)
    person("subscription", "pause", number)
    return number


def resume_subscription(person: Person) -> None:
    person("subscription", "resume", pause_subscription(person))


def remove_subscription(person: Person) -> None:
    person("subscription", "remove", subscribe(person))


def create_token(person: Person) -> None:
    person("token", "create", "ann", "--role", "viewer")


def revoke_token(person: Person) -> None:
    create_token(person)
    person("token", "revoke", "ann")


def import_claims(person: Person) -> None:
    person("claims", "import")


def import_profile(person: Person) -> None:
    person("profile", "import", FOLDED, "--tree", "web", "--group", "before")


def backup(person: Person) -> None:
    person("db", "backup", person.home / "kept")


def prune(person: Person) -> None:
    person("db", "prune")


def make_report(person: Person) -> None:
    person("report", "weekly")


def mail_report(person: Person) -> None:
    person("report", "weekly", "--send", "a@example.org", "--server", "h", "--from", "b@h.org")


def mail_reply(person: Person) -> None:
    store_series(person.engine)
    person.patch.setattr(
        "mitigauge.reporting.letters.reply.service.answer", lambda *_, **__: a_mail()
    )
    person("report", "reply", "bhb", "v2", "--send", "h", "--from", "b@h.org")


def mail_bisection(person: Person) -> None:
    number = bisect(person)
    service = "mitigauge.reporting.letters.regression.service"
    person.patch.setattr(f"{service}.regression_mail", lambda *_, **__: a_mail())
    person("bisect", "report", number, "--send", "h", "--from", "b@h.org")


def a_mail() -> EmailMessage:
    mail = EmailMessage()
    mail["To"] = "a@example.org"
    mail["Subject"] = "s"
    mail.set_content("x")
    return mail


# Each command that changes something, the entry that it leaves, and how it is made to.
RECORDED: dict[str, tuple[str, Callable[[Person], object]]] = {
    "bisect cancel": ("bisection.cancel", cancel_bisection),
    "bisect report": ("mail.send", mail_bisection),
    "bisect start": ("bisection.start", bisect),
    "claims import": ("claims.import", import_claims),
    "db backup": ("backup.take", backup),
    "db prune": ("database.prune", prune),
    "experiment cancel": ("experiment.cancel", cancel_experiment),
    "experiment import": ("experiment.import", import_experiment),
    "experiment judge": ("experiment.judge", judge),
    "experiment qualify": ("experiment.submit", qualify),
    "experiment submit": ("experiment.submit", submit),
    "experiment undecided --order": ("experiment.submit", order_blocks),
    "host release": ("host.release", release),
    "host reserve": ("host.reserve", reserve),
    "host resume": ("host.resume", resume),
    "host set-aside": ("host.set-aside", set_aside),
    "job cancel": ("job.cancel", cancel_job),
    "kernel build": ("job.ask", build_kernel),
    "kernel import": ("kernel.import", import_kernel),
    "kernel remove": ("kernel.remove", remove_kernel),
    "profile import": ("profile.import", import_profile),
    "report reply": ("mail.send", mail_reply),
    "report weekly": ("report.make", make_report),
    "report weekly --send": ("mail.send", mail_report),
    "series add": ("series.add", add_series),
    "series approve": ("series.approve", approve_series),
    "series ignore": ("request.ignore", ignore),
    "series retest": ("series.retest", retest),
    "series set": ("series.set", set_series),
    "series start": ("job.ask", start_series),
    "series study": ("job.ask", study_series),
    "token create": ("token.create", create_token),
    "token revoke": ("token.revoke", revoke_token),
    "regression file": ("regression.file", file_regression),
    "regression confirm": ("regression.change", ask_for_fresh_boots),
    "regression set": ("regression.change", set_regression),
    "subscription add": ("subscription.add", subscribe),
    "subscription pause": ("subscription.pause", pause_subscription),
    "subscription remove": ("subscription.remove", remove_subscription),
    "subscription resume": ("subscription.resume", resume_subscription),
    "trends accept": ("trend.accept", accept),
    "trends annotate": ("trend.annotate", annotate),
}
# Recorded too, which a test of that file shows by that word.
ELSEWHERE = {
    "db restore": ("tests/db/test_backups.py", "backup.restore"),
    "db upgrade": ("tests/db/test_audit.py", "database.upgrade"),
    # Both take the host from runs while somebody works on it, and give it back.
    "host restore": ("tests/db/test_audit.py", "runs.keep_out"),
    "host check": ("tests/db/test_audit.py", "runs.keep_out"),
}
# What is changed stands in no table of ours, or is worked out of what stands there.
UNRECORDED = {
    "host add": "a line of an inventory, a file that is kept with the code",
    "lab up": "hosts emulated on this machine, which no table has",
    "lab down": "the same",
    "lab console": "the same",
    "demo": "it does what the commands do that it calls",
    "try": "it orders a kernel and submits an experiment, as the commands for these do",
    "serve": "each request is recorded by itself",
    "series watch": "the service's own jobs look at once instead of a minute later",
    "trends update": "trends are worked out of values that are stored; a worker does it all day",
}
READS = {
    "audit export", "audit list", "bisect list", "bisect show", "bisect wait", "claims show",
    "compare", "cost", "db check", "db status",
    "experiment compare",
    "experiment export", "experiment iterations", "experiment limits", "experiment list",
    "experiment new",
    "experiment published", "experiment report", "experiment show", "experiment table",
    "experiment wait", "health", "host list", "host queue", "host show", "job list", "job show",
    "job wait",
    "kernel list", "kernel profiles", "kernel show", "lab status",
    "matrix select", "openapi", "profile diff",
    "find", "price estimate", "price list", "price measure", "price rank",
    "price predict", "price rates",
    "snippet rank",
    "profile exact", "profile export", "profile fold", "profile functions",
    "profile show",
    "profile instructions",
    "regression error-rates", "regression list", "regression show", "report check",
    "subscription list",
    "series list", "series requests", "series show", "series studies", "token list",
    "trends list", "trends show", "worker list",
}  # fmt: skip


def test_of_every_command_it_is_known_whether_it_changes_something() -> None:
    recorded = {name.split(" --")[0] for name in RECORDED}
    kinds = [recorded, set(ELSEWHERE), set(UNRECORDED), READS]
    every = set(_names(typer.main.get_command(build()), ()))
    assert set().union(*kinds) == every
    assert sum(map(len, kinds)) == len(every)
    assert all(UNRECORDED.values())


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_shown_elsewhere_is(name: str) -> None:
    file, word = ELSEWHERE[name]
    assert word in (REPOSITORY / file).read_text()


@pytest.mark.parametrize("name", RECORDED)
def test_a_command_that_changes_something_leaves_an_entry(person: Person, name: str) -> None:
    action, do = RECORDED[name]
    began = datetime.now(UTC)
    do(person)
    found = entries(person.engine, action)
    assert found, [entry.action for entry in entries(person.engine)]
    entry, who = found[-1], person_at_command()
    assert (entry.actor, entry.way, entry.address) == (who.name, Way.COMMAND, who.address)
    assert entry.refused == entry.request_id == entry.job == ""
    assert abs((entry.at - began).total_seconds()) < 120


def test_what_is_asked_for_again_or_only_looked_at_leaves_none(person: Person) -> None:
    import_claims(person)
    import_profile(person)
    before = len(entries(person.engine))
    import_claims(person)
    import_profile(person)
    person("db", "prune", "--dry-run")
    person("token", "list")
    person("audit", "list")
    assert len(entries(person.engine)) == before
