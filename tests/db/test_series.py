"""Patch series in the database: added, compared, approved, retested, brought to an experiment."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.settings import get_settings, settings_from
from mitigauge.kernels import host_config, renames
from mitigauge.kernels import service as kernels
from mitigauge.kernels.config_profile import Profile
from mitigauge.kernels.mails.files import read_mails
from mitigauge.kernels.patch import Patch
from mitigauge.kernels.recipe import Base, Recipe, Toolchain
from mitigauge.kernels.service import Built
from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import BlobStore, blob_store
from mitigauge.tracking.series import range_diff, repository, retests, service
from mitigauge.tracking.series.kept_profile import keep_profile
from mitigauge.tracking.series.listing import heads, view_of
from mitigauge.tracking.series.mail_thread import revisions
from mitigauge.tracking.series.service import SeriesOptions, Trust
from mitigauge.tracking.series.spec_files import spec_text
from mitigauge.tracking.series.states import Attested, RevisionState
from mitigauge.tracking.series.tables import SeriesRevision
from pipelines import series_run
from pipelines.kernel_build import Builder
from pipelines.kernel_order import BuildFailed, Order
from tests.commands import Command
from tests.series_mails import diff, series

NOBODY = Trust()
OURS = Path(__file__).parents[1] / "series" / "vmscape-bhb"
ONE, TWO, OTHER = (diff("toys/one.c", "a", now) for now in "bcd")


@pytest.fixture
def blobs() -> BlobStore:
    return blob_store(get_settings())


@pytest.fixture
def session(engine: Engine) -> Iterator[Session]:
    with Session(engine) as session:
        yield session


def add(session: Session, blobs: BlobStore, *bodies: str, version: int = 1,
        trust: Trust = NOBODY, **said: Any) -> list[SeriesRevision]:  # fmt: skip
    found = revisions(series(version, list(bodies)))
    return service.add(session, found, blobs, wanted=SeriesOptions(**said), trust=trust)


def test_revisions_hang_together_by_their_change_id(session: Session, blobs: BlobStore) -> None:
    [first] = add(session, blobs, ONE, name="toys")
    [second] = add(session, blobs, TWO, version=2)
    assert first.series is second.series
    assert (second.label, second.series.name) == ("v2", "toys")
    assert [c.change.value for c in second.changes] == ["changed"]
    assert first.changes == []
    assert add(session, blobs, TWO, version=2) == []


def test_what_is_stored_is_what_is_applied(session: Session, blobs: BlobStore) -> None:
    [revision] = add(session, blobs, ONE, TWO)
    assert [p.text for p in service.patches_of(revision, blobs)] == [ONE, TWO]
    assert [p.title for p in revision.patches] == ["toys: Mend toy 1", "toys: Mend toy 2"]
    assert revision.patches[0].fixes == ['0123456789ab ("toys: Add them")']
    assert revision.recipients.to == ["Author One <one@example.org>", "list@example.org"]
    assert revision.recipients.cc == ["two@example.org"]
    assert revision.base_commit == "ab" * 20


def test_another_series_under_a_taken_name_and_two_series_at_once_are_refused(
    session: Session, blobs: BlobStore
) -> None:
    add(session, blobs, ONE, name="toys")
    other = revisions(series(1, [ONE], change_id="20261101-other-1"))
    with pytest.raises(InvalidInput, match="another series is named toys"):
        service.add(session, other, blobs, wanted=SeriesOptions("toys"))
    with pytest.raises(InvalidInput, match="2 series"):
        service.add(session, [*other, *revisions(series(2, [ONE]))], blobs)
    with pytest.raises(InvalidInput, match="no name for a series"):
        service.add(session, other, blobs, wanted=SeriesOptions("../x"))


def test_other_patches_under_a_number_that_is_stored_are_refused_and_kept(
    session: Session, blobs: BlobStore
) -> None:
    [first] = add(session, blobs, ONE)
    [again] = add(session, blobs, OTHER)
    assert (first.state, again.state) == (RevisionState.WAITING, RevisionState.REFUSED)
    assert "another v1 is stored" in again.why
    assert service.find_revision(session, str(first.series_id), "v1") is first


@pytest.mark.parametrize(
    ("senders", "attested", "state", "why"),
    [
        ((), Attested.PASS, RevisionState.WAITING, "not on the list of senders"),
        (("one@example.org",), Attested.MISSING, RevisionState.WAITING, "nothing attests"),
        (("one@example.org",), Attested.FAIL, RevisionState.WAITING, "somebody else"),
        (("one@example.org",), Attested.PASS, RevisionState.APPROVED, "attested"),
    ],
)
def test_who_may_run_patches_without_a_person(
    session: Session, blobs: BlobStore, senders: tuple[str, ...], attested: Attested,
    state: RevisionState, why: str,
) -> None:  # fmt: skip
    said = {f"v1-{number}@example.org": attested for number in range(3)}
    [revision] = add(session, blobs, ONE, TWO, trust=Trust(senders, said))
    assert revision.state == state
    assert why in revision.why


def test_another_sender_under_the_same_change_id_is_said_and_renames_nothing(
    session: Session, blobs: BlobStore
) -> None:
    add(session, blobs, ONE)
    mails = [
        replace(mail, subject=mail.subject.replace("Mend them", "Mine"))
        for mail in series(2, [TWO], sender="Evil <evil@example.net>")
    ]
    [revision] = service.add(session, revisions(mails), blobs)
    assert revision.state == RevisionState.WAITING
    assert revision.why.endswith("; v1 was sent by one@example.org")
    assert revision.series.title == "toys: Mend them"


def test_one_mail_without_a_signature_is_enough_to_wait(session: Session, blobs: BlobStore) -> None:
    said = {"v1-0@example.org": Attested.PASS, "v1-1@example.org": Attested.PASS}
    [revision] = add(session, blobs, ONE, TWO, trust=Trust(["one@example.org"], said))
    assert (revision.state, revision.attested) == (RevisionState.WAITING, Attested.MISSING)


def test_a_person_approves_once_and_nothing_that_is_refused(
    session: Session, blobs: BlobStore
) -> None:
    [revision] = add(session, blobs, ONE)
    service.approve(session, revision, "ann")
    assert (revision.state, revision.approved_by) == (RevisionState.APPROVED, "ann")
    with pytest.raises(InvalidInput, match="approved already"):
        service.approve(session, revision)
    [broken] = add(session, blobs, ONE.replace("toys/", "../"), version=2)
    assert broken.state == RevisionState.REFUSED
    with pytest.raises(InvalidInput, match="touches"):
        service.approve(session, broken)


def test_series_and_revisions_are_found_by_name_number_and_label(
    session: Session, blobs: BlobStore
) -> None:
    [first] = add(session, blobs, ONE, name="toys")
    [second] = add(session, blobs, TWO, version=2)
    for label, wanted in {"": second, "v1": first, "1": first, "v2": second}.items():
        assert service.find_revision(session, "toys", label) is wanted
    with pytest.raises(NotFound, match="no series 'cars'"):
        service.find(session, "cars")
    with pytest.raises(NotFound, match="no revision 'v9'"):
        service.find_revision(session, "toys", "v9")
    assert [(h.name, h.revisions, h.newest) for h in heads(session)] == [("toys", 2, "v2")]


def test_a_retest_stands_on_its_revision_and_is_one_however_often_asked_for(
    session: Session, blobs: BlobStore
) -> None:
    [revision] = add(session, blobs, ONE)
    [fix] = [sent.patch for sent in revisions(series(1, [OTHER]))[0].patches]
    again = retests.retest(session, revision, [fix], blobs, "ann")
    assert again.label == f"v1+fix-{again.id}"
    assert again.state == RevisionState.APPROVED
    assert [p.text for p in service.patches_of(again, blobs)] == [ONE, OTHER]
    assert retests.retest(session, revision, [fix], blobs, "bob") is again
    assert service.before_this(revision.series, 2) is revision


def test_revisions_are_compared_while_no_transaction_is_open(
    engine: Engine, blobs: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []
    real = range_diff.range_diff

    def watched(before: Sequence[Patch], after: Sequence[Patch]) -> list[range_diff.PatchChange]:
        with engine.connect() as connection:
            compared.append(int(connection.scalar(text(
                "select count(*) from pg_stat_activity where datname = current_database() "
                "and xact_start is not null and pid <> pg_backend_pid()"
            )) or 0))  # fmt: skip
        return real(before, after)

    monkeypatch.setattr(range_diff, "range_diff", watched)
    found = [each for n in (1, 2, 3) for each in revisions(series(n, [ONE, TWO][: 1 + n % 2]))]

    def work(session: Session, comparison: range_diff.Comparison) -> list[str]:
        new = service.add(session, found, blobs, comparison=comparison)
        return [f"{each.label} {len(each.changes)}" for each in new]

    assert service.stored_whole(lambda: transaction(engine), work) == ["v1 0", "v2 2", "v3 2"]
    assert compared == [0, 0]


def test_an_approval_is_of_what_was_looked_at(session: Session, blobs: BlobStore) -> None:
    """Between the look and the approval a stranger's v3, with the change-id copied, comes."""
    [second] = add(session, blobs, ONE, TWO, version=2, name="toys")
    evil = revisions(series(3, [ONE, OTHER], sender="Eve <eve@example.net>"))
    [third] = service.add(session, evil, blobs)
    with pytest.raises(InvalidInput, match="v3 is not what you looked at") as refused:
        service.approve_seen(session, "toys", "v3", second.digest[:16], "ann")
    assert "from eve@example.net" in refused.value.message
    assert "against v2, which you looked at, 1 of its patches are others" in refused.value.message
    assert "mitigauge series show toys v3 --diff" in refused.value.hint
    with pytest.raises(InvalidInput, match="nothing of toys has that one"):
        service.approve_seen(session, "toys", "v3", "0" * 12, "ann")
    for digest, label in (("", "v3"), (third.digest[:11], "v3"), ("%" * 12, "v3"),
                          (third.digest, "")):  # fmt: skip
        with pytest.raises(InvalidInput, match=r"is no digest|no revision is named"):
            service.approve_seen(session, "toys", label, digest)
    assert {second.state, third.state} == {RevisionState.WAITING}
    assert service.approve_seen(session, "toys", "v2", second.digest[:12], "ann") is second
    assert (second.state, second.approved_by, third.state) == ("approved", "ann", "waiting")


def test_what_took_the_label_s_place_is_not_approved_with_it(
    session: Session, blobs: BlobStore
) -> None:
    [seen] = add(session, blobs, ONE, name="toys")
    signed = revisions(series(1, [TWO]))
    ids = {m.message_id: Attested.PASS for m in [signed[0].first, signed[0].patches[0].mail]}
    [now] = service.add(session, signed, blobs, trust=Trust((), ids))
    with pytest.raises(InvalidInput, match="another v1 came"):
        service.approve_seen(session, "toys", "v1", seen.digest[:16])
    assert now.state == RevisionState.WAITING


def test_only_what_was_approved_and_has_a_spec_begins(session: Session, blobs: BlobStore) -> None:
    [revision] = add(session, blobs, ONE)
    with pytest.raises(InvalidInput, match="v1 is waiting"):
        service.begin(session, revision)
    service.approve(session, revision)
    with pytest.raises(InvalidInput, match="no spec measures"):
        service.begin(session, revision)
    service.take_over(revision.series, SeriesOptions(spec="vmscape"))
    service.begin(session, revision)
    assert revision.state == RevisionState.BUILDING


class Pretended(Builder):
    """Stores kernels as built without building: what is tested is what is done with them."""

    def new_warnings(self, order: Order) -> list[list[str] | None]:
        return [
            ["toys/one.c:2: unused toy [-Wtoy]"] if "warns" in patch.text else []
            for patch in order.patches
        ]

    def build(self, order: Order, *, anew: bool = False) -> int:
        del anew
        if any("does not build" in patch.text for patch in order.patches):
            raise BuildFailed("patch 1: toys/one.c:2: no such toy")
        recipe = Recipe(
            base=Base(order.base, "7.2.12-1"),
            patches=tuple(patch.sha256 for patch in order.patches),
            profile=order.profile.name,
            profile_sha256="c" * 64,
            toolchain=Toolchain("debian", ("gcc-14",)),
            scripts_sha256="f" * 64,
            layout=order.layout,
        )
        with self.transaction() as session:
            kernel = kernels.begin(session, recipe, order.patches, order.label)
            package = hashlib.sha256(recipe.digest.encode()).hexdigest()
            release = f"7.2.12{recipe.local_version}"
            kernels.finished(
                session, recipe.digest, Built(release, "ab" * 20, "cd" * 32, package, 1), "e" * 64
            )
            return kernel.id


def approved(engine: Engine, blobs: BlobStore) -> dict[str, int]:
    """Our test series, approved, with its spec: label → id."""
    found = revisions(read_mails([OURS]))
    with Session(engine) as session:
        for revision in service.add(session, found, blobs, wanted=SeriesOptions("bhb", "vmscape")):
            service.approve(session, revision)
        session.commit()
        return {r.label: r.id for r in service.find(session, "bhb").revisions}


def test_a_started_revision_is_measured_by_our_spec_on_its_kernels(
    engine: Engine, blobs: BlobStore, tmp_path: Path
) -> None:
    ids = approved(engine, blobs)
    builder = Pretended(tmp_path, engine, blobs)
    first = series_run.start(ids["v1"], builder)
    second = series_run.start(ids["v2"], builder)
    with Session(engine) as session:
        revision = session.get_one(SeriesRevision, ids["v2"])
        assert (revision.state, revision.experiment_id) == (RevisionState.MEASURING, second)
        assert revision.kernel_id is not None
        arms = {
            number: [[(arm.name, arm.kernel) for arm in c.arms]
                     for c in session.get_one(Experiment, number).comparisons]
            for number in (first, second)
        }  # fmt: skip
    assert [len(c) for c in arms[first]] == [3]
    assert [len(c) for c in arms[second]] == [3, 2]
    [modes, since] = arms[second]
    assert len({kernel for _, kernel in modes}) == 1
    assert dict(since)["this"] == modes[0][1]
    assert dict(since)["before"] == arms[first][0][0][1]


def test_a_revision_says_what_applied_loosely(
    engine: Engine, blobs: BlobStore, tmp_path: Path
) -> None:
    ids = approved(engine, blobs)
    for label in ("v1", "v2"):
        series_run.start(ids[label], Pretended(tmp_path, engine, blobs))
    with transaction(engine) as session:
        kernel = session.get_one(SeriesRevision, ids["v2"]).kernel
        assert kernel is not None
        kernel.loosely = ["patch 1/1 'one', 2 lines of context: toys/one.c:9 for 4"]
    with Session(engine) as session:
        view = view_of(session, service.find(session, "bhb"))
    said = {revision.label: revision.loosely for revision in view.revisions if revision.loosely}
    assert said == {"v2": ["patch 1/1 'one', 2 lines of context: toys/one.c:9 for 4"]}


def test_a_revision_is_measured_once(engine: Engine, blobs: BlobStore, tmp_path: Path) -> None:
    ids = approved(engine, blobs)
    builder = Pretended(tmp_path, engine, blobs)
    series_run.start(ids["v1"], builder)
    with pytest.raises(InvalidInput, match="is measured by experiment"):
        series_run.start(ids["v1"], builder)


def test_one_whose_build_was_ended_is_gone_on_with(
    engine: Engine, blobs: BlobStore, tmp_path: Path
) -> None:
    ids = approved(engine, blobs)
    with Session(engine) as session:
        service.begin(session, session.get_one(SeriesRevision, ids["v1"]))
        session.commit()
    assert series_run.start(ids["v1"], Pretended(tmp_path, engine, blobs)) > 0


def test_a_failed_build_is_noted_and_may_be_tried_again(
    engine: Engine, blobs: BlobStore, tmp_path: Path
) -> None:
    with Session(engine) as session:
        body = diff("toys/one.c", "a", "does not build")
        [revision] = add(session, blobs, body, name="toys", spec="vmscape")
        service.approve(session, revision)
        session.commit()
        which = revision.id
    with pytest.raises(BuildFailed):
        series_run.start(which, Pretended(tmp_path, engine, blobs))
    with Session(engine) as session:
        revision = session.get_one(SeriesRevision, which)
        assert revision.state == RevisionState.FAILED
        assert "toys/one.c:2" in revision.why
        service.begin(session, revision)


def test_a_base_commit_is_looked_for_in_the_trees_that_the_operator_names(
    engine: Engine, blobs: BlobStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "linux"
    subprocess.run(["git", "init", "--quiet", str(tree)], check=True)
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(tree), *who, "commit", "--quiet", "--allow-empty",
                    "--message", "base"], check=True)  # fmt: skip
    commit = subprocess.run(["git", "-C", str(tree), "rev-parse", "HEAD"], check=True,
                            capture_output=True, text=True).stdout.strip()  # fmt: skip
    with Session(engine) as session:
        found = add(session, blobs, TWO, name="toys", spec="vmscape")
        found += add(session, blobs, OTHER, version=2)
        found[0].base_commit, found[1].base_commit = commit, "ab" * 20
        found[0].series.base = "base-commit"
        for revision in found:
            service.approve(session, revision)
        known, unknown = (revision.id for revision in found)
        session.commit()
    monkeypatch.setattr(
        series_run, "get_settings", lambda: settings_from({"MITIGAUGE_TREES": f"linux={tree}"})
    )
    builder = Pretended(tmp_path, engine, blobs)
    series_run.start(known, builder)
    with pytest.raises(NotFound, match="base-commit abababababab is in no source tree"):
        series_run.start(unknown, builder)
    with Session(engine) as session:
        kernel = session.get_one(Kernel, session.get_one(SeriesRevision, known).kernel_id)
        assert kernel.base.startswith(f"linux@{commit}")
        refused = session.get_one(SeriesRevision, unknown)
        # The trees are ours: what they lack ends no revision, and may be there tomorrow.
        assert (refused.state, "ab" * 6 in refused.why) == (RevisionState.APPROVED, True)
        assert refused.why.startswith("no fault of its patches, failure 1 of 8: ")
        assert refused.id not in repository.to_start(session)


def test_a_revision_before_that_does_not_build_is_not_compared_with(
    engine: Engine, blobs: BlobStore, tmp_path: Path
) -> None:
    with Session(engine) as session:
        add(session, blobs, diff("toys/one.c", "a", "does not build"), name="toys", spec="vmscape")
        [revision] = add(session, blobs, TWO, version=2)
        service.approve(session, revision)
        session.commit()
        which = revision.id
    experiment = series_run.start(which, Pretended(tmp_path, engine, blobs))
    with Session(engine) as session:
        assert len(session.get_one(Experiment, experiment).comparisons) == 1


def test_on_hosts_with_real_time_each_kernel_is_built_in_three_layouts(
    engine: Engine, blobs: BlobStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = approved(engine, blobs)
    builder = Pretended(tmp_path, engine, blobs)
    monkeypatch.setattr("pipelines.series_run.counted_hosts", lambda _text: set())
    experiment = series_run.start(ids["v2"], builder)
    with Session(engine) as session:
        comparisons = session.get_one(Experiment, experiment).comparisons
        found = {c.name: (c.layouts, {len(arm.builds) for arm in c.arms}) for c in comparisons}
        releases = {release for c in comparisons for arm in c.arms for release in arm.releases}
        known = renames.between(session, *(arm.kernel for arm in comparisons[1].arms))
    assert found == {"modes": (1, {0}), "since-before": (3, {3})}
    assert len(releases) == 6
    assert known == {}


def test_a_series_keeps_its_hosts_configuration_whatever_the_host_has_later(
    engine: Engine, blobs: BlobStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_config, "folder", lambda: tmp_path / "configs")
    ids = approved(engine, blobs)
    with transaction(engine) as session:
        service.find(session, "bhb").profile = "as-host"
    asked: list[Profile] = []

    class Noting(Pretended):
        def build(self, order: Order, *, anew: bool = False) -> int:
            asked.append(order.profile)
            return super().build(order, anew=anew)

    builder = Noting(tmp_path, engine, blobs)
    with pytest.raises(NotFound, match="configuration of lab/lab-amd is not known"):
        series_run.start(ids["v1"], builder)
    host_config.keep("lab", "lab-amd", "CONFIG_SATA_AHCI=m\n")
    series_run.start(ids["v1"], builder)
    host_config.keep("lab", "lab-amd", "CONFIG_MEGARAID_SAS=m\n")
    series_run.start(ids["v2"], builder)
    assert {profile.name for profile in asked} == {"as-host:lab/lab-amd"}
    assert len({profile.text for profile in asked}) == 1
    assert "CONFIG_SATA_AHCI=m" in asked[-1].text

    # Who asks for it again gets what the host has now.
    with transaction(engine) as session:
        found = service.find(session, "bhb")
        service.change(session, found, SeriesOptions(profile="as-host"))
        hosts = series_run.hosts_in(spec_text("vmscape"))
        assert "CONFIG_MEGARAID_SAS=m" in keep_profile(found, hosts, blobs).text


def test_a_profile_that_is_a_file_is_read_when_it_is_named(
    engine: Engine, blobs: BlobStore, tmp_path: Path
) -> None:
    ids = approved(engine, blobs)
    file = tmp_path / "mine.config"
    file.write_text("CONFIG_SATA_AHCI=m\n")
    command = Command(tmp_path, engine.url.render_as_string(hide_password=False))
    command.run("series", "set", "bhb", "--profile", file)
    file.unlink()
    with transaction(engine) as session:
        found = session.get_one(SeriesRevision, ids["v1"]).series
        assert found.profile == "mine.config"
        store = blob_store(settings_from({"MITIGAUGE_HOME": str(tmp_path)}))
        assert keep_profile(found, [], store).text == "CONFIG_SATA_AHCI=m\n"
