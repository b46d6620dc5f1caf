"""`mitigauge bisect`: which patch, commit or setting made a figure worse."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.bisect_text import answer_in_short, print_bisection
from cli.jobs import follow
from cli.output import Json, echo, print_json, print_table, remark, say
from cli.remote.choice import chosen_server, require_local
from cli.remote.routes import at
from cli.source import answer
from cli.stored import stored
from mitigauge.core.documents.parts import counted
from mitigauge.core.errors import InvalidInput, MitigaugeError

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from cli.remote.client import Client
    from mitigauge.tracking.bisect.draft import Draft
    from mitigauge.tracking.bisect.question import Question
    from mitigauge.tracking.bisect.schemas import BisectionView

app = typer.Typer(no_args_is_help=True)

# Exit codes of a command that waits: a culprit is named, there is no name, it could not go on.
NAMED, NO_NAME, FAILED = 3, 0, 1

Number = Annotated[int, typer.Argument(help="A bisection's number (`mitigauge bisect list`).")]
Wait = Annotated[
    bool, typer.Option("--wait/--no-wait", help="Follow it until it has an answer.")
]  # fmt: skip


class Kind(StrEnum):
    """Over what it may go."""

    SERIES = "series"
    PATCHES = "patches"
    TREE = "tree"
    ARMS = "arms"


@app.command()
def start(
    patches: Annotated[
        list[Path] | None,
        typer.Argument(help="Patches in their order: files, a mailbox, a folder of *.patch."),
    ] = None,
    series: Annotated[
        str, typer.Option(help="Instead a patch series that is stored: its name or number.")
    ] = "",
    revision: Annotated[
        str, typer.Option(help="Which of its revisions: v3; the newest where none is given.")
    ] = "",
    tree: Annotated[
        Path | None, typer.Option(help="Instead commits of a local git tree: its directory.")
    ] = None,
    good: Annotated[str, typer.Option(help="A commit of --tree before the change.")] = "",
    bad: Annotated[str, typer.Option(help="A commit of --tree after it.")] = "",
    arms: Annotated[
        Path | None,
        typer.Option(help="Instead an ordered list of modes or kernels: a YAML file, see below."),
    ] = None,
    host: Annotated[
        list[str] | None, typer.Option("--host", help="A host; several that are alike, repeated.")
    ] = None,
    environment: Annotated[str, typer.Option(help="The environment of the hosts.")] = "lab",
    workload: Annotated[str, typer.Option(help="What measures it.")] = "syscall",
    case: Annotated[
        list[str] | None,
        typer.Option("--case", help="A parameter of the workload, NAME=VALUE; repeated."),
    ] = None,
    metric: Annotated[str, typer.Option(help="Which metric; else its primary one.")] = "",
    mode: Annotated[
        str, typer.Option(help="The mode in which every kernel is booted: FAMILY/MODE.")
    ] = "spectre-bhi/off",
    base: Annotated[
        str, typer.Option(help="The source package that patches are applied to.")
    ] = "linux-source-7.2",
    profile: Annotated[
        str,
        typer.Option(
            help="The config profile of the kernels, as for `mitigauge kernel build`; without it: "
            "lab on emulated hosts, as-host on real ones."
        ),
    ] = "",
    boots: Annotated[int, typer.Option(help="How many boots it may take.")] = 300,
    hours: Annotated[
        float, typer.Option(help="How many hours of building and measuring it may take.")
    ] = 48,
    confidence: Annotated[
        float, typer.Option(help="How sure it must be of what it names: 0.5 to 0.9999.")
    ] = 0.95,
    minimum_effect: Annotated[
        float, typer.Option(help="Percent: ends that differ by less are refused.")
    ] = 0.5,
    wait: Wait = True,
    json: Json = False,
) -> None:
    """Find the change that made a figure worse, and verify it before it is named.

    The ends are confirmed first: where they do not differ by two standard deviations of a boot, it
    says what it would take. Then it measures what tells most. A kernel that does not build or does
    not boot is skipped, not judged; a patch that leaves the binary as it was is never blamed. "None
    of these", "several" and "undecided" are answers.

    Over patches, `mitigauge bisect start PATCHES` or `--series NAME`. Over commits, `--tree DIR
    --good A --bad B`, along first parents. Over anything else, `--arms FILE`:

      arms:

        - {name: "off", mode: spectre-bhi/off}

        - {name: loop, mode: spectre-bhi/loop, kernel: 7.2.12-mg0123456789}

        - {name: newer, mode: spectre-bhi/loop, kernel: 7.3.0-mg9876543210}

    A worker takes it on until it has an answer, whatever becomes of this command; where none runs,
    one is started on this machine. `mitigauge bisect wait NUMBER` follows it again, `mitigauge
    bisect cancel NUMBER` ends it.

    Exit code: 3 where a culprit is named, 0 where there is another answer, 1 where it failed.
    """
    from cli.workers import require_served
    from mitigauge.jobs.states import Ability
    from mitigauge.tracking.bisect import service
    from mitigauge.tracking.bisect.question import Question, parameters_of

    named = {Kind.SERIES: bool(series), Kind.PATCHES: bool(patches), Kind.TREE: tree is not None,
             Kind.ARMS: arms is not None}  # fmt: skip
    if sum(named.values()) != 1:
        raise InvalidInput(
            "say what is bisected, one of these",
            hint="PATCHES, --series NAME, --tree DIR --good A --bad B, or --arms FILE.",
        )
    asked = Question(
        tuple(dict.fromkeys(host or ["lab-intel"])),
        workload,
        parameters_of(case or []),
        metric,
        environment,
        minimum_effect,
        confidence,
        boots,
        hours,
    )
    if chosen_server():
        what = _sent(series, revision, patches or [], tree, arms)
        number = _begin_there(what | {"base": base, "profile": profile, "mode": mode}, asked)
    elif series:
        number = _begin_series(series, revision, asked, mode)
    else:
        draft = _draft(patches or [], tree, (good, bad), arms, asked, mode, base, profile)
        with stored() as session:
            number = service.begin(session, draft).id
    view = _view(number)
    require_served(Ability.KERNELS)
    if json and not wait:
        print_json(view)
        return
    if not json:
        say(f"bisection {number}: {view.title}: {counted(view.candidates, 'candidate')}")
        for note in view.source.notes:
            say(f"  {note}")
    if not wait:
        say(f"`mitigauge bisect wait {number}` follows it")
        return
    raise typer.Exit(_followed(number, json=json))


def _sent(
    series: str, revision: str, patches: list[Path], tree: Path | None, arms: Path | None
) -> dict[str, object]:
    """What the API is told is bisected."""
    from cli.experiment import read_spec_file
    from cli.mails import patches_from, sent

    if tree is not None:
        require_local("bisect start --tree", "Or give the commits as patches.")
    return {
        "series": series,
        "revision": revision,
        "patches": sent(patches_from(patches)) if patches else [],
        "arms": read_spec_file(arms) if arms is not None else "",
    }


def _begin_there(what: dict[str, object], asked: Question) -> int:
    from cli.remote.client import client
    from mitigauge.tracking.bisect.schemas import BisectionView

    body = {
        "hosts": asked.hosts,
        "environment": asked.environment,
        "workload": asked.workload,
        "parameters": asked.parameters,
        "metric": asked.metric,
        "boots": asked.budget_boots,
        "hours": asked.budget_hours,
        "confidence": asked.confidence,
        "minimum_effect_percent": asked.minimum_effect_percent,
    }
    return client().post("/api/bisections", BisectionView, {**body, **what}).id


def _begin_series(name: str, revision: str, asked: Question, mode: str) -> int:
    from mitigauge.core.settings import get_settings
    from mitigauge.storage.files.blobs import blob_store
    from mitigauge.tracking.bisect import service
    from mitigauge.tracking.bisect.sources import from_revision
    from mitigauge.tracking.series import service as series_service

    with stored() as session:
        found = series_service.find_revision(session, name, revision)
        draft = from_revision(session, found, blob_store(get_settings()), asked, mode)
        return service.begin(session, draft).id


def _draft(
    patches: list[Path], tree: Path | None, ends: tuple[str, str], arms: Path | None,
    asked: Question, mode: str, base: str, profile: str,
) -> Draft:  # fmt: skip
    """What files or a git tree ask for."""
    from cli.experiment import read_spec_file
    from cli.mails import patches_from
    from mitigauge.core.settings import get_settings
    from mitigauge.storage.files.blobs import blob_store
    from mitigauge.tracking.bisect.sources import from_arms, from_patches
    from pipelines.bisect_tree import from_tree

    blobs = blob_store(get_settings())
    if tree is not None:
        good, bad = ends
        if not (good and bad):
            raise InvalidInput(
                "a git tree needs both ends", hint="Give --good COMMIT and --bad COMMIT."
            )
        return from_tree(tree, good, bad, profile, blobs, asked, mode)
    if arms is not None:
        return from_arms(read_spec_file(arms), str(arms), asked)
    found = patches_from(patches)
    return from_patches(found, base, profile, blobs, asked, mode)


@app.command()
def wait(bisection: Number, json: Json = False) -> None:
    """Follow a bisection until it has an answer. Exit codes as of `start`.

    It starts no worker: where none builds kernels, it says so and waits.
    """
    from cli.workers import missing_worker
    from mitigauge.jobs.states import Ability

    if _view(bisection).state == "running" and not chosen_server():
        _see_that_it_goes_on(bisection)
        if missing := missing_worker(Ability.KERNELS):
            remark(f"{missing}: `mitigauge worker` starts one")
    raise typer.Exit(_followed(bisection, json=json))


def _followed(number: int, *, json: bool) -> int:
    """Follow it to its end; the exit code."""
    from mitigauge.jobs.repository import newest_job
    from mitigauge.jobs.schemas import JobView
    from mitigauge.jobs.states import JobKind

    def here(session: Session) -> int | None:
        job = newest_job(session, JobKind.BISECTION, str(number))
        return job.id if job is not None else None

    def there(client: Client) -> int | None:
        # The newest stand first.
        for job in client.get("/api/jobs", list[JobView]):
            if job.kind is JobKind.BISECTION and job.subject == str(number):
                return job.id
        return None

    job = answer(here, there)
    if job is not None:
        follow(job)
    view = _view(number)
    print_json(view) if json else print_bisection(view)
    if view.state != "finished":
        return FAILED
    return NAMED if view.answer == "found" else NO_NAME


def _see_that_it_goes_on(number: int) -> None:
    """A bisection that was begun before there were jobs has none."""
    from mitigauge.tracking.bisect import repository, service

    with stored() as session:
        service.ask(session, repository.whole(session, number))


@app.command("list")
def list_bisections(
    find: Annotated[str, typer.Option(help="Words, each in title, case, metric or who.")] = "",
    state: Annotated[
        list[str] | None, typer.Option(help="running, finished, cancelled, …; repeated: any.")
    ] = None,
    json: Json = False,
) -> None:
    """Bisections, the newest first."""
    from cli.choices import chosen
    from mitigauge.tracking.bisect.bisection_view import heads
    from mitigauge.tracking.bisect.schemas import BisectionHead
    from mitigauge.tracking.bisect.states import BisectionState

    states = chosen(state, BisectionState, "--state")
    found = answer(
        lambda session: heads(session, find, states),
        lambda client: client.get(
            "/api/bisections", list[BisectionHead], find=find, state=list(map(str, states))
        ),
        reads=True,
    )
    if json:
        print_json(found)
        return
    print_table(
        ["id", "of", "answer", "boots", "hours"],
        [
            [str(b.id), (b.case, f"{b.title}, {counted(b.candidates, 'candidate')}"),
             answer_in_short(b) or b.state,
             f"{b.boots}/{b.budget_boots}", f"{b.seconds / 3600:.1f}/{b.budget_s / 3600:.0f}"]
            for b in found
        ],
        empty="No bisections yet: `mitigauge bisect start PATCHES` finds the patch that made a "
        "figure worse; `mitigauge bisect start --help` says over what else.",
    )  # fmt: skip


@app.command()
def show(bisection: Number, json: Json = False) -> None:
    """One bisection: its candidates with their probability, its steps, what was skipped."""
    view = _view(bisection)
    print_json(view) if json else print_bisection(view)


@app.command()
def cancel(bisection: Number) -> None:
    """Stop a bisection and the experiment that it waits for; hosts are restored first."""
    from mitigauge.tracking.bisect import service
    from mitigauge.tracking.bisect.schemas import BisectionView

    answer(
        lambda session: service.cancel(session, bisection),
        lambda client: client.post(at("/api/bisections/{}/cancel", bisection), BisectionView),
    )
    say(f"bisection {bisection} is cancelled")


@app.command()
def report(
    bisection: Number,
    to: Annotated[Path | None, typer.Option("--to", help="Write the mail to that file.")] = None,
    send: Annotated[
        str, typer.Option("--send", help="Send it through this SMTP server: host or host:port.")
    ] = "",
    sender: Annotated[str, typer.Option("--from", help="Who reports: Name <name@host>.")] = "",
    receivers: Annotated[
        list[str] | None,
        typer.Option("--recipient", help="Who is told, where the patches' mails name nobody."),
    ] = None,
    plain_connection: Annotated[
        bool, typer.Option("--plain", help="Send without TLS: a server of this machine.")
    ] = False,
) -> None:
    """The mail about the culprit, as reports of regressions are written on kernel lists.

    It is printed, unless --to or --send says otherwise: nothing is sent by itself. There is none
    below the confidence that the bisection was asked for.
    """
    from mitigauge.reporting.deliveries.service import note_sent
    from mitigauge.reporting.letters.regression.service import regression_mail
    from mitigauge.reporting.letters.reply.reply import as_file
    from pipelines.adapters.mail import send as send_mail

    if send and not sender:
        raise InvalidInput(
            "who reports is not said", hint="Give --from 'Name <name@host>' with --send."
        )
    with stored() as session:
        mail = regression_mail(session, bisection, sender=sender, to=receivers or [])
    if to is not None:
        try:
            to.write_bytes(as_file(mail))
        except OSError as error:
            raise MitigaugeError(
                f"{to} cannot be written: {error.strerror}", hint="Give another file."
            ) from error
        say(f"written to {to}; nothing was sent")
    elif send:
        if not mail["To"]:
            raise InvalidInput("nobody is told", hint="Give --recipient 'Name <name@host>'.")
        send_mail(mail, send, encrypted=not plain_connection)
        with stored() as session:
            note_sent(session, f"bisection-{bisection}", [str(mail["To"])])
        say(f"sent to {mail['To']}")
    else:
        echo(as_file(mail).decode())


def _view(number: int) -> BisectionView:
    from mitigauge.tracking.bisect import bisection_view
    from mitigauge.tracking.bisect.schemas import BisectionView

    return answer(
        lambda session: bisection_view.show(session, number),
        lambda client: client.get(at("/api/bisections/{}", number), BisectionView),
        reads=True,
    )
