"""`mitigauge series`: patch series, from their mails to the experiment of each revision."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import series_mail, series_study
from cli.bases import Loose, SeriesBase
from cli.jobs import followed, print_asked
from cli.mails import LORE, is_message_id, mails_from, patches_from
from cli.output import Json, print_json, print_table, remark, say
from cli.remote.choice import chosen_server, require_local
from cli.remote.routes import at
from cli.series_study import revision_of
from cli.source import answer
from cli.stored import stored

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.orm import Session

    from cli.remote.client import Client
    from mitigauge.tracking.series.mail_thread import FoundRevision
    from mitigauge.tracking.series.range_diff import Comparison
    from mitigauge.tracking.series.schemas import RevisionView, SeriesView

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="A series' name or number (`mitigauge series list`).")]
Revision = Annotated[str, typer.Argument(help="v3, or v3+fix-7; the newest where none is given.")]
Spec = Annotated[
    str, typer.Option(help="Which of our specs measures it: a name below experiments/series.")
]
Profile = Annotated[
    str,
    typer.Option(
        help="The config profile of its kernels, as for `mitigauge kernel build`; as-host: the own "
        "one of the hosts that measure it. It is read once and kept; give it again to read it "
        "again. Without it: lab on emulated hosts, as-host on real ones."
    ),
]


@app.command()
def add(
    mails: Annotated[
        list[str],
        typer.Argument(help="A message-id; or mailboxes, mails of `git format-patch`, folders."),
    ],
    name: Annotated[str, typer.Option(help="A short name; else made of the title.")] = "",
    spec: Spec = "",
    base: SeriesBase = "",
    profile: Profile = "",
    archive: Annotated[
        str, typer.Option(help="Where a message-id is looked up, and new revisions are.")
    ] = LORE,
    loose: Loose = False,
    json: Json = False,
) -> None:
    """Store a series, or new revisions of one, and compare each with the one before.

    Revisions hang together by the change-id in their cover letters, or by sender and title. A
    revision that is not whole is stored as refused with the reason. Nothing is built yet:
    `mitigauge series start` does that, for one that was approved. A series that was added by its
    message-id is watched: workers with MITIGAUGE_WATCH_SERIES=true store its new revisions.
    """
    from mitigauge.core.settings import get_settings
    from mitigauge.storage.files.blobs import blob_store
    from mitigauge.tracking.series import service
    from mitigauge.tracking.series.mail_thread import of_one_series, revisions
    from mitigauge.tracking.series.schemas import SeriesView
    from pipelines.series_watch import trust_in

    profile, kept = _known(spec, profile)
    followed = archive if is_message_id(mails) else ""
    found = revisions(mails_from(mails, archive))
    left_out: list[str] = []
    if followed:
        # A thread may hold other series beside; the one that was named counts.
        key = _key_with(found, mails[0])
        found = [each for each in found if service.key_of(each) == key]
    else:
        found, left_out = of_one_series(found)
    asked = service.SeriesOptions(
        name, spec, base, profile, followed, loose or None, profile_sha256=kept
    )
    trust = trust_in(found, get_settings())

    def work(session: Session, comparison: Comparison) -> tuple[list[str], SeriesView]:
        new = service.add(
            session, found, blob_store(get_settings()), wanted=asked, trust=trust,
            comparison=comparison,
        )  # fmt: skip
        series = service.of_key(session, service.key_of(found[0]))
        return [revision.label for revision in new], SeriesView.model_validate(series)

    labels, view = service.stored_whole(stored, work)
    if json:
        print_json(view)
        return
    new_ones = ", ".join(labels)
    say(f"{view.name}: {'new: ' + new_ones if labels else 'all of it is stored already'}")
    new = [r for r in view.revisions if r.label in labels]
    _print_revisions(new)
    for stray in dict.fromkeys((*left_out, *(stray for each in found for stray in each.strays))):
        remark(f"left out: {stray}")
    _say_next(view)


@app.command("list")
def list_series(
    find: Annotated[str, typer.Option(help="Words, each in name or title.")] = "",
    state: Annotated[
        list[str] | None,
        typer.Option(help="Of the newest revision: waiting, approved, measuring, …; repeated."),
    ] = None,
    json: Json = False,
) -> None:
    """Series, the newest first."""
    from cli.choices import chosen
    from mitigauge.tracking.series.listing import heads
    from mitigauge.tracking.series.schemas import SeriesHead
    from mitigauge.tracking.series.states import RevisionState

    states = chosen(state, RevisionState, "--state")
    found = answer(
        lambda session: heads(session, find, states),
        lambda client: client.get(
            "/api/series", list[SeriesHead], find=find, state=list(map(str, states))
        ),
        reads=True,
    )
    if json:
        print_json(found)
        return
    print_table(
        ["id", "name", "revisions", "newest", "state", "experiment", "watched"],
        [
            [str(s.id), s.name, str(s.revisions), s.newest, str(s.state or ""),
             str(s.experiment_id or ""), "yes" if s.watched else ""]
            for s in found
        ],
        empty="No series yet: `mitigauge series add MAILBOX` adds one.",
    )  # fmt: skip


@app.command()
def show(
    name: Name,
    revision: Revision = "",
    diff: Annotated[
        bool, typer.Option("--diff", help="Also what changed, as a diff of the diffs.")
    ] = False,
    json: Json = False,
) -> None:
    """One series with its revisions, or one revision whole."""
    if revision or diff:
        one = revision_of(name, revision)
        print_json(one) if json else _print_revision(one, diff=diff)
        return
    view = _view(name)
    if json:
        print_json(view)
    else:
        say(f"{view.name}: {view.title}")
        how = "; patches may apply loosely" if view.loose else ""
        measured_by = view.spec or "no spec yet"
        profile = f"profile {view.profile}" if view.profile else "the profile of its hosts"
        say(f"  on {view.base}, {profile}; measured by {measured_by}{how}")
        _say_archive(view)
        _print_revisions(view.revisions)
        _say_next(view)


def _view(name: str) -> SeriesView:
    from mitigauge.tracking.series import service
    from mitigauge.tracking.series.listing import view_of
    from mitigauge.tracking.series.schemas import SeriesView

    return answer(
        lambda session: view_of(session, service.find(session, name)),
        lambda client: client.get(at("/api/series/{}", name), SeriesView),
        reads=True,
    )


@app.command("set")
def change(
    name: Name,
    spec: Spec = "",
    base: SeriesBase = "",
    profile: Profile = "",
    archive: Annotated[
        str, typer.Option(help="Where new revisions are looked for: a public-inbox's address.")
    ] = "",
    loose: Annotated[
        bool | None,
        typer.Option("--loose/--exact", help="Whether two lines of context do where three do not."),
    ] = None,
) -> None:
    """Say by what a series is measured, what it is built on, and where it is watched."""
    from mitigauge.tracking.series import service

    profile, kept = _known(spec, profile)
    options = service.SeriesOptions("", spec, base, profile, archive, loose, profile_sha256=kept)
    with stored() as session:
        series = service.find(session, name, lock=True)
        service.change(session, series, options)
        how = ", with two lines of context where three do not apply" if series.loose else ""
        say(f"{series.name}: measured by {series.spec or 'no spec yet'}, on {series.base}{how}")


@app.command()
def approve(
    name: Annotated[str, typer.Argument(help="A series' name or number.")] = "",
    revision: Annotated[str, typer.Argument(help="v3, or v3+fix-7.")] = "",
    digest: Annotated[
        str, typer.Argument(help="Of what you looked at: `mitigauge series show` prints it.")
    ] = "",
    request: Annotated[
        int | None,
        typer.Option(help="Instead a request that came by mail (`mitigauge series requests`)."),
    ] = None,
    mail_digest: Annotated[
        str, typer.Option("--digest", help="With --request: the digest of its mail.")
    ] = "",
) -> None:
    """Say that a revision's patches may run, as root, on hosts of ours. Look at them before.

    Those patches alone: where others came since under the same label, nothing is approved.

    With --request: the diff of a mail whose sender is not proven, and that it is answered.
    """
    from mitigauge.core.errors import InvalidInput
    from mitigauge.tracking.series import service
    from mitigauge.tracking.series.schemas import RevisionView

    if bool(name) == (request is not None):
        raise InvalidInput("what is approved?", hint="Name a series, or give --request NUMBER.")
    if request is not None:
        require_local("series approve --request")
        series_mail.approve(request, mail_digest)
        return

    def here(session: Session) -> str:
        found = service.approve_seen(session, name, revision, digest)
        return f"{found.series.name} {found.label}"

    def there(client: Client) -> str:
        path = at("/api/series/{}/{}/approve", name, revision or revision_of(name, "").label)
        found = client.post(path, RevisionView, {"digest": digest})
        return f"{_view(name).name} {found.label}"

    said = answer(here, there)
    say(f"{said} is approved: `mitigauge series start {said}` builds and measures it")


@app.command()
def start(
    name: Name,
    revision: Revision = "",
    wait: Annotated[
        bool | None,
        typer.Option(
            "--wait/--no-wait",
            help="Follow it to its end, or not at all; else until its experiment is submitted.",
        ),
    ] = None,
    all_cases: Annotated[
        bool,
        typer.Option("--all-cases", help="Measure also what is known to run none of the changes."),
    ] = False,
) -> None:
    """Have an approved revision's kernels built and its experiment submitted.

    Where kernels are compared in one mode, cases that were counted to run nothing of what differs
    between them are left out; where none is left, nothing is booted and the exit code is 0.

    A worker does it, and goes on where this command is ended; where none runs, one is started on
    this machine. With --wait the exit code is 3 where something is worse, and 1 where there is no
    answer.
    """
    import sys

    job, said = _ordered(name, revision, all_cases=all_cases)
    if wait is False:
        print_asked(job, json=False)
        return
    experiment = followed(job).result["experiment"]
    if experiment is None:
        say(f"{said} is not measured: {revision_of(name, revision).why}")
        return
    say(f"{said} is measured by experiment {experiment}")
    if wait is None:
        say(f"follow it with `mitigauge experiment wait {experiment}`; a worker must run")
        return
    from cli.experiment_end import wait_to_end

    sys.exit(wait_to_end(experiment))


def _ordered(name: str, label: str, *, all_cases: bool) -> tuple[int, str]:
    """Have a revision measured; the job's number, and how the revision is called."""
    from mitigauge.jobs.schemas import JobView

    found = revision_of(name, label)
    said = f"{_view(name).name} {found.label}"
    if not chosen_server():
        return order_revision(found.id, all_cases=all_cases), said
    from cli.remote.client import client

    path = at("/api/series/{}/{}/start", name, found.label)
    return client().post(path, JobView, {"all_cases": all_cases}).id, said


def order_revision(revision: int, *, all_cases: bool = False) -> int:
    """Have a revision built and measured by a worker; its job's number."""
    from cli.workers import require_served
    from mitigauge.access.roles import OPERATOR
    from mitigauge.jobs.states import Ability
    from mitigauge.tracking.series import repository
    from mitigauge.tracking.series.order_service import ask_revision

    with stored() as session:
        found = repository.revision(session, revision)
        assert found is not None
        job = ask_revision(session, found, asked_by=OPERATOR, all_cases=all_cases).id
    require_served(Ability.KERNELS)
    return job


@app.command()
def retest(
    name: Name,
    revision: Revision = "",
    fix: Annotated[
        list[Path] | None, typer.Option("--with", help="A patch on top of the revision.")
    ] = None,
) -> None:
    """Order a revision once more with a fix on top; `mitigauge series start` measures it.

    It is compared with the revision that it stands on.
    """
    from mitigauge.access.roles import OPERATOR
    from mitigauge.core.errors import InvalidInput
    from mitigauge.core.settings import get_settings
    from mitigauge.storage.files.blobs import blob_store
    from mitigauge.tracking.series import retests, service

    patches = patches_from(fix or [])
    if not patches:
        raise InvalidInput(
            "no fix is given",
            hint="Give `--with FIX.patch`. More blocks of the same: `mitigauge experiment submit`.",
        )
    with stored() as session:
        found = service.find_revision(session, name, revision, lock=True)
        again = retests.retest(session, found, patches, blob_store(get_settings()), OPERATOR)
        said = f"{again.series.name} {again.label}"
        title = again.retest
    say(f"{said}: {title}")
    say(f"`mitigauge series start {said}` builds and measures it")


@app.command()
def watch(
    once: Annotated[bool, typer.Option("--once", hidden=True, help="It always does.")] = False,  # noqa: ARG001
) -> None:
    """Have archives and mails looked at now, and say what came.

    Workers do so by themselves, where MITIGAUGE_WATCH_SERIES=true or MITIGAUGE_MAILDIR=DIRECTORY is
    set for them: they store new revisions, answer mails, and build and measure what may run. A
    revision may run where its sender is in MITIGAUGE_SENDERS and a key in MITIGAUGE_KEYRING proves
    it, or where a person approved it.
    """
    from cli.jobs import looked_now
    from mitigauge.jobs.states import JobKind

    looked_now([JobKind.ARCHIVES, JobKind.MAILBOX])


app.command("requests")(series_mail.requests)
app.command("ignore")(series_mail.ignore)


def _key_with(found: Sequence[FoundRevision], message_id: str) -> str:
    """The series of the mail of that message-id; else that of the thread's last revision."""
    from mitigauge.tracking.series.service import key_of

    wanted = message_id.strip("<> ")
    for each in found:
        mails = [each.first, *(sent.mail for sent in each.patches)]
        if any(mail.message_id == wanted for mail in mails):
            return key_of(each)
    return key_of(found[-1])


def _known(spec: str, profile: str) -> tuple[str, str | None]:
    """Refuse names that nothing stands behind, before anything is stored.

    The profile's name, and the digest of its text, which is kept: null where hosts decide.
    """
    from mitigauge.core.settings import get_settings
    from mitigauge.kernels.config_profile import profile_of
    from mitigauge.kernels.order import KernelInputs
    from mitigauge.measurement.fleet.kernel_profiles import is_by_hosts
    from mitigauge.storage.files.blobs import blob_store
    from mitigauge.tracking.series.spec_files import spec_text

    if spec:
        spec_text(spec)
    if is_by_hosts(profile):
        return profile, None
    read = profile_of(profile)
    return read.name, KernelInputs.of(read, ()).put(blob_store(get_settings()))


def _print_revisions(revisions: Sequence[RevisionView]) -> None:
    print_table(
        ["revision", "state", "patches", "since the one before", "why"],
        [[r.label, r.state, str(len(r.patches)), r.changed, r.why] for r in revisions],
        empty="No revisions.",
    )


def _print_revision(revision: RevisionView, *, diff: bool) -> None:
    from mitigauge.tracking.series.case_choice import choice_in_words

    say(f"{revision.label}: {revision.title}")
    say(f"  digest {revision.digest}")
    say(f"  from {revision.sender} ({revision.attested}), {revision.message_id or 'no message-id'}")
    say(f"  {revision.state}: {revision.why}")
    for number, patch in enumerate(revision.patches, 1):
        say(f"  {number:>3} {patch.title}")
    for line in (*revision.limits.splitlines(), *revision.changelog.splitlines()):
        say(f"  {line}")
    for renamed in revision.renamed:
        by = "" if renamed.times else " (its code is the same)"
        say(f"  {renamed.before} is called {renamed.after} now{by}")
    for stray in revision.strays:
        say(f"  left out: {stray}")
    for line in revision.loosely:
        say(f"  applied loosely: {line}")
    if revision.all_cases:
        say("  all cases are measured, whatever they run")
    for line in (line for choice in revision.choices for line in choice_in_words(choice)):
        say(f"  {line}")
    for change in revision.changes:
        say(f"{change.before or '-':>3} {change.change:7} {change.after or '-':>3}  {change.title}")
        for line in change.lines if diff else ():
            say(f"        {line}")


def _say_archive(view: SeriesView) -> None:
    """Where its new revisions come from, and whether that works."""
    if not view.archive:
        return
    looked = f"{view.looked_at:%Y-%m-%d %H:%M} UTC" if view.looked_at else "never"
    say(f"  watched at {view.archive}, last looked at: {looked}")
    if view.archive_error:
        say(f"  {view.archive_error}")
    for line in view.set_aside:
        say(f"  set aside: {line}")


def _say_next(view: SeriesView) -> None:
    """What can be done with the newest revision."""
    whole = [r for r in view.revisions if r.state != "refused"]
    if not whole:
        return
    newest = whole[-1]
    if not view.spec:
        say(f"say what measures it: `mitigauge series set {view.name} --spec NAME`")
    elif newest.state == "waiting":
        what = f"{view.name} {newest.label} {newest.digest[:16]}"
        say(f"look at its patches, then `mitigauge series approve {what}`")
    elif newest.state == "nothing_runs_it":
        say(f"`mitigauge series start {view.name} {newest.label} --all-cases` measures all cases")
    elif newest.state in ("approved", "building", "failed"):
        say(f"`mitigauge series start {view.name} {newest.label}` builds and measures it")
    elif newest.experiment_id:
        say(f"`mitigauge experiment show {newest.experiment_id}` has its verdicts")


app.command("study")(series_study.study)
app.command("studies")(series_study.studies)
